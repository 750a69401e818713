import json
import shutil
import sys
import warnings

import pandas as pd
import pytest

from tests.conftest import shorten_sample
from tests.end_to_end.market import FIRST_NIGHTS, QUICK, Market

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
        file = tmp_path / "result.json"
        capfd.readouterr()
        code, result = command_line(monkeypatch, file, arguments, BRIEF if brief else ())
        out, err = capfd.readouterr()
        return code, out, err, result

    return run


def command_line(monkeypatch, file, arguments, settings=()):
    from pipelines.cli import main

    file.unlink(missing_ok=True)
    json_file = [] if arguments[0] == "ui" else ["--json", str(file)]
    command, *rest = arguments
    monkeypatch.setattr(sys, "argv", ["fints", command, *(f"--set={s}" for s in settings), *rest, *json_file])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code or 0, json.loads(file.read_text()) if file.exists() else None


@pytest.fixture
def short_sample(monkeypatch):
    """Let the sample begin in 2014."""
    shorten_sample(monkeypatch)


@pytest.fixture
def no_page(monkeypatch):
    """Let a night neither look back nor draw its page."""
    _plain(monkeypatch)


@pytest.fixture(scope="module")
def incoming(tmp_path_factory):
    """The folder of the market: one for all tests of a module, as its path is part of the configuration."""
    return tmp_path_factory.mktemp("market") / "incoming"


@pytest.fixture
def market(incoming, monkeypatch):
    return Market(incoming, monkeypatch)


@pytest.fixture(scope="module")
def first_nights(tmp_path_factory, incoming):
    """Homes in which some nights are done, by the name of the nights; each is made once."""
    made = {}

    def home_of(name):
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name) / "home"
            made[name].mkdir()
            with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                patch.setenv("FINTS_HOME", str(made[name]))
                _plain(patch)
                market = Market(incoming, patch)
                for day, missing in FIRST_NIGHTS[name]:
                    market.deliver(day, missing)
                    market.it_is(f"{day} 22:00")
                    code, _ = command_line(patch, tmp_path_factory.mktemp("result") / "r.json", *_nightly(market))
                    assert code == 0
        return made[name]

    return home_of


@pytest.fixture
def after(first_nights, home):
    """Put a home in which some nights are done in the place of the test's own."""
    return lambda name: shutil.copytree(first_nights(name), home, dirs_exist_ok=True)


@pytest.fixture
def night(fints, market, monkeypatch):
    """Run ``fints nightly`` on the market; returns exit code, output, and the result."""
    _plain(monkeypatch)

    def run(*arguments):
        whole, _ = _nightly(market, *arguments)
        code, out, err, result = fints(*whole)
        return code, out + err, result

    return run


def _plain(monkeypatch):
    """Let a night neither look back on earlier forecasts nor draw its page, which take longest and are no matter here.

    The page holds the notes alone.
    """
    from fints.verification import Verification

    monkeypatch.setattr("pipelines.night_run.verify", lambda *_rest: Verification(pd.Timestamp("2025-03-10")))
    monkeypatch.setattr("pipelines.publish.render_nightly", lambda report: "\n".join(report.notes))


def _nightly(market, *arguments):
    source = f"source={{kind: folder, path: {market.folder}, quiet: 0}}"
    return ("nightly", *(f"--set={setting}" for setting in (*QUICK, source)), *arguments), BRIEF
