"""The book of decisions: lines are added at its end, and none is ever changed."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.champion.decision import Decision
from fints.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pandas as pd

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Book:
    """The decisions about one target, in the order in which they were made; those made together are one line of JSON.

    A line counts once its end is written: what a killed process left of one is passed over, and cut off by the next.

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
        StoreError
            If a line other than an unfinished last one cannot be read.
        """
        whole, _ = self._content()
        lines = enumerate(whole.splitlines(), 1)
        found = [decision for number, line in lines for decision in self._decisions(line, number)]
        return tuple(decision for decision in found if made_by is None or decision.made_at <= made_by)

    def append(self, decisions: Iterable[Decision]) -> None:
        """Add decisions, all of them or none; the caller holds the home.

        Raises
        ------
        OSError
            If the disk is full, or cannot be written: the book stays as it was.
        """
        together = [one.to_plain() for one in decisions]
        if not together:
            return
        line = (json.dumps(together, allow_nan=False) + "\n").encode()
        self.file.parent.mkdir(parents=True, exist_ok=True)
        _, size = self._content()
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

    def _content(self) -> tuple[str, int]:
        """Return the finished lines, and how many bytes they are."""
        try:
            content = self.file.read_bytes()
        except FileNotFoundError:
            return "", 0
        size = content.rfind(b"\n") + 1
        if size < len(content):
            LOG.warning("the last line of %s was not finished; it is passed over", self.file)
        try:
            return content[:size].decode("utf-8"), size
        except UnicodeDecodeError as error:
            raise StoreError(self._damaged("it is no text")) from error

    def _decisions(self, line: str, number: int) -> list[Decision]:
        try:
            return [Decision.from_plain(plain) for plain in json.loads(line)]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(self._damaged(f"line {number} cannot be read ({error!r})")) from error

    def _damaged(self, what: str) -> str:
        return (
            f"the book of decisions {self.file} is damaged: {what}; mend that line, or move the file away, and the "
            "next night starts with a provisional model"
        )
