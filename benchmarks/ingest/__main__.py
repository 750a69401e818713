"""Ingest: a first night of many symbols over the loopback interface, a nightly append, a commit beside plain Parquet.

Run ``make bench`` or ``python -m benchmarks.ingest``. The result is written to
``benchmarks/results/<date>-ingest.md``.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.ingest.night import first_night, writing

RESULTS = Path(__file__).parents[1] / "results"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", type=int, default=500)
    parser.add_argument("--years", type=int, default=30)
    parser.add_argument("--latency", type=float, default=0.1, help="seconds that the server takes over a chart")
    parser.add_argument("--workers", type=int, default=4, help="symbols asked for at once")
    chosen = parser.parse_args()
    # each in a process of its own: the peak memory of one is not that of the other
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as fresh:
        night = fresh.submit(first_night, chosen.symbols, chosen.years, chosen.latency, chosen.workers).result()
        wrote = fresh.submit(writing, chosen.symbols, chosen.years).result()
    count = chosen.symbols
    today = datetime.datetime.now(tz=datetime.UTC).date()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    text = f"""# Ingest, {today}

CPython {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load {load}.

{count} symbols of {chosen.years} years of daily bars ({night.rows} rows) from a chart server on the loopback interface
that takes {1000 * chosen.latency:.0f} ms over each answer, {chosen.workers} symbols at once, through yfinance.

| a first night | |
| --- | --- |
| ingest, s | {night.seconds:.1f} |
| asking for the same answers and nothing else, s | {night.floor:.1f} |
| overhead a symbol over that, ms | {1000 * (night.seconds - night.floor) / count:.1f} |
| overhead a symbol over the server's latency, ms | {1000 * (night.seconds / count - chosen.latency):.1f} |
| CPU time a symbol, ms | {1000 * night.cpu / count:.1f} |
| versions of the bars | {night.versions} |
| peak memory, GB | {night.memory:.2f} |

| without any network | s |
| --- | --- |
| commit of all bars to an empty store | {wrote.commit:.2f} |
| the same bars as plain Parquet | {wrote.parquet:.2f} |
| ratio | {wrote.commit / wrote.parquet:.2f} |
| a nightly append of one session, the last five compared | {wrote.night:.2f} |
| a dividend of one symbol in 25: their whole histories restated | {wrote.restated:.2f} |
"""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{today}-ingest.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
