"""How long a comparison has still to go, judged by the jobs that are done."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a comparison is.

    Parameters
    ----------
    done, total : int
        Jobs.
    reused : int
        Of those done, the ones that an earlier run had finished.
    seconds : float, optional
        Still to go; None while no job has been seen to finish.
    least : bool
        Whether it may well be more, because there is a model of which no job has finished.
    """

    done: int
    total: int
    reused: int = 0
    seconds: float | None = None
    least: bool = False

    def __str__(self) -> str:
        if self.done == self.total or self.seconds is None:
            return ""
        return f"{'at least' if self.least else 'about'} {in_words(self.seconds)} left"


@dataclass(slots=True)
class Pace:
    """Seconds of the finished jobs of each model, and what they say of those that wait.

    Parameters
    ----------
    waiting : Counter of str
        Jobs of each model that are not done, each counted by its windows.
    workers : int
        Jobs at a time.
    """

    waiting: Counter[str]
    workers: int = 1
    seen: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Iterable[str], workers: int = 1) -> Pace:
        """Begin with the model of every job."""
        return cls(Counter(names), workers)

    def finish(self, name: str, seconds: float | None) -> None:
        """Take note of a finished job; None where its time says nothing, as that of one that failed."""
        self.waiting[name] -= 1
        if seconds is not None:
            self.seen.setdefault(name, []).append(seconds)

    def left(self) -> tuple[float | None, bool]:
        """Return the seconds still to go, and whether they are a lower bound.

        A job takes as long as the finished ones of its model on average; where there is none, as long as any. The
        whole takes no less than its longest job.
        """
        names = [name for name, count in self.waiting.items() if count > 0]
        if not names:
            return 0.0, False
        if not self.seen:
            return None, True
        anyone = fmean(seconds for of_model in self.seen.values() for seconds in of_model)
        expected = {name: fmean(self.seen[name]) if name in self.seen else anyone for name in names}
        shared = sum(self.waiting[name] * expected[name] for name in names) / self.workers
        return max(shared, *expected.values()), any(name not in self.seen for name in names)


def in_words(seconds: float) -> str:
    """Say a span of time as roughly as an estimate deserves: ``20 s``, ``4 min``, ``2.5 h``."""
    if seconds < 60:
        return f"{max(round(seconds), 1)} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
