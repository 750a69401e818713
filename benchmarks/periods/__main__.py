"""Detection of periods: accuracy, false alarms, recall and precision beside other packages, real series, time.

Run ``make bench`` or ``python -m benchmarks.periods`` for a quick look; the figures that are quoted take ``--trials
500 --sizes 250 1000 5000 --cells FILE`` and hours, which can be stopped and gone on with. The result is written to
``benchmarks/results/<date>-periods.md``.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.periods.cells import Cells

RESULTS = Path(__file__).parents[1] / "results"
PARTS = ("accuracy", "estimators", "alarms", "peers", "real", "timing")


def main() -> None:
    """Measure what was asked for, print, write."""
    # imported late: pyriodicity's worker processes read this file too, and need nothing of the rest
    from benchmarks.periods.cells import Cells

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--trials", type=int, default=40, help="series a cell")
    parser.add_argument("--sizes", type=int, nargs="+", default=[250, 1000], help="sessions, for accuracy")
    parser.add_argument("--series", type=int, default=500, help="series of the panel that is timed")
    parser.add_argument("--cells", type=Path, help="file of cells already measured, which new ones are added to")
    chosen = parser.parse_args()
    cells = Cells(chosen.cells)
    today = datetime.datetime.now(tz=datetime.UTC).date()
    text = [f"# Periods, {today}", f"CPython {platform.python_version()}, {platform.machine()}."]
    text += [_part(name, chosen, cells) for name in PARTS if name in chosen.only]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{today}-periods.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")
    print("\n\n".join(text))


def _part(name: str, chosen: argparse.Namespace, cells: Cells) -> str:
    from benchmarks.periods import accuracy, alarms, estimators, page, peers, real, timing

    trials = chosen.trials
    match name:
        case "accuracy":
            return page.accuracy_table(accuracy.measure(chosen.sizes, trials, cells))
        case "estimators":
            return page.estimator_table(estimators.measure(chosen.sizes, trials, cells), trials)
        case "alarms":
            return page.alarm_table(alarms.measure(trials, cells), trials)
        case "peers":
            return page.peer_tables(peers.measure(trials, cells), trials)
        case "real":
            return page.real_table(real.measure())
    took = [timing.whole_panel(chosen.series), timing.hourly()]
    return page.time_tables(took, timing.per_series(), os.cpu_count() or 1)


if __name__ == "__main__":
    main()
