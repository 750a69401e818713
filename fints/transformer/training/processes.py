"""A training in several processes, one per device."""

from __future__ import annotations

import queue
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import torch
from torch import distributed
from torch.multiprocessing import get_context
from torch.multiprocessing.spawn import ProcessExitedException, ProcessRaisedException, spawn

from fints.errors import FintsError, TrainingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.queues import Queue

    from fints.transformer.training.hardware import Hardware

    Progress = Callable[[int, int], None]
    Report = tuple[int, int] | FintsError

T_co = TypeVar("T_co", covariant=True)
_POLL = 0.1


class Work(Protocol[T_co]):
    """What every process does; it has to be picklable."""

    def run(self, hardware: Hardware, progress: Progress | None) -> T_co:
        """Do it, and return what the first process shall hand back."""


def run_in_processes(work: Work[T_co], hardware: Hardware, progress: Progress | None) -> T_co:
    """Run some work once per device, and return what the first process returns.

    The processes are spawned: a script that trains on several devices needs its ``if __name__ == "__main__":``.

    Parameters
    ----------
    work : Work
    hardware : Hardware
        Of the whole, from `Hardware.chosen_by`.
    progress : callable, optional
        Called in this process with the step of the first one and the largest number of steps.

    Raises
    ------
    FintsError
        What a process raised.
    TrainingError
        If a process died.
    """
    reports = get_context("spawn").Queue()
    with tempfile.TemporaryDirectory() as folder:
        running = spawn(  # type: ignore[no-untyped-call]
            _process, args=(work, hardware, folder, reports), nprocs=hardware.world, join=False
        )
        try:
            while not running.join(timeout=_POLL):
                _pass_on(reports, progress)
        except (ProcessRaisedException, ProcessExitedException) as error:
            _pass_on(reports, progress)
            raise TrainingError(f"a process of the training failed: {error}") from error
        _pass_on(reports, progress)
        result: T_co = torch.load(Path(folder) / "result", weights_only=False)  # written by our own process
    return result


def _pass_on(reports: Queue[Report], progress: Progress | None) -> None:
    while True:
        try:
            report = reports.get(timeout=_POLL / 10)
        except queue.Empty:
            return
        if isinstance(report, FintsError):
            raise report
        if progress is not None:
            progress(*report)


def _process(rank: int, work: Work[object], hardware: Hardware, folder: str, reports: Queue[Report]) -> None:
    own = hardware.process(rank)
    if own.device.type == "cuda":
        torch.cuda.set_device(own.device)
    distributed.init_process_group(
        "nccl" if own.device.type == "cuda" else "gloo",
        init_method=(Path(folder) / "meeting").as_uri(),
        rank=rank,
        world_size=own.world,
    )
    try:
        result = work.run(own, (lambda done, most: reports.put((done, most))) if rank == 0 else None)
    except FintsError as error:
        reports.put(error)
        raise
    if rank == 0:
        torch.save(result, Path(folder) / "result")
    distributed.destroy_process_group()
