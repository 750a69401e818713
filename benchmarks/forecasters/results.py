"""What has been run, gathered by what the page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.forecasters.jobs import (
    ALONE,
    COMBINATION,
    DAILY_BASELINES,
    ENCODINGS,
    HELPED,
    HOURLY_BASELINES,
    INFERENCE,
    OURS,
    PEERS,
    TARGETS,
    Job,
    encoding_jobs,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from benchmarks.forecasters.jobs import Budget
    from benchmarks.forecasters.store import Cost, Store

    Frames = list[pd.DataFrame]


@dataclass(frozen=True)
class Results:
    """Forecasts and costs of a budget, as far as they exist.

    Parameters
    ----------
    store : Store
    budget : Budget
    shift : int
    """

    store: Store
    budget: Budget
    shift: int

    def ours(self, trial: str, target: str, encoding: str) -> Frames:
        """Forecasts of each seed that has been run."""
        training = self.budget.training
        seeds = range(self.budget.seeds)
        return self._found(
            [Job(trial, target, OURS, seed, encoding, training=training, shift=self.shift) for seed in seeds]
        )

    def others(self, trial: str, target: str) -> dict[str, Frames]:
        """Forecasts of baselines and of peers that were run again."""
        names = (*DAILY_BASELINES, *PEERS) if trial == "daily" else HOURLY_BASELINES
        found = {name: self._found([Job(trial, target, name, shift=self.shift)]) for name in names}
        return {name: frames for name, frames in found.items() if frames}

    def encodings(self, trial: str, how: str) -> dict[str, Frames]:
        """Forecasts of each encoding, one per seed; only seeds that every encoding was run with."""
        jobs = [job for job in encoding_jobs(self.budget, self.shift) if job.trial == trial]
        jobs = [job for job in jobs if bool(job.network) == (how == ALONE)]
        by_seed = {seed: [job for job in jobs if job.seed == seed] for seed in range(self.budget.encoding_seeds)}
        whole = [seed for seed, own in by_seed.items() if all(self.store.has(job) for job in own)]
        return {
            encoding: self._found([job for seed in whole for job in by_seed[seed] if job.encoding == encoding])
            for encoding in ENCODINGS
            if whole
        }

    def combination(self, trial: str, target: str) -> Frames:
        """Forecasts of the combination, if it has been run."""
        job = Job(trial, target, COMBINATION, encoding="cycle", training=self.budget.training, shift=self.shift)
        return self._found([job])

    def cost(self, model: str) -> Cost | None:
        """Add up what one seed took of the daily protocol: log volume and log range, each in a process of its own."""
        encoding, training = ("cycle", self.budget.training) if model == OURS else ("", {})
        jobs = [
            Job("daily", target, model, encoding=encoding, training=training, shift=self.shift)
            for target in TARGETS[:2]
        ]
        costs = [cost for job in jobs if (cost := self.store.cost(job)) is not None]
        if len(costs) < len(jobs):
            return None
        return type(costs[0])(sum(c.cpu for c in costs), max(c.memory for c in costs), sum(c.wall for c in costs))

    def inference(self) -> pd.DataFrame | None:
        """Seconds of each forecast of 500 series."""
        return self.store.forecasts(Job(INFERENCE, "log_volume", OURS, encoding="cycle", training={"max_steps": 5}))

    def _found(self, jobs: Sequence[Job]) -> Frames:
        frames = [self.store.forecasts(job) for job in jobs]
        return [frame for frame in frames if frame is not None]


HOWS = (ALONE, HELPED)
