"""Where jobs are run: in this process, in several, or on a cluster."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any, Literal, get_args

from fints.backtest.jobs import Outcome
from fints.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    import pandas as pd

    from fints.backtest.jobs import Job
    from fints.backtest.kept_job import KeptJob

    AnyJob = Job | KeptJob
    Finished = tuple[int, Outcome]
    Call = Callable[[int, AnyJob], Finished]

Backend = Literal["loky", "ray", "dask", "spark"]

_NEEDS = {"ray": ("ray",), "dask": ("dask", "distributed"), "spark": ("joblibspark", "pyspark")}
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
        Of a running Ray or Dask cluster; by default one is started on this machine. A Spark session is found or made
        by Spark itself.

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
        for module in _NEEDS.get(self.backend, ()):
            _require(module, self.backend)

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
        """
        if self.backend == "loky" and (self.count == 1 or len(jobs) < 2):
            for i, job in enumerate(jobs):
                with _threads(self.threads):
                    outcome = job.run(panel, told and _of(job, told))
                yield i, outcome
            return
        with self._configured():
            yield from self._spread(jobs, panel)

    def _spread(self, jobs: Sequence[AnyJob], panel: pd.DataFrame) -> Iterator[Finished]:
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        left = dict(enumerate(jobs))
        starter = os.getpid() if self.backend == "loky" else None
        call = partial(_alone, panel=panel, threads=self.threads or 1, starter=starter)
        try:
            for i, outcome in _parallel(left, call, self.count):
                del left[i]
                yield i, outcome
        except TerminatedWorkerError:
            # Whose process it was is not told: those that are left get one each.
            for i, job in left.items():
                yield i, _apart(i, job, call)

    @contextmanager
    def _configured(self) -> Iterator[None]:
        """Make the backend the one that joblib uses."""
        from joblib import parallel_config

        match self.backend:
            case "loky":
                with parallel_config("loky", n_jobs=self.count, inner_max_num_threads=self.threads or 1):
                    yield
            case "ray":
                with _ray(self.count, self.address), parallel_config("ray", n_jobs=self.count):
                    yield
            case "dask":
                with _dask(self.count, self.address), parallel_config("dask", n_jobs=self.count):
                    yield
            case "spark":
                _require("joblibspark", "spark").register_spark()
                with parallel_config("spark", n_jobs=self.count):
                    yield


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
        _end_with(starter)
    with _threads(threads):
        return number, job.run(panel)


@cache
def _end_with(starter: int) -> None:
    """End this process soon after the one that started it is gone, however that was killed."""

    def watch() -> None:
        while os.getppid() == starter:
            sleep(_EVERY)
        os._exit(1)

    Thread(target=watch, daemon=True, name="fints-end-with-starter").start()


@contextmanager
def _threads(number: int | None) -> Iterator[None]:
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


@contextmanager
def _ray(count: int, address: str | None) -> Iterator[None]:
    ray = _require("ray", "ray")
    from ray.util.joblib import register_ray

    ours = not ray.is_initialized()
    if ours:
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        alone: dict[str, Any] = {} if address else {"num_cpus": count, "include_dashboard": False}
        ray.init(address=address, log_to_driver=False, logging_level="warning", **alone)
    register_ray()
    try:
        yield
    finally:
        if ours:
            ray.shutdown()


@contextmanager
def _dask(count: int, address: str | None) -> Iterator[None]:
    distributed = _require("distributed", "dask")
    alone: dict[str, Any] = {"n_workers": count, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(address) if address else distributed.Client(**alone):
        yield


def _require(module: str, extra: str) -> ModuleType:
    """Import a package that an extra installs."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"the backend {extra!r} needs the package {module}, which is not installed: pip install 'fints[{extra}]'"
        ) from error
