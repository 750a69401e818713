"""A night that is killed at any instant: the store is sound, and the next run leaves what an undisturbed one leaves."""

from __future__ import annotations

import json
import random
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import yaml

from fints.bars.nights import NightTable
from fints.bars.store import BarStore
from tests.faults import child

if TYPE_CHECKING:
    from pathlib import Path

BRIEF = {
    "dataset": "brief",
    "source": {"kind": "synthetic", "names": ["AAA", "BBB"], "start": "2017-06-01", "end": "2018-12-14", "seed": 3},
    "symbols": ["AAA", "BBB"],
    "targets": ["log_volume"],
    "h": 3,
    "input_size": 20,
    "retrain_every": 1,  # every night fits
    "periods": {"detect": False, "priors": [5]},
    "network": {"dim": 16, "n_layers": 1, "n_heads": 1, "dropout": 0.0},
    "training": {"max_steps": 3, "batch_size": 8, "validate_every": 2, "validation_windows": 8},
    "holdout": {"n_windows": 2},
    "combination": {"members": ["har"]},
    "workers": {"count": 1},
    "tracking": {"enabled": False},
}
NIGHTS = ("2018-12-13", "2018-12-14")
MADE = ["created_at"]


@dataclass(frozen=True)
class Whole:
    """Settings, and the homes that undisturbed runs of none, of the first and of both leave."""

    settings: Path
    homes: tuple[Path, Path, Path]
    seconds: tuple[float, ...]

    def command(self, number: int) -> tuple[str, ...]:
        return "nightly", "--config", str(self.settings), "--as-of", NIGHTS[number]


@pytest.fixture(scope="module")
def whole(tmp_path_factory, finish) -> Whole:
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


def left(home: Path) -> dict[str, object]:
    """Return all that nights leave, but for instants at which something was done."""
    store = BarStore(home / "store")
    assert store.verify() == []
    nights = NightTable.under(store.root).read("brief", "1d")
    books = {}
    for book in sorted((home / "models" / "brief").rglob("*.jsonl")):
        nights_told = [json.loads(line) for line in book.read_text("utf-8").splitlines()]
        books[book.name] = [[one | {"made_at": ""} for one in decisions] for decisions in nights_told]
    assert books
    return {
        "bars": store.read().drop(columns="fetched_at"),
        "forecasts": store.read_forecasts().drop(columns=MADE),
        "done": {entry.night for entry in nights if entry.state == "done"},
        "owed": {entry.night for entry in nights if entry.owed} - {e.night for e in nights if e.state == "done"},
        "pages": sorted(path.name for path in (home / "reports").rglob("*.html")),
        "books": books,
        "plans": {path.name: path.read_text("utf-8") for path in sorted((home / "plans").rglob("*.json"))},
    }


def assert_same(found: dict[str, object], wanted: dict[str, object]) -> None:
    for name, value in wanted.items():
        if isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(found[name], value, check_exact=True, obj=name)
        else:
            assert found[name] == value, name


def kill_at_random(count: int, seed: int, whole: Whole, begin, finish, tmp_path) -> None:
    """Kill nights at instants spread over a whole one: the first in an empty home, and the second after it."""
    rng = random.Random(seed)
    wanted = {number: left(whole.homes[number + 1]) for number in (0, 1)}
    for part in rng.sample(range(count), count):
        number, home = part % 2, tmp_path / f"home-{part}"
        shutil.copytree(whole.homes[number], home)
        process = begin(child.run, home, *whole.command(number))
        time.sleep(whole.seconds[number] * (part + rng.random()) / count)
        process.kill()
        process.join()
        store = BarStore(home / "store")
        assert store.verify() == []
        if number:
            # what the first night left is there still, and readable by anyone
            kept = store.read_forecasts(as_of=NIGHTS[0]).drop(columns=MADE)
            pd.testing.assert_frame_equal(kept, wanted[0]["forecasts"], check_exact=True)
        assert finish(child.run, home, *whole.command(number)) == 0, child.said(home)
        assert_same(left(home), wanted[number])
        shutil.rmtree(home)


def test_killed_at_twenty_instants_of_a_night_the_next_run_leaves_what_an_undisturbed_one_does(
    whole, begin, finish, tmp_path
) -> None:
    kill_at_random(20, 5, whole, begin, finish, tmp_path)


@pytest.mark.soak
def test_killed_at_two_hundred_instants_of_a_night_the_next_run_leaves_what_an_undisturbed_one_does(
    whole, begin, finish, tmp_path
) -> None:
    kill_at_random(200, 7, whole, begin, finish, tmp_path)
