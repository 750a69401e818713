import json
import shutil
import sys

import pytest

BRIEF = [
    "network.dim=16",
    "network.n_heads=1",
    "training.max_steps=4",
    "training.batch_size=8",
    "training.validate_every=2",
    "training.validation_windows=16",
    "holdout.n_windows=2",
    "combination.members=[har_calendar]",
    "input_size=40",
    "workers.count=1",
]
"""A night that is over in seconds; what it forecasts is worth nothing."""


@pytest.fixture
def home(tmp_path, monkeypatch, prepared_database):
    """A home of its own for each test."""
    root = tmp_path / "home"
    root.mkdir()
    shutil.copy(prepared_database, root / "mlflow.db")
    monkeypatch.setenv("FINTS_HOME", str(root))
    return root


@pytest.fixture
def fints(home, tmp_path, monkeypatch, capfd):
    """Run the command line in this process; returns exit code, stdout, stderr and the JSON result."""

    def run(*arguments, brief=True):
        from pipelines.cli import main

        file = tmp_path / "result.json"
        file.unlink(missing_ok=True)
        settings = [f"--set={s}" for s in BRIEF] if brief else []
        json_file = [] if arguments[0] == "ui" else ["--json", str(file)]
        command, *rest = arguments
        monkeypatch.setattr(sys, "argv", ["fints", command, *settings, *rest, *json_file])
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capfd.readouterr()
        result = json.loads(file.read_text()) if file.exists() else None
        return left.value.code or 0, out, err, result

    return run
