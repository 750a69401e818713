"""Two nights of files, a store as each of them leaves it, and children that run the command line."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import yaml

from fints.bars.store import BarStore
from fints.sessions import get_calendar
from tests.faults import child
from tests.faults.whole import BRIEF, Whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.process import BaseProcess

SYMBOLS = tuple(f"S{number:02d}" for number in range(12))
DAYS = get_calendar("XNYS").sessions("2016-06-01", "2018-12-14")
TIMES = {"fetched_at", "found_at", "quarantined_at"}


def night(until: str) -> pd.DataFrame:
    """Return bars up to a session, with one of each that a check has to say something about."""
    days = DAYS[until >= DAYS]
    parts = []
    for number, symbol in enumerate(SYMBOLS):
        close = 50 * np.exp(np.random.default_rng(number).normal(0, 0.01, len(DAYS)).cumsum())[: len(days)].round(4)
        rows = pd.DataFrame({"symbol": symbol, "date": days, "open": close, "high": close + 1, "low": close - 1})
        parts.append(rows.assign(close=close, volume=1000 + np.arange(len(days))))
    frame = pd.concat(parts, ignore_index=True)
    last = frame["date"] == days[-1]
    frame.loc[last & (frame["symbol"] == "S01"), "high"] = 1.0
    frame.loc[last & (frame["symbol"] == "S02"), "volume"] = 0
    frame.loc[(frame["symbol"] == "S03") & (frame["date"] == "2017-03-01"), "close"] += len(days) / 1000
    return frame[~((frame["symbol"] == "S04") & (frame["date"] == "2017-05-02"))]


def contents(root: Path) -> dict[str, pd.DataFrame]:
    """Return all that a store holds, but for the instants of writing."""
    store = BarStore(root)
    findings = store.findings()
    findings["values"] = findings["values"].str.replace(r'"fetched_at": "[^"]*", ', "", regex=True)
    tables = {"bars": store.read(), "findings": findings, "quarantine": store.quarantine()}
    return {name: frame.drop(columns=TIMES & set(frame.columns)) for name, frame in tables.items()}


def same(left: dict[str, pd.DataFrame], right: dict[str, pd.DataFrame], *names: str) -> bool:
    return all(left[name].equals(right[name]) for name in names or left)


def assert_same(left: dict[str, pd.DataFrame], right: dict[str, pd.DataFrame]) -> None:
    for name, frame in left.items():
        pd.testing.assert_frame_equal(frame, right[name], obj=name)


@dataclass(frozen=True)
class Nights:
    """Files of two nights, and the homes that undisturbed runs of the first and of both leave."""

    files: tuple[Path, Path]
    homes: tuple[Path, Path]

    def command(self, number: int) -> tuple[str, ...]:
        return ("ingest", "--source", "files", "--set", f"source.path={self.files[number]}")


@pytest.fixture(scope="session")
def begin(forkserver) -> Callable[..., BaseProcess]:
    """Return a function that starts a function of the module ``child`` in a process of its own."""

    def start(function, *arguments) -> BaseProcess:
        process = forkserver.Process(target=function, args=tuple(map(_plain, arguments)), daemon=True)
        process.start()
        return process

    start.context = forkserver
    return start


def _plain(value):
    return str(value) if isinstance(value, Path) else value


@pytest.fixture(scope="session")
def finish(begin) -> Callable[..., int]:
    """Return a function that runs a function of the module ``child`` to its end; returns the exit code."""

    def run(function, *arguments) -> int:
        process = begin(function, *arguments)
        process.join(900)  # a machine that has other work may starve it
        assert process.exitcode is not None
        return process.exitcode

    return run


@pytest.fixture(scope="session")
def nights(tmp_path_factory, finish) -> Nights:
    root = tmp_path_factory.mktemp("nights")
    files = tuple(root / name / "bars.csv" for name in ("one", "two"))
    for file, until in zip(files, ("2018-12-13", "2018-12-14"), strict=True):
        file.parent.mkdir()
        night(until).to_csv(file, index=False)
    made = Nights(files, (root / "home-1", root / "home-2"))
    assert finish(child.run, made.homes[0], *made.command(0)) == 0, child.said(made.homes[0])
    shutil.copytree(*made.homes)
    assert finish(child.run, made.homes[1], *made.command(1)) == 0, child.said(made.homes[1])
    return made


@pytest.fixture(scope="session")
def whole(tmp_path_factory, finish) -> Whole:
    """Run the two nights undisturbed."""
    root = tmp_path_factory.mktemp("whole")
    settings = root / "brief.yaml"
    settings.write_text(yaml.safe_dump(BRIEF))
    homes = (root / "home-0", root / "home-1", root / "home-2")
    made = Whole(settings, homes, ())
    homes[0].mkdir()
    seconds = []
    for number in (0, 1):
        shutil.copytree(homes[number], homes[number + 1])
        began = time.monotonic()
        assert finish(child.run, homes[number + 1], *made.command(number)) == 0, child.said(homes[number + 1])
        seconds.append(time.monotonic() - began)
    return Whole(settings, homes, tuple(seconds))
