"""The workers of a search on this machine."""

from __future__ import annotations

import os
import time
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from fints.errors import FintsError, TuningError
from fints.tuning.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.process import BaseProcess

    from fints.tuning.storage import StudyStore
    from fints.tuning.tuner import Tuner
    from fints.tuning.worker import Budget

_POLL = 0.3
_PATIENCE = 30.0
"""Seconds that workers get to finish a fold once they are told to stop."""

_RESTARTS = 3
"""How often a killed worker is replaced, for each worker that was asked for."""


def work(
    tuner: Tuner, store: StudyStore, budget: Budget, workers: int, told: Callable[[], None], stop: Callable[[], bool]
) -> None:
    """Search with some workers until the budget is spent.

    Parameters
    ----------
    tuner : Tuner
    store : StudyStore
    budget : Budget
    workers : int
        One works in this process, several in processes of their own, with a thread each.
    told : callable
        Called now and then, and after each trial of a worker in this process.
    stop : callable
        True ends the search after the folds that are running.

    Raises
    ------
    TuningError
        If the workers are killed again and again.
    FintsError
        What ended a worker.
    """
    if workers == 1:
        for _ in Worker(tuner, store, budget, stop).run():
            told()
        return
    crew = _Crew(tuner, store, budget, workers)
    try:
        while crew.working():
            time.sleep(_POLL)
            told()
            if stop():
                crew.stopping.set()
    finally:
        crew.dismiss()
    told()


class _Crew:
    """Processes that work, and are replaced where they are killed."""

    def __init__(self, tuner: Tuner, store: StudyStore, budget: Budget, workers: int) -> None:
        self._context: Any = get_context("spawn")
        self.stopping, self._faults = self._context.Event(), self._context.SimpleQueue()
        self._call = (tuner, store, budget, os.getpid(), self.stopping, self._faults)
        self._left = self._restarts = _RESTARTS * workers
        self._crew = [self._hired() for _ in range(workers)]

    def working(self) -> bool:
        """Replace those that were killed, and tell whether anybody works.

        Raises
        ------
        FintsError
            What ended a worker.
        """
        killed = [each for each in self._crew if each.exitcode not in (None, 0)]
        self._crew = [each for each in self._crew if each.exitcode is None]
        if not self._faults.empty():
            raise self._faults.get()
        self._left -= len(killed)
        if self._left < 0:
            raise TuningError(
                f"workers were killed {self._restarts + 1} times, for want of memory perhaps; lower workers, or give "
                "the model less to hold"
            )
        if not self.stopping.is_set():
            self._crew += [self._hired() for _ in killed]
        return bool(self._crew)

    def dismiss(self) -> None:
        """Let workers finish their folds and give their points back; end those that do not."""
        self.stopping.set()
        until = time.monotonic() + _PATIENCE
        for process in self._crew:
            process.join(max(0.0, until - time.monotonic()))
        for process in self._crew:
            if process.is_alive():
                process.kill()
                process.join()

    def _hired(self) -> BaseProcess:
        process: BaseProcess = self._context.Process(
            target=_labour, args=self._call, daemon=True, name="fints-tune-worker"
        )
        process.start()
        return process


def _labour(
    tuner: Tuner,
    store: StudyStore,
    budget: Budget,
    starter: int,
    stopping: Any,  # noqa: ANN401  (a context's event and queue have no public type)
    faults: Any,  # noqa: ANN401
) -> None:
    """Work in a process of its own, which ends soon after the one that started it."""
    import signal

    import torch

    torch.set_num_threads(1)
    # Ctrl-C reaches the whole group; the starter says when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def stop() -> bool:
        return stopping.is_set() or os.getppid() != starter

    try:
        for _ in Worker(tuner, store, budget, stop).run():
            pass
    except FintsError as error:
        faults.put(error)
