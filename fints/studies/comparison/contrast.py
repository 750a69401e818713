"""Two arms on one task: how many times the error of the other one has, and what may be said of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from fints.errors import ConfigError
from fints.studies.comparison.power import LEVEL, seeds_needed
from fints.studies.intervals import Interval, ratio_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Band = Literal["within", "beyond", "all"]
"""Of the horizon: up to the trained one, beyond it, or both together."""

Ruling = Literal["lower", "higher", "equal", "undecided"]
"""Of the first arm's error against the second's."""

DRAWS = 4_000

IDENTICAL = 1e-6
"""Log-ratios below this are rounding."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where two arms are compared.

    Parameters
    ----------
    task, mode : str
        Their names.
    band : {"within", "beyond", "all"}
    """

    task: str
    mode: str
    band: Band


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """The errors of two arms at one place, seed by seed.

    Parameters
    ----------
    first, second : str
        Names of the arms.
    place : Place
    logs : ndarray, shape (seeds,)
        Logarithm of the first's root mean square error less that of the second's.
    margin : float
        Differences up to this share count as none.
    smallest : float
        The smallest difference worth finding, for the number of seeds.
    p_holm : float, optional
        The p-value, corrected for all contrasts of the study.
    """

    first: str
    second: str
    place: Place
    logs: NDArray[np.float64]
    margin: float = 0.05
    smallest: float = 0.02
    p_holm: float | None = None

    def __post_init__(self) -> None:
        if self.logs.ndim != 1 or not len(self.logs):
            raise ConfigError(f"a contrast needs a row of log-ratios, one per seed; got shape {self.logs.shape}")

    @property
    def seeds(self) -> int:
        """Pairs."""
        return len(self.logs)

    @property
    def identical(self) -> bool:
        """Whether both have the same error for every seed, but for rounding."""
        return bool(np.abs(self.logs).max() < IDENTICAL)

    @property
    def times(self) -> Interval:
        """How many times the second's error the first one has: geometric mean, with Student's interval."""
        return ratio_interval(np.exp(self.logs), np.ones(self.seeds))

    @property
    def bootstrap(self) -> tuple[float, float]:
        """Ends of the 95 % percentile interval of that from resampled seeds; narrow for few of them."""
        rng = np.random.default_rng(0)
        means = self.logs[rng.integers(self.seeds, size=(DRAWS, self.seeds))].mean(axis=1)
        low, high = np.exp(np.quantile(means, [LEVEL / 2, 1 - LEVEL / 2]))
        return float(low), float(high)

    @property
    def p(self) -> float:
        """Two-sided p-value of the paired t-test that the mean log-ratio is 0; 1 where it cannot be formed."""
        from scipy.stats import t

        if self.seeds < 2 or self.identical:
            return 1.0
        spread = self.logs.std(ddof=1)
        if spread == 0:
            return 0.0
        return float(2 * t.sf(abs(self.logs.mean()) / spread * np.sqrt(self.seeds), self.seeds - 1))

    @property
    def effect(self) -> float:
        """Paired effect size d_z: mean over standard deviation of the log-ratios; NaN of a single seed."""
        if self.seeds < 2:
            return float("nan")
        if self.identical:
            return 0.0
        spread = float(self.logs.std(ddof=1))
        return float(self.logs.mean()) / spread if spread else float(np.copysign(np.inf, self.logs.mean()))

    @property
    def differs(self) -> bool:
        """Whether the difference stands after the correction for all contrasts of the study."""
        return (self.p if self.p_holm is None else self.p_holm) < LEVEL

    @property
    def equal(self) -> bool:
        """Whether the whole interval lies within the margin."""
        times = self.times
        return self.identical or (self.seeds > 1 and times.low > 1 / (1 + self.margin) and times.high < 1 + self.margin)

    @property
    def ruling(self) -> Ruling:
        """What may be said: a difference that stands; else equality within the margin; else nothing."""
        if self.differs:
            return "lower" if self.logs.mean() < 0 else "higher"
        return "equal" if self.equal else "undecided"

    def needs(self, difference: float | None = None) -> int | None:
        """Return how many seeds find a difference with a power of 80 %, before any correction.

        Parameters
        ----------
        difference : float, optional
            As a share of the error: 0.02, say. The observed one by default.

        Returns
        -------
        int or None
            None where the spread is not known (one seed), or no number of seeds is enough.
        """
        if self.seeds < 2 or (self.identical and difference is None):
            return None
        spread = float(self.logs.std(ddof=1))
        wanted = abs(float(self.logs.mean())) if difference is None else float(np.log1p(difference))
        return seeds_needed(wanted / spread if spread > IDENTICAL else np.inf)


def holm(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """Correct the p-values of all contrasts of a study for their number.

    References
    ----------
    S. Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6.
    """
    p = np.array([contrast.p for contrast in contrasts])
    order = np.argsort(p, kind="stable")
    raised = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    corrected = np.empty(len(p))
    corrected[order] = raised
    return tuple(replace(c, p_holm=float(value)) for c, value in zip(contrasts, corrected, strict=True))
