"""What is measured: a first night over the loopback interface, a nightly append without any network, a commit."""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from benchmarks.ingest import market

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

NOW = pd.Timestamp("2018-12-31 22:00", tz="UTC")
_PAYING = 25  # one symbol in so many pays a dividend on the same day


@dataclass(frozen=True, slots=True)
class FirstNight:
    """A first ingest of all symbols.

    Attributes
    ----------
    seconds, floor : float
        Of the ingest, and of asking the server for the same answers as fast as the same number of workers can.
    cpu : float
        Seconds of this process's CPU time.
    versions, rows : int
        Versions of the bars that it made, and bars stored.
    memory : float
        Peak of the process, GB.
    """

    seconds: float
    floor: float
    cpu: float
    versions: int
    rows: int
    memory: float


@dataclass(frozen=True, slots=True)
class Writing:
    """What takes how many seconds without any network.

    Attributes
    ----------
    commit, parquet : float
        To commit all bars to an empty store, and to write them as plain Parquet.
    night : float
        Of a nightly append.
    restated : float
        To commit the history of one symbol in 25 again, with other adjusted closes, as after a dividend.
    """

    commit: float
    parquet: float
    night: float
    restated: float


def first_night(count: int, years: int, latency: float, workers: int) -> FirstNight:
    """Ingest from a chart server in another process; this one should be fresh, since its peak memory is taken."""
    import pytest

    from fints.bars.ingest import ingest
    from fints.bars.sources.config import YahooConfig
    from fints.bars.sources.yahoo import YahooSource
    from fints.bars.store import BarStore
    from tests.bars.sources.wired import pointed_at

    with (
        _server(count, years, latency) as address,
        pytest.MonkeyPatch.context() as patch,
        pointed_at(address, patch) as session,
        tempfile.TemporaryDirectory() as folder,
    ):
        names = market.symbols(count)
        floor = _ask_all(session, address, names, workers)
        source = YahooSource(YahooConfig(workers=workers))
        store = BarStore(Path(folder) / "store")
        began, cpu = time.perf_counter(), time.process_time()
        report = ingest(source, store, symbols=names, now=NOW)
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        if report.failed:
            raise RuntimeError(f"the ingest failed: {report.failed}")
        return FirstNight(took, floor, cpu, report.version, sum(report.commit.inserted.values()), memory)


def writing(count: int, years: int) -> Writing:
    """Commit, write plainly, append one session to what is stored, and restate some symbols."""
    from fints.bars.ingest import ingest
    from fints.bars.store import BarStore

    whole = market.bars(count, years, NOW)
    last = whole["session"].max()
    before = whole[whole["session"] < last].reset_index(drop=True)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        whole.to_parquet(Path(folder) / "plain.parquet")
        parquet = time.perf_counter() - began
        store = BarStore(Path(folder) / "store")
        store.prepare()
        began = time.perf_counter()
        store.commit(before)
        commit = time.perf_counter() - began
        tail = whole[whole["session"] >= last - pd.Timedelta(days=20)]
        source = _Memory({str(symbol): bars.reset_index(drop=True) for symbol, bars in tail.groupby("symbol")})
        began = time.perf_counter()
        report = ingest(source, store, symbols=market.symbols(count), now=NOW)
        night = time.perf_counter() - began
        if sum(report.commit.inserted.values()) != count:
            raise RuntimeError(f"a night of {count} symbols inserted {report.commit.inserted}")
        paid = whole[whole["symbol"].isin(market.symbols(count)[::_PAYING])].reset_index(drop=True)
        began = time.perf_counter()
        again = store.commit(paid.assign(adj_close=0.99 * paid["adj_close"]))
        restated = time.perf_counter() - began
        if sum(again.revised.values()) != len(paid):
            raise RuntimeError(f"a restatement of {len(paid)} bars revised {again.revised}")
        return Writing(commit, parquet, night, restated)


class _Memory:
    """A live source that has its bars at hand: no network."""

    name = "bench"
    live = True

    def __init__(self, bars: dict[str, pd.DataFrame]) -> None:
        self.bars = bars

    def symbols(self) -> list[str]:
        return []

    def fetch(self, request: object) -> object:
        from fints.bars.sources.base import BarRequest, Delivery, clip_sessions

        if not isinstance(request, BarRequest):
            raise TypeError(f"not a request: {request!r}")
        return Delivery(clip_sessions(self.bars[request.symbol], request))


@contextmanager
def _server(count: int, years: int, latency: float) -> Iterator[str]:
    there, here = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(here, count, years, latency), daemon=True
    )
    process.start()
    try:
        yield there.recv()
    finally:
        there.send("over")
        process.join(10)


def _serve(pipe: Connection, count: int, years: int, latency: float) -> None:
    from tests.bars.sources.loopback import ChartServer

    with ChartServer(latency=latency) as server:
        for number, name in enumerate(market.symbols(count)):
            server.answers[name] = [market.answer(number, years)]
        pipe.send(server.address)
        pipe.recv()


def _ask_all(session: object, address: str, names: list[str], workers: int) -> float:
    from concurrent.futures import ThreadPoolExecutor

    def ask(name: str) -> int:
        return len(session.get(f"{address}/v8/finance/chart/{name}").content)

    began = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(ask, names))
    return time.perf_counter() - began
