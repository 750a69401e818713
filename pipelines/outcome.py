"""How a command ends: exit codes, and errors in words."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

from fints.errors import FintsError, LockHeldError, UsageError
from pipelines.streams import told

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class Exit(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    PARTLY = 3
    ALERT = 4
    LOCKED = 75


def exit_code(error: FintsError) -> Exit:
    """Give the exit code that an error stands for."""
    match error:
        case UsageError():
            return Exit.USAGE
        case LockHeldError():
            return Exit.LOCKED
        case _:
            return Exit.FAILED


@contextmanager
def reported() -> Iterator[None]:
    """Turn an error of ours or of the machine into a line on stderr and an exit code.

    Ctrl-C, SIGTERM and the end of a terminal (SIGHUP) unwind like any exit.
    """
    with _signals_unwind():
        try:
            yield
        except FintsError as error:
            told(f"fints: {error}")
            raise SystemExit(exit_code(error)) from error
        except OSError as error:
            told(f"fints: {_of_the_machine(error)}")
            raise SystemExit(Exit.FAILED) from error


def _of_the_machine(error: OSError) -> str:
    """Say what the machine refused: a full disk, a file that may not be read, a network that is not there."""
    where = "" if error.filename is None else f"{error.filename}: "
    cure = "see to disk space and permissions, and run it again; what was committed stays"
    return f"{where}{(error.strerror or str(error)).lower()}; {cure}"


@contextmanager
def _signals_unwind() -> Iterator[None]:
    def leave(number: int, _frame: FrameType | None) -> None:
        told(f"fints: stopped by {signal.Signals(number).name}; what was committed stays")
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in _that_end()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _that_end() -> Iterator[signal.Signals]:
    yield from (signal.SIGINT, signal.SIGTERM)
    hung_up = getattr(signal, "SIGHUP", None)  # no such thing on Windows
    if hung_up is not None and signal.getsignal(hung_up) is not signal.SIG_IGN:  # nohup asks for being left alone
        yield hung_up
