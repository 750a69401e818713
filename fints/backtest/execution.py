"""How the jobs of a comparison are run: by which workers, and none of them twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from fints.backtest.job_store import code_version, panel_version
from fints.backtest.kept_job import KeptJob
from fints.backtest.pace import Pace, Standing
from fints.backtest.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from fints.backtest.job_store import JobStore
    from fints.backtest.jobs import Diary, Job, Outcome

    Progress = Callable[[str, int, int], None]
    Watch = Callable[[Standing], None]


@dataclass(frozen=True, slots=True)
class Execution:
    """Workers, and where finished jobs lie.

    Parameters
    ----------
    workers : Workers
        By default one job after the other, in this process.
    store : JobStore, optional
        Where outcomes are kept as they come. A job that lies there is not run again: one with the same model, seed,
        settings, windows, panel and code. Runs at the same time share the jobs that they have in common, unless the
        workers are on other machines.
    diary : callable, optional
        Tells curves of every fitted model, which are kept with its outcome.
    watch : callable, optional
        Called with the standing when it changes.
    """

    workers: Workers = field(default_factory=Workers)
    store: JobStore | None = None
    diary: Diary | None = None
    watch: Watch | None = None

    def outcomes(
        self, jobs: Sequence[Job], panel: pd.DataFrame, progress: Progress | None = None
    ) -> list[tuple[Outcome, bool]]:
        """Return the outcome of every job, in the order given, and whether it was there before.

        Parameters
        ----------
        jobs : sequence of Job
        panel : pandas.DataFrame
        progress : callable, optional
            Called as ``progress(model, windows done, windows)``.

        Raises
        ------
        StoreError
            If an outcome cannot be kept.
        """
        shelf = _Shelf.open(self.store, jobs, panel, here=self.workers.here)
        found = {i: outcome for i in range(len(jobs)) if (outcome := shelf.read(i)) is not None}
        reused = set(found)
        tally = _Tally(jobs, progress, self.watch, Pace.of((j.entrant.name for j in jobs), self.workers.count))
        for i, outcome in found.items():
            tally.finish(jobs[i], outcome, reused=True)
        missing = [i for i in range(len(jobs)) if i not in found]
        for place, outcome in self.workers.run([shelf.errand(i, jobs[i]) for i in missing], panel, tally.windows):
            number = missing[place]
            found[number] = shelf.keep(number, outcome)
            if outcome.reused:
                reused.add(number)
            tally.finish(jobs[number], outcome, reused=outcome.reused)
        return [(found[i], i in reused) for i in range(len(jobs))]


@dataclass(frozen=True, slots=True)
class _Shelf:
    """The store, with the key of every job that may lie in it, and whether workers can reach it."""

    store: JobStore | None
    keys: dict[int, str]
    here: bool

    @classmethod
    def open(cls, store: JobStore | None, jobs: Sequence[Job], panel: pd.DataFrame, *, here: bool) -> _Shelf:
        if store is None:
            return cls(None, {}, here)
        store.sweep()
        data = f"{panel_version(panel)} {code_version()}"
        return cls(store, {i: job.key(data) for i, job in enumerate(jobs) if job.entrant.digest}, here)

    def errand(self, number: int, job: Job) -> Job | KeptJob:
        """Return what a worker runs: it keeps the outcome itself where it can reach the store."""
        if self.store is None or number not in self.keys or not self.here:
            return job
        return KeptJob(job, self.store, self.keys[number])

    def read(self, number: int) -> Outcome | None:
        if self.store is None or number not in self.keys:
            return None
        return self.store.read(self.keys[number])

    def keep(self, number: int, outcome: Outcome) -> Outcome:
        """Keep an outcome; return what a later run will read, so that both are the same to the last bit."""
        if self.store is None or number not in self.keys or outcome.failure or self.here:
            return outcome
        self.store.write(self.keys[number], outcome)
        return self.store.read(self.keys[number]) or outcome


class _Tally:
    """Tells how far every model is, and the whole."""

    def __init__(self, jobs: Sequence[Job], progress: Progress | None, watch: Watch | None, pace: Pace) -> None:
        self.total = len(jobs)
        self.all_windows = Counter[str]()
        for job in jobs:
            self.all_windows[job.entrant.name] += len(job.windows)
        self.done_windows = Counter[str]()
        self.jobs_done = self.reused = 0
        self.progress, self.watch, self.pace = progress, watch, pace
        self.began = monotonic()

    def windows(self, job: Job | KeptJob, done: int) -> None:
        """Take note of some windows of a job that is not over."""
        if done < len(job.windows):
            self._tell(job, done)

    def finish(self, job: Job, outcome: Outcome, *, reused: bool = False) -> None:
        """Take note of a finished job."""
        self.jobs_done += 1
        self.reused += reused
        self.pace.finish(job.entrant.name, None if outcome.failure else outcome.seconds)
        if self.watch is not None:  # first, or the windows would stand beside a time that is past
            seconds, least = self.pace.left()
            self.watch(Standing(self.jobs_done, self.total, self.reused, seconds, least))
        if not outcome.failure:
            self._tell(job, len(job.windows))
        self.done_windows[job.entrant.name] += len(job.windows)

    def _tell(self, job: Job | KeptJob, done: int) -> None:
        if self.progress is not None:
            name = job.entrant.name
            self.progress(name, self.done_windows[name] + done, self.all_windows[name])
