"""Input, output and error of this process, where whoever started it closed them or stopped reading."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from pipelines.harmless import harmless

if TYPE_CHECKING:
    from typing import IO

_LAST = 2


def opened() -> None:
    """Lead to nowhere what was closed when this process began (``2>&-``).

    The next file that is opened would get its number, and what a library or a child process says would be written into
    it: into a table, or a database.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= _LAST:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 — it lasts as long as the process
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def unread(stream: IO[str]) -> None:
    """Lead to nowhere what nobody reads or takes any more; what the stream still holds goes there, too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)


def told(sentence: str) -> None:
    """Say a sentence on stderr, as far as it can be said: how a command ends does not hang on it.

    A signal may come while something is being written there, and the stream cannot be entered twice; its file can.
    """
    line = harmless(sentence)
    with contextlib.suppress(OSError):
        try:
            print(line, file=sys.stderr, flush=True)
        except RuntimeError:
            os.write(2, f"{line}\n".encode())


def emptied() -> None:
    """Write what the streams still hold; what cannot be written would else end Python with a code of its own, 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            unread(stream)
