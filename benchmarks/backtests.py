"""How much faster two workers take a backtest through its windows than one does.

Run ``python -m benchmarks.backtests``; the result is written to ``benchmarks/results/<date>-backtests.md``. The machine
needs two idle cores: run it alone. Rounds alternate between one worker, which is this process, and two, which are warm;
every job has one thread.
"""

from __future__ import annotations

import datetime
import os
import statistics
import time
from pathlib import Path

import fints
from fints.backtest import Entrant, Execution, WalkForward, Workers, make_folds
from fints.transformer import NetworkConfig, TrainingConfig

RESULTS = Path(__file__).parent / "results"
ROUNDS, JOBS = 5, 8
TARGET = 1.7


def main() -> None:
    """Measure, print and write."""
    panel = fints.make_panel(fints.sample_bars(), target="log_volume")
    panel = panel[panel["unique_id"].isin(["^GSPC", "^IXIC"])].reset_index(drop=True)
    walk = WalkForward(make_folds(panel, 20, 12, 20))
    model = fints.CycleTransformer(20, 252, "cycle").with_settings(
        NetworkConfig(dim=48, n_heads=2, n_layers=2), TrainingConfig(max_steps=60)
    )
    entrants = [Entrant(model, seed) for seed in range(JOBS)]

    def seconds(workers: int) -> float:
        began = time.perf_counter()
        found = walk.run(panel, entrants, how=Execution(Workers(workers)))
        assert not found.failures
        return time.perf_counter() - began

    seconds(1), seconds(2)
    pairs = [(seconds(1), seconds(2)) for _ in range(ROUNDS)]
    ratios = [one / two for one, two in pairs]
    today = datetime.date.today().isoformat()  # noqa: DTZ011
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    work = f"{JOBS} jobs (one transformer fitted and taken through {len(walk.folds)} windows each)"
    lines = [
        "# Two workers against one",
        "",
        f"{today}, {load}; {work}, {ROUNDS} alternating rounds.",
        "",
        "| round | one worker, s | two workers, s | ratio |",
        "| --- | --- | --- | --- |",
        *(f"| {i} | {one:.1f} | {two:.1f} | {one / two:.2f} |" for i, (one, two) in enumerate(pairs, start=1)),
        "",
        f"Median ratio {statistics.median(ratios):.2f}; at least {TARGET} is wanted on idle cores.",
    ]
    text = "\n".join(lines) + "\n"
    (RESULTS / f"{today}-backtests.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
