import shutil
import sys

import numpy as np
import pandas as pd
import pytest

from fints.series import validate_panel
from fints.sessions import get_calendar
from tests.pipelines.play import NIGHTS, Play, write_bars


def panel(**stretches):
    """Series of noise, each from its first to its last date on its exchange."""
    parts = []
    for name, (exchange, first, last) in stretches.items():
        ds = get_calendar(exchange).sessions(first, last)
        y = np.random.default_rng(len(name)).normal(size=len(ds))
        parts.append(pd.DataFrame({"unique_id": name, "ds": ds, "y": y, "exchange": exchange, "interval": "1d"}))
    return validate_panel(pd.concat(parts, ignore_index=True))


@pytest.fixture(scope="session")
def played(tmp_path_factory):
    """A home in which three nights were played, and what they made; nobody changes it."""
    root = tmp_path_factory.mktemp("home")
    write_bars(root / "bars.csv")
    play = Play(root, root / "bars.csv")
    return play, [play.night(day) for day in NIGHTS]


@pytest.fixture
def after(played, tmp_path):
    """The home as the nights left it, for one test."""
    shutil.copytree(played[0].root, tmp_path / "home")
    return Play(tmp_path / "home", played[0].bars), played[1]


@pytest.fixture
def model_command(after, monkeypatch, capfd):
    """Run ``fints model`` on that home; returns exit code, stdout and stderr."""

    def run(*arguments):
        from pipelines.cli import main

        play = after[0]
        monkeypatch.setenv("FINTS_HOME", str(play.root))
        monkeypatch.setattr(sys, "argv", ["fints", "model", *arguments, *(f"--set={one}" for one in play.stated)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code or 0, *capfd.readouterr()

    return run
