"""Forecasters side by side: the daily and the hourly protocol, encodings under one budget, and what all of it takes.

``python -m benchmarks.forecasters`` takes minutes; the figures that are quoted take ``--budget full`` and hours, which
can be stopped and gone on with. The protocol, its data and the scores that came with it lie in a folder outside the
repository (``--protocol`` or ``FINTS_PROTOCOL``). ``--render`` writes the page from what has been run already.
``--shift 500`` and ``--shift 1000`` move everything back by so many sessions: there settings are chosen. The result is
written to ``benchmarks/results/<date>-forecasters.md``.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

from benchmarks.forecasters.jobs import BUDGETS, PANEL, PARTS, PEERS, Job, jobs_of
from benchmarks.forecasters.protocol import folder_from
from benchmarks.forecasters.store import DEFAULT, Store, code_digest
from benchmarks.forecasters.worker import run_apart

RESULTS = Path(__file__).parents[1] / "results"


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--budget", choices=tuple(BUDGETS), default="quick")
    parser.add_argument("--peers", nargs="*", choices=PEERS, help="peers to run again; all with the full budget")
    parser.add_argument("--protocol", type=Path, help="folder of the protocol")
    parser.add_argument("--cache", type=Path, default=DEFAULT, help="folder of what has been run")
    parser.add_argument("--shift", type=int, default=0, help="sessions to move the tests back by")
    parser.add_argument("--match", default="", help="run only jobs whose name has this in it")
    parser.add_argument("--again", action="store_true", help="run again what was run with other code")
    parser.add_argument("--render", action="store_true", help="run nothing")
    return parser.parse_args()


def _is_due(job: Job, store: Store, asked: argparse.Namespace) -> bool:
    if asked.render or job.model == PANEL:
        return not asked.render and not store.has(job)
    cost = store.cost(job)
    return cost is None or (asked.again and cost.code != code_digest())


def main() -> int:
    """Run what is missing, write the page; exit code 1 if something could not be run."""
    asked = _asked()
    folder, store, budget = folder_from(asked.protocol), Store(asked.cache), BUDGETS[asked.budget]
    peers = budget.peers if asked.peers is None else tuple(asked.peers)
    jobs = jobs_of(asked.only, budget, peers, asked.shift)
    failed = []
    todo = [job for job in jobs if asked.match in job.key and _is_due(job, store, asked)]
    for number, job in enumerate(todo, 1):
        print(f"{number} of {len(todo)}: {job.key}", flush=True)
        if not run_apart(job, store, folder):
            failed.append(job)
    from benchmarks.forecasters.page import page

    text = page(store, folder, budget, asked.only, asked.shift)
    today = datetime.datetime.now(tz=datetime.UTC).date()
    name = f"{today}-forecasters{f'-shift{asked.shift}' if asked.shift else ''}.md"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(text, encoding="utf-8")
    print(text)
    for job in failed:
        print(f"could not be run: {job.key}")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
