"""How much faster two workers take a backtest through its windows than one does.

Run ``python -m benchmarks.backtests``; the result is written to ``benchmarks/results/<date>-backtests.md``. The machine
needs two idle cores: run it alone. Rounds alternate between one worker, which is this process, and two, which are warm;
every job has one thread. Where other programs take the cores meanwhile, the page says so. It reads ``/proc``.
"""

from __future__ import annotations

import argparse
import datetime
import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import fints
from fints.backtest import Entrant, Execution, WalkForward, Workers, make_folds
from fints.transformer import NetworkConfig, TrainingConfig

RESULTS = Path(__file__).parent / "results"
ROUNDS, JOBS = 5, 8
TARGET, BUSY = 1.7, 0.05


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run took.

    Parameters
    ----------
    seconds : float
        On the clock.
    others : float
        Processor time of everything else on the machine meanwhile, as a share of all that it has.
    """

    seconds: float
    others: float


class Meter:
    """Measures a run, and what others did to the machine meanwhile."""

    def __init__(self) -> None:
        self.began, self.busy, self.own = time.perf_counter(), busy_seconds(), own_seconds()

    def stop(self) -> Spent:
        """Return what was spent since the beginning."""
        seconds = time.perf_counter() - self.began
        others = busy_seconds() - self.busy - (own_seconds() - self.own)
        return Spent(seconds, max(others, 0.0) / (seconds * (os.cpu_count() or 1)))


def busy_seconds() -> float:
    """Processor seconds of the whole machine since it started, without those in which it had nothing to do."""
    fields = Path("/proc/stat").read_text("ascii").splitlines()[0].split()[1:9]
    user, nice, system, _idle, _waiting, *rest = map(int, fields)
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Processor seconds of this process and of its workers."""
    total = 0
    for pid in [os.getpid(), *_children()]:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def _children() -> list[int]:
    return [int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--jobs", type=int, default=JOBS)
    asked = parser.parse_args()
    panel = fints.make_panel(fints.sample_bars(), target="log_volume")
    panel = panel[panel["unique_id"].isin(["^GSPC", "^IXIC"])].reset_index(drop=True)
    walk = WalkForward(make_folds(panel, 20, 12, 20))
    model = fints.CycleTransformer(20, 252, "cycle").with_settings(
        NetworkConfig(dim=48, n_heads=2, n_layers=2), TrainingConfig(max_steps=60)
    )
    entrants = [Entrant(model, seed) for seed in range(asked.jobs)]

    def spent(workers: int) -> Spent:
        meter = Meter()
        found = walk.run(panel, entrants, how=Execution(Workers(workers, threads=1)))
        assert not found.failures
        return meter.stop()

    spent(1), spent(2)
    pairs = [(spent(1), spent(2)) for _ in range(asked.rounds)]
    ratios = [one.seconds / two.seconds for one, two in pairs]
    others = max(run.others for pair in pairs for run in pair)
    today = datetime.date.today().isoformat()  # noqa: DTZ011
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    work = f"{asked.jobs} jobs (one transformer fitted and taken through {len(walk.folds)} windows each)"
    verdict = f"Median ratio {statistics.median(ratios):.2f}; at least {TARGET} is wanted on idle cores."
    if others > BUSY:
        verdict += (
            f" The cores were not idle: other programs took up to {others:.0%} of them, and the ratio says little; "
            "run it again on an idle machine."
        )
    lines = [
        "# Two workers against one",
        "",
        f"{today}, {load}; {work}, {asked.rounds} alternating rounds.",
        "",
        "| round | one worker, s | two workers, s | ratio | of the cores taken by others |",
        "| --- | --- | --- | --- | --- |",
        *(_row(i, *pair) for i, pair in enumerate(pairs, start=1)),
        "",
        verdict,
    ]
    text = "\n".join(lines) + "\n"
    (RESULTS / f"{today}-backtests.md").write_text(text, encoding="utf-8")
    print(text)


def _row(number: int, one: Spent, two: Spent) -> str:
    ratio = one.seconds / two.seconds
    return f"| {number} | {one.seconds:.1f} | {two.seconds:.1f} | {ratio:.2f} | {one.others:.0%}, {two.others:.0%} |"


if __name__ == "__main__":
    main()
