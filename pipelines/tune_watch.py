"""What is seen of a search while it runs: how far it is, and what it warns of."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from fints.backtest.pace import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipelines.progress import Stage


@contextmanager
def told_by(logger: str) -> Iterator[list[str]]:
    """Collect the warnings of a logger."""
    told: list[str] = []
    handler = _Collector(told)
    source = logging.getLogger(logger)
    source.addHandler(handler)
    try:
        yield told
    finally:
        source.removeHandler(handler)


class _Collector(logging.Handler):
    def __init__(self, told: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.told = told

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record.getMessage())


@dataclass(slots=True)
class Shown:
    """Shows trials done, the lowest error and the time left.

    Parameters
    ----------
    stage : Stage
    timeout : float, optional
        Seconds after which no trial is begun.
    """

    stage: Stage
    timeout: float | None = None
    done: int = 0
    began: float = field(default_factory=monotonic)
    seen: tuple[int, float] | None = None

    def progress(self, done: int, total: int, best: float | None) -> None:
        """Take note that so many trials are done, those of earlier runs counted."""
        now = monotonic()
        self.seen = self.seen or (done, now)
        self.done = done
        said = [f"lowest error {best:.4g}"] if best is not None else []
        left = self._left(total - done, now)
        said += [f"about {in_words(left)} left"] if left is not None and done < total else []
        self.stage(done, total, ", ".join(said))

    def _left(self, trials: int, now: float) -> float | None:
        """Return the seconds that the search still takes: as long as its trials did, and no longer than it may."""
        before, since = self.seen or (self.done, now)
        allowed = [] if self.timeout is None else [max(self.timeout - (now - self.began), 0.0)]
        expected = [] if self.done == before else [trials * (now - since) / (self.done - before)]
        return min([*allowed, *expected], default=None)
