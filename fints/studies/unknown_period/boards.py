"""The scores of one task, by encoding and by what it was told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.studies.unknown_period.arms import CYCLE, LEARNED, ROPE, T_ROPE
from fints.studies.unknown_period.tellings import KNOWN, WRONG, Telling
from fints.studies.unknown_period.theory import expected_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fints.studies.intervals import Interval
    from fints.studies.planted import PlantedCycles
    from fints.studies.protocol import Protocol
    from fints.studies.scores import Score
    from fints.studies.unknown_period.arms import Arm

SECONDS_PER_BAR = 86_400.0

FARTHEST, POINTS = 0.5, 5001
"""Where `Board.useful` looks."""


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """What was found on one task.

    Parameters
    ----------
    task : PlantedCycles
    how : Protocol
    detected : ndarray, shape (seeds,)
        Period that was detected, in bars.
    scores : tuple of Score
    learned : mapping
        By arm, for those that learn: the periods after training, shape (seeds, frequencies), in bars.
    """

    task: PlantedCycles
    how: Protocol
    detected: NDArray[np.float64]
    scores: tuple[Score[Arm], ...]
    learned: Mapping[Arm, NDArray[np.float64]]

    @property
    def period(self) -> float:
        """The true period in bars."""
        return self.task.periods[0]

    @property
    def scale(self) -> float:
        """Standard deviation of the signal over whole cycles: the error of whoever forecasts its mean."""
        return float(self.task.amplitudes[0] / np.sqrt(2))

    @property
    def encodings(self) -> tuple[str, ...]:
        """Encodings that were told a period, in the order of the tables."""
        return tuple(dict.fromkeys(score.arm.encoding for score in self.scores if score.arm.encoding != ROPE))

    @property
    def tellings(self) -> tuple[Telling, ...]:
        """What they were told, in the order of the tables."""
        return tuple(dict.fromkeys(score.arm.telling for score in self.scores))

    @property
    def wrong(self) -> tuple[Telling, ...]:
        """Those of the tellings that are wrong by intent, in the order of the period."""
        return tuple(telling for telling in WRONG if telling in self.tellings)

    def wrong_of(self, encoding: str) -> tuple[Telling, ...]:
        """Those of `wrong` that an encoding was told."""
        return tuple(telling for telling in self.wrong if self.has(encoding, telling))

    def has(self, encoding: str, telling: Telling) -> bool:
        """Tell whether an encoding was told so."""
        return any(score.arm.encoding == encoding and score.arm.telling == telling for score in self.scores)

    @property
    def rope(self) -> Score[Arm]:
        """The reference that needs no period."""
        return next(score for score in self.scores if score.arm.encoding == ROPE)

    def score(self, encoding: str, telling: Telling = KNOWN) -> Score[Arm]:
        """Return the score of an encoding that was told so."""
        return next(s for s in self.scores if s.arm.encoding == encoding and s.arm.telling == telling)

    def against_known(self, encoding: str, telling: Telling) -> Interval:
        """Return how many times the error with the true period this one is, seed by seed."""
        return self.score(encoding, telling).times(self.score(encoding))

    def offsets(self, telling: Telling) -> NDArray[np.float64]:
        """Return the relative error of what was told, by seed."""
        return np.array([telling.period(self.period, each) for each in self.detected]) / self.period - 1

    def expected(self, telling: Telling) -> float:
        """Return the RMSE that theory expects of `CYCLE`, mean over seeds; see `expected_at`."""
        return float(np.mean([self.expected_at(off) for off in self.offsets(telling)]))

    def expected_at(self, off: float) -> float:
        """Return the RMSE that theory expects of a relative error.

        Squares add up: the error that `CYCLE` makes with the true period, and that of the phase.
        """
        wave = self.wave(off)
        return float(np.hypot(self.score(CYCLE).rmse.mean, np.sqrt((wave**2).mean())))

    def wave(self, off: float) -> NDArray[np.float64]:
        """Return the error by step that the phase alone makes, shape (steps,)."""
        amplitude = self.task.amplitudes[0]
        return amplitude * expected_errors(self.period, self.period * (1 + off), self.how.h, self.how.beyond)

    def useful(self) -> float:
        """Return the relative error, T being too long, from which on theory expects more than `scale`."""
        offs = np.linspace(0.0, FARTHEST, POINTS)
        above = np.array([self.expected_at(off) for off in offs]) > self.scale
        return float(offs[above.argmax()]) if above.any() else np.inf

    def left(self, telling: Telling) -> NDArray[np.float64]:
        """Return the relative error of the period after `LEARNED` has learned it, by seed."""
        arm = self.score(LEARNED, telling).arm
        return self.learned[arm][:, 0] / self.period - 1

    def moved(self) -> float:
        """Return the largest relative change of a period that `T_ROPE` has learned, over everything it was told."""
        told = {arm: np.array([arm.told(self.task, each) for each in self.detected]) for arm in self.learned}
        return max(
            float(np.abs(periods / told[arm][:, None] - 1).max())
            for arm, periods in self.learned.items()
            if arm.encoding == T_ROPE
        )

    def crossing(self, encoding: str) -> tuple[float | None, float | None]:
        """Return the relative errors of T, too short and too long, from which on the mean error exceeds that of `ROPE`.

        Between what was tried it is interpolated; None where the largest error that was tried is not enough.
        """
        sides = []
        for sign in (-1, 1):
            offs = [0.0, *sorted(abs(t.off) for t in self.wrong if sign * t.off > 0)]
            tellings = [KNOWN, *(next(t for t in self.wrong if t.off == sign * off) for off in offs[1:])]
            errors = [self.score(encoding, telling).rmse.mean for telling in tellings]
            sides.append(_first_above(offs, errors, self.rope.rmse.mean))
        return sides[0], sides[1]


def learned_periods(arm: Arm, frequencies: Sequence[Mapping[str, list[float]]]) -> NDArray[np.float64]:
    """Turn what trials learned into periods in bars, shape (seeds, frequencies).

    Parameters
    ----------
    arm : Arm
    frequencies : sequence of mapping
        ``learned`` of `fints.studies.trial.Trial.run`, by seed.
    """
    per_bar = SECONDS_PER_BAR if arm.encoding == T_ROPE else 1.0
    rows = [[1 / (per_bar * each) for values in one.values() for each in values] for one in frequencies]
    return np.array(rows)


def _first_above(offs: list[float], errors: list[float], level: float) -> float | None:
    if errors[0] > level:
        return 0.0
    for (a, low), (b, high) in zip(
        zip(offs, errors, strict=True), zip(offs[1:], errors[1:], strict=False), strict=False
    ):
        if high > level:
            return a + (b - a) * (level - low) / (high - low)
    return None
