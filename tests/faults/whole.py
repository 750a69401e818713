"""Nights of two small series: their settings, what undisturbed ones leave, and how that is compared."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.nights import NightTable
from fints.bars.store import BarStore

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
