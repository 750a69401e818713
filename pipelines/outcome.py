"""How a command ends: exit codes, and errors in words."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

from fints.errors import FintsError, LockHeldError, UsageError
from pipelines.harmless import harmless

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

    Ctrl-C and SIGTERM unwind like any exit.
    """
    with _signals_unwind():
        try:
            yield
        except FintsError as error:
            print(f"fints: {harmless(str(error))}", file=sys.stderr)
            raise SystemExit(exit_code(error)) from error
        except OSError as error:
            print(f"fints: {harmless(_of_the_machine(error))}", file=sys.stderr)
            raise SystemExit(Exit.FAILED) from error


def _of_the_machine(error: OSError) -> str:
    """Say what the machine refused: a full disk, a file that may not be read, a network that is not there."""
    where = "" if error.filename is None else f"{error.filename}: "
    cure = "see to disk space and permissions, and run it again; what was committed stays"
    return f"{where}{(error.strerror or str(error)).lower()}; {cure}"


@contextmanager
def _signals_unwind() -> Iterator[None]:
    def leave(number: int, _frame: FrameType | None) -> None:
        print(f"fints: stopped by {signal.Signals(number).name}; what was committed stays", file=sys.stderr)
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
