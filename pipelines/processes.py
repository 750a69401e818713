"""Calls side by side in processes of their own, which tell of their stages while they last."""

from __future__ import annotations

import os
import pickle
import signal
from collections import deque
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from fints.backtest.workers import end_with, limited_threads
from fints.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from pipelines.progress import Stage, Stages


@dataclass(frozen=True, slots=True)
class Call:
    """A function of a module, and what to call it with; its last argument, stages to tell of, is added.

    Parameters
    ----------
    function : callable
    arguments : tuple
        Both travel by pickle, and so does what comes back.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def side_by_side(calls: Sequence[Call], count: int, threads: int, stages: Stages) -> list[Any]:
    """Make calls, so many at a time, and return what each returned, in their order.

    Parameters
    ----------
    calls : sequence of Call
    count : int
        Processes at a time; with one, or a single call, everything happens in this process.
    threads : int
        Of each call. What it computes may change with it in the last digits, and with nothing else here.
    stages : Stages
        Shows the stages of all calls.

    Raises
    ------
    ModelError
        If a process was killed.
    Exception
        Whatever a call raises first. The others are stopped.
    """
    if count == 1 or len(calls) < 2:
        return [_made(call, threads, stages) for call in calls]
    results: list[Any] = [None] * len(calls)
    for number, result in _spread(calls, count, threads, stages):
        results[number] = result
    return results


@dataclass(slots=True, eq=False)
class Relay:
    """Stages of a call in another process: hands on what they tell.

    Parameters
    ----------
    pipe : Connection
    """

    pipe: Connection

    @contextmanager
    def stage(self, name: str) -> Iterator[Callable[..., None]]:
        """Show one stage while it runs."""
        _send(self.pipe, "stage", (name,))
        yield lambda done, total, note="": _send(self.pipe, "told", (done, total, note))
        _send(self.pipe, "left", ())


@dataclass(slots=True, eq=False)
class _Running:
    """A process at work, and the stages that it is in."""

    number: int
    process: BaseProcess
    pipe: Connection
    shown: Stages
    entered: ExitStack = field(default_factory=ExitStack)
    stage: Stage | None = None

    def take(self, kind: str, said: tuple[Any, ...]) -> None:
        """Show what the process told of its stages."""
        if kind == "stage":
            self.stage = self.entered.enter_context(self.shown.stage(*said))
        elif kind == "left":
            self.entered.close()
        elif self.stage is not None:
            self.stage(*said)


def _spread(calls: Sequence[Call], count: int, threads: int, stages: Stages) -> Iterator[tuple[int, Any]]:
    """Yield number and result of every call, as they return."""
    waiting, running = deque(range(len(calls))), list[_Running]()
    try:
        while waiting or running:
            while waiting and len(running) < count:
                running.append(_start(waiting.popleft(), calls, threads, stages))
            ready = wait([each.pipe for each in running])
            for at_work in [each for each in running if each.pipe in ready]:
                kind, content = _received(at_work.pipe)
                if kind == "raised":
                    raise content
                if kind == "returned":
                    running.remove(at_work)
                    at_work.process.join()
                    yield at_work.number, content
                else:
                    at_work.take(kind, content)
    finally:
        for at_work in running:
            at_work.process.kill()
            at_work.process.join()


def _start(number: int, calls: Sequence[Call], threads: int, stages: Stages) -> _Running:
    context = get_context("spawn")  # a fork would share threads and locks of torch
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, calls[number], threads, os.getpid()))
    process.start()
    theirs.close()
    return _Running(number, process, ours, stages)


def _received(pipe: Connection) -> tuple[str, Any]:
    try:
        kind, content = pickle.loads(pipe.recv_bytes())
    except EOFError:
        raise ModelError(
            "a process of this run was killed, for want of memory perhaps; set workers.count to 1, or forecast fewer "
            "series at a time"
        ) from None
    return kind, content


def _work(pipe: Connection, call: Call, threads: int, starter: int) -> None:
    """Make a call in this process and send what comes of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of a terminal; the starting process ends this one
    end_with(starter)
    try:
        answer = ("returned", _made(call, threads, Relay(pipe)))
    except Exception as error:  # noqa: BLE001 — it is raised again where the call was asked for
        answer = ("raised", _portable(error))
    _send(pipe, *answer)
    pipe.close()


def _made(call: Call, threads: int, stages: Stages | Relay) -> object:
    import_module("torch")  # threads of what is loaded later are not limited
    with limited_threads(threads):
        return call.function(*call.arguments, stages)


def _send(pipe: Connection, kind: str, content: object) -> None:
    # Not pipe.send: it would share the memory of tensors with a process that is about to end.
    pipe.send_bytes(pickle.dumps((kind, content), pickle.HIGHEST_PROTOCOL))


def _portable(error: Exception) -> Exception:
    """Return an error that can be sent; of one that cannot, what it says."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 — whatever an error of somebody else's raises
        return ModelError(f"{type(error).__name__}: {error}")
    return error
