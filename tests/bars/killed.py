"""What runs in processes that kill themselves, at a place that the test names."""

from __future__ import annotations

import os
import signal
import threading

import deltalake
import pandas as pd

import fints.bars.store
from fints.bars import ingest as flow
from fints.bars import marker, table
from fints.bars.action_table import ActionTable
from fints.bars.quality import check_bars
from fints.bars.sources.config import SyntheticConfig
from fints.bars.sources.synthetic import SyntheticSource
from fints.bars.store import BarStore


def die(*_rest, **_named) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ingest(place: str, root: str, delay: float) -> None:
    """Ingest a synthetic series; `delay` is how long its bars may be written, in seconds."""
    if place == "before the marker":
        marker.json.dumps = die
    elif place == "between the tables of a new store":
        create = table.StoreTable.create
        table.StoreTable.create = lambda self: die() if self.path.name == "findings" else create(self)
    elif place == "before the bars":
        fints.bars.store.merge_bars = die
    elif place == "while the bars are written":
        write = deltalake.write_deltalake

        def slow(target, *rest, **how):
            if "/bars" in target.table_uri:
                threading.Timer(delay, die).start()
            return write(target, *rest, **how)

        deltalake.write_deltalake = slow
    source = SyntheticSource(SyntheticConfig(names=("AAA",), start="2018-12-03", end="2019-01-11"))
    flow.ingest(source, BarStore(root), symbols=None, now=pd.Timestamp("2019-01-11 12:00", tz="UTC"))
    if place == "while the bars are written":
        die()


def commit(place: str, root: str, bars: str, actions: str) -> None:
    """Commit what lies in two pickles."""
    if place == "before the findings":
        fints.bars.store.Ledger._state = die
    elif place == "before the actions":
        ActionTable.state = die
    elif place == "before the bars":
        fints.bars.store.merge_bars = die
    BarStore(root).commit(*check_bars(pd.read_pickle(bars)), actions=pd.read_pickle(actions))
