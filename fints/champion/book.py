"""The book of decisions: lines are added at its end, and none is ever changed."""

from __future__ import annotations

import json
import logging
import os
import re
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING

from fints.champion.decision import Decision
from fints.errors import DamagedBookError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pandas as pd

LOG = logging.getLogger(__name__)

_BEGUN = re.compile(rb"\[(\{(\"[ -~]*)?)?")
"""The beginning of a line, however much of it was written: JSON of Python is printable ASCII."""


@dataclass(frozen=True, slots=True)
class Book:
    """The decisions about one target, in the order in which they were made; those made together are one line of JSON.

    A line counts once its end is written: what a killed process left of one is passed over, and cut off by the next. A
    tail that no process begins a line with is damage, such as the zeros that a loss of power leaves; so is a file of
    which no line was ever finished, an empty one too, for with it all decisions would be gone. The first line is put in
    place whole, so that no killed process leaves such a file.

    Parameters
    ----------
    file : pathlib.Path
    """

    file: Path

    def read(self, made_by: pd.Timestamp | None = None) -> tuple[Decision, ...]:
        """Return the decisions.

        Parameters
        ----------
        made_by : pandas.Timestamp, optional
            Only those made up to this instant.

        Raises
        ------
        DamagedBookError
            If the file, or a line, cannot be read; other than a last one that was begun and not finished.
        """
        lines = enumerate(self._content().split(b"\n"), 1)
        found = [decision for number, line in lines if line.strip() for decision in self._decisions(line, number)]
        return tuple(decision for decision in found if made_by is None or decision.made_at <= made_by)

    def append(self, decisions: Iterable[Decision]) -> None:
        """Add decisions, all of them or none; the caller holds the home.

        Raises
        ------
        DamagedBookError
            If the file cannot be read.
        OSError
            If the disk is full, or cannot be written: the book stays as it was.
        """
        together = [one.to_plain() for one in decisions]
        if not together:
            return
        line = (json.dumps(together, allow_nan=False) + "\n").encode()
        self.file.parent.mkdir(parents=True, exist_ok=True)
        size = len(self._content())
        if not self.file.exists():
            self._begin(line)
            return
        with self.file.open("ab", buffering=0) as file:
            file.truncate(size)
            try:
                written = file.write(line)
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
            if written < len(line):
                file.truncate(size)
                raise OSError(f"the disk has no room for {len(line)} bytes in {self.file}; make room and run again")

    def _begin(self, line: bytes) -> None:
        """Put the first line in place whole: a book without a finished line is damage, and no process leaves one."""
        draft = self.file.with_name(f".draft-{token_hex(8)}")
        try:
            with draft.open("xb") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.file)
        except OSError as error:
            if error.filename is None:
                error.filename = str(self.file)  # the system does not say which file a full disk cut short
            raise
        finally:
            draft.unlink(missing_ok=True)

    def _content(self) -> bytes:
        """Return the finished lines."""
        try:
            content = self.file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):  # a home that is no folder has no book, either
            return b""
        except OSError as error:
            raise DamagedBookError(self.file, 0, error.strerror or str(error)) from error
        size = content.rfind(b"\n") + 1
        tail = content[size:]
        if not size or (tail and not _BEGUN.fullmatch(tail)):
            cause = "it ends in what is not the beginning of a decision" if size else "no line of it was finished"
            raise DamagedBookError(self.file, content.count(b"\n") + 1, cause)
        if tail:
            LOG.warning("the last line of %s was not finished; it is passed over", self.file)
        return content[:size]

    def _decisions(self, line: bytes, number: int) -> list[Decision]:
        try:
            return [Decision.from_plain(plain) for plain in json.loads(line)]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DamagedBookError(self.file, number, f"{type(error).__name__}: {error}") from error
