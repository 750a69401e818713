"""Where jobs are run: in this process, in several, or on a cluster."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Literal, get_args

from fints.backtest.clusters import connected, lost, require_packages
from fints.backtest.jobs import Outcome
from fints.errors import ConfigError, FintsError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from fints.backtest.clusters import Cluster
    from fints.backtest.jobs import Job
    from fints.backtest.kept_job import KeptJob

    AnyJob = Job | KeptJob
    Finished = tuple[int, Outcome]
    Call = Callable[[int, AnyJob], Finished]

Backend = Literal["loky", "ray", "dask", "spark"]

_EVERY = 0.5
"""Seconds between two looks whether the starting process is still there."""

_DIED = "its process was killed, for want of memory perhaps; lower workers, or give the model less to hold"


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes that run jobs side by side.

    With a number of threads, what a job finds does not depend on where it runs, nor on how many run beside it.

    Parameters
    ----------
    count : int
        Jobs at a time. One on ``loky`` is run in this process.
    backend : {"loky", "ray", "dask", "spark"}
        Processes of this machine, or a cluster through joblib; all but the first need the extra of that name.
    threads : int, optional
        Of each job; by default one in another process, and as many as this process has in this one.
    address : str, optional
        Of a running cluster; by default one is started on this machine. Without one, Spark goes by its own settings.

    Raises
    ------
    ConfigError
        If a number is out of range, or the packages of the backend are not installed.
    """

    count: int = 1
    backend: Backend = "loky"
    threads: int | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        if self.count < 1 or (self.threads is not None and self.threads < 1):
            raise ConfigError(f"a worker and a thread are the least; got {self.count} and {self.threads}")
        if self.backend not in get_args(Backend):
            raise UnknownNameError("backend", self.backend, get_args(Backend))
        if self.backend != "loky":
            require_packages(self.backend)

    @property
    def here(self) -> bool:
        """Whether all of them run on this machine and reach its files."""
        return self.backend == "loky" or (self.backend != "spark" and self.address is None)

    def run(
        self, jobs: Sequence[AnyJob], panel: pd.DataFrame, told: Callable[[AnyJob, int], None] | None = None
    ) -> Iterator[Finished]:
        """Run jobs and yield the number and the outcome of each, as they finish.

        Parameters
        ----------
        jobs : sequence of Job or KeptJob
        panel : pandas.DataFrame
        told : callable, optional
            Called with a job and the number of its windows done, where the job is run in this process.

        Raises
        ------
        ConfigError
            If the cluster cannot be reached or started.
        FintsError
            If it breaks down.
        """
        if not jobs:
            return
        if self.backend == "loky" and (self.count == 1 or len(jobs) < 2):
            for i, job in enumerate(jobs):
                with limited_threads(self.threads):
                    outcome = job.run(panel, told and _of(job, told))
                yield i, outcome
            return
        if self.backend == "loky":
            yield from self._on_this_machine(jobs, panel)
        else:
            yield from self._on_a_cluster(self.backend, jobs, panel)

    def _on_this_machine(self, jobs: Sequence[AnyJob], panel: pd.DataFrame) -> Iterator[Finished]:
        from joblib import parallel_config
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        left, threads = dict(enumerate(jobs)), self.threads or 1
        call = partial(_alone, panel=panel, threads=threads, starter=os.getpid())
        with parallel_config("loky", n_jobs=self.count, inner_max_num_threads=threads):
            try:
                for i, outcome in _parallel(left, call, self.count):
                    del left[i]
                    yield i, outcome
            except TerminatedWorkerError:
                # Whose process it was is not told: those that are left get one each.
                for i, job in left.items():
                    yield i, _apart(i, job, call)

    def _on_a_cluster(self, cluster: Cluster, jobs: Sequence[AnyJob], panel: pd.DataFrame) -> Iterator[Finished]:
        call = partial(_alone, panel=panel, threads=self.threads or 1, starter=None)
        with connected(cluster, self.count, self.address):
            try:
                yield from _parallel(dict(enumerate(jobs)), call, self.count)
            except FintsError:
                raise
            except Exception as error:
                raise lost(cluster, error) from error


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    from joblib import cpu_count

    return int(cpu_count())


def _parallel(jobs: dict[int, AnyJob], call: Call, count: int) -> Iterator[Finished]:
    """Run jobs on the configured backend."""
    from joblib import Parallel, delayed, parallel

    calls = [delayed(call)(i, job) for i, job in jobs.items()]
    if parallel.get_active_backend()[0].supports_return_generator:
        yield from Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch=2 * count)(calls)
        return
    # What such a backend hands back comes all at once; in parts, less is lost to a kill.
    with Parallel(batch_size=1) as pool:
        for first in range(0, len(calls), 2 * count):
            yield from pool(calls[first : first + 2 * count])


def _apart(number: int, job: AnyJob, call: Call) -> Outcome:
    """Run a job in a process of its own, which may die."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    try:
        ((_, outcome),) = Parallel(n_jobs=2, backend="loky")([delayed(call)(number, job)])
    except TerminatedWorkerError:
        return Outcome.failed(_DIED)
    return outcome  # type: ignore[no-any-return]


def _alone(number: int, job: AnyJob, panel: pd.DataFrame, threads: int, starter: int | None) -> Finished:
    if starter is not None:
        end_with(starter)
    with limited_threads(threads):
        return number, job.run(panel)


@cache
def end_with(starter: int) -> None:
    """End this process soon after the one that started it is gone, however that was killed."""

    def watch() -> None:
        while os.getppid() == starter:
            sleep(_EVERY)
        os._exit(1)

    Thread(target=watch, daemon=True, name="fints-end-with-starter").start()


@contextmanager
def limited_threads(number: int | None) -> Iterator[None]:
    """Give everything that multiplies matrices so many threads; None leaves all as it is."""
    if number is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    torch = sys.modules.get("torch")  # a job whose model needs it has loaded it
    before = torch.get_num_threads() if torch is not None else None
    with threadpool_limits(number):
        if torch is not None:
            torch.set_num_threads(number)
        try:
            yield
        finally:
            if torch is not None:
                torch.set_num_threads(before)


def _of(job: AnyJob, told: Callable[[AnyJob, int], None]) -> Callable[[int], None]:
    return lambda done: told(job, done)
