import json
import shutil
import sys

import pandas as pd
import pytest

from tests.end_to_end.market import QUICK, Market

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


@pytest.fixture
def market(tmp_path, monkeypatch):
    return Market(tmp_path / "incoming", monkeypatch)


@pytest.fixture
def night(fints, market, monkeypatch):
    """Run ``fints nightly`` on the market; returns exit code, output, and the result.

    It does not look back on earlier forecasts, which takes longest and is no matter there.
    """
    from fints.verification import Verification

    monkeypatch.setattr("pipelines.night_run.verify", lambda *_rest: Verification(pd.Timestamp("2025-03-10")))

    def run(*arguments):
        source = f"source={{kind: folder, path: {market.folder}, quiet: 0}}"
        settings = [f"--set={setting}" for setting in (*QUICK, source)]
        code, out, err, result = fints("nightly", *settings, *arguments)
        return code, out + err, result

    return run
