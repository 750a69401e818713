"""Cycles planted in noise with memory, and how well a detector's answers match them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.periods.days import density, noise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from benchmarks.periods.days import Days

    FloatArray = NDArray[np.float64]

SHORTEST, LONGEST = 4.5, 120.0
MOST = 3
_APART = 1.3
_RELATIVE = 0.05
_ROUNDING = 0.5
_MULTIPLES = (2, 3)


@dataclass(frozen=True)
class Planted:
    """A series and the truth.

    Parameters
    ----------
    y : numpy.ndarray, shape (n,)
    days : Days
    periods : tuple of float
        In sessions; of a cycle on the calendar clock, at the mean rate.
    clocks : tuple of str
        Where each is periodic.
    """

    y: FloatArray
    days: Days
    periods: tuple[float, ...]
    clocks: tuple[str, ...]

    @classmethod
    def draw(cls, days: Days, coefficient: float, decibel: float | None, rng: np.random.Generator) -> Planted:
        """Plant one to three cycles in AR(1) noise; none if there is no signal-to-noise ratio.

        Their power is so many decibels over the density of the noise at their frequency, in sessions: n / 2 times that
        ratio is the height of their peak over the level of the noise.
        """
        n = len(days.dates)
        y = noise(str(coefficient), n, rng)
        if decibel is None:
            return cls(y, days, (), ())
        periods = _draw_periods(int(rng.integers(1, MOST + 1)), rng)
        clocks = tuple(str(c) for c in rng.choice(["session", "calendar"], size=len(periods)))
        for period, clock in zip(periods, clocks, strict=True):
            amplitude = np.sqrt(2 * 10 ** (decibel / 10) * density(coefficient, 1 / period))
            turns = days.place(clock) * (days.rate if clock == "calendar" else 1.0) / period
            y = y + amplitude * np.cos(2 * np.pi * turns + rng.uniform(-np.pi, np.pi))
        return cls(y, days, periods, clocks)


@dataclass(frozen=True)
class Score:
    """Answers of a detector beside what was planted, over many series.

    Parameters
    ----------
    planted, hit : int
        Cycles, and those that an answer matched.
    answers, right : int
        Answers, and those that matched a cycle.
    errors : tuple of float
        Of the frequency of the matches, in Fourier bins (1 / n).
    """

    planted: int
    hit: int
    answers: int
    right: int
    errors: tuple[float, ...]

    @classmethod
    def of(cls, truth: Planted, answers: Iterable[float]) -> Score:
        """Match answers, periods in sessions, to the truth.

        One matches a cycle within 5 % of its period, or where rounding would make it the same whole number. One at
        twice or three times a planted period is neither right nor wrong.
        """
        given = list(answers)
        right = [answer for answer in given if any(_matches(answer, period) for period in truth.periods)]
        nearest = [min(right, key=lambda a, p=period: abs(a / p - 1), default=np.inf) for period in truth.periods]  # type: ignore[misc]
        pairs = [(a, p) for a, p in zip(nearest, truth.periods, strict=True) if _matches(a, p)]
        counted = [a for a in given if a in right or not _is_multiple(a, truth.periods)]
        bins = tuple(abs(1 / a - 1 / p) * len(truth.y) for a, p in pairs)
        return cls(len(truth.periods), len(pairs), len(counted), len(right), bins)

    @classmethod
    def total(cls, scores: Sequence[Score]) -> Score:
        """Add up."""
        return cls(
            sum(s.planted for s in scores),
            sum(s.hit for s in scores),
            sum(s.answers for s in scores),
            sum(s.right for s in scores),
            tuple(error for s in scores for error in s.errors),
        )


def _draw_periods(count: int, rng: np.random.Generator) -> tuple[float, ...]:
    """Draw periods uniform in logarithm, far enough apart for no answer to match two."""
    while True:
        drawn = np.sort(np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST), count)))
        if np.all(drawn[1:] / drawn[:-1] > _APART):
            return tuple(drawn.tolist())


def _matches(answer: float, period: float) -> bool:
    return abs(answer - period) <= max(_RELATIVE * period, _ROUNDING)


def _is_multiple(answer: float, periods: Sequence[float]) -> bool:
    return any(_matches(answer, number * period) for number in _MULTIPLES for period in periods)
