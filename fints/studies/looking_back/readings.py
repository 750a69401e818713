"""How high attention stands at a distance over what is around it, seed by seed, and what may be said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fints.studies.comparison import Contrast, Place
from fints.studies.comparison.contrast import holm
from fints.studies.looking_back.tasks import ruler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.studies.comparison import Results
    from fints.studies.looking_back.distance import Peak

    FloatArray = NDArray[np.float64]

LEAST = 1e-6
"""Heights below this are written as this: attention that is none."""


def attention(
    results: Results, arm: str, task: str, mode: str, when: Literal["attention", "before"] = "attention"
) -> FloatArray:
    """Return attention per bar by distance, after or before training, shape (seeds, layers, heads, reach + 1)."""
    return np.array([unit[when] for unit in results.units[task, mode, arm]], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Height:
    """The height of a peak with an arm, or that with one arm over that with another.

    Parameters
    ----------
    peak : Peak
    contrast : Contrast
        Its ``first`` is the arm, its ``second`` the other arm, or the name of the peak; its logarithms are those of
        heights, averaged over layers and heads first.
    """

    peak: Peak
    contrast: Contrast

    @property
    def looked_at(self) -> bool:
        """Whether more attention falls there than around, after the correction for all readings."""
        return self.contrast.ruling == "higher"


def heights(results: Results, arm: str, task: str, mode: str, peak: Peak) -> FloatArray:
    """Return the height of a peak in the attention of all layers and heads together, shape (seeds,)."""
    mean = attention(results, arm, task, mode).mean(axis=(1, 2))
    return np.array([max(LEAST, peak.height(profile)) for profile in mean])


def read(results: Results, differences: Sequence[tuple[str, str]]) -> tuple[Height, ...]:
    """Read every peak with every arm, and compare some arms.

    Parameters
    ----------
    results : Results
    differences : sequence of (str, str)
        Names of arms whose heights are compared, wherever both were run.

    Returns
    -------
    tuple of Height
        With p-values that are corrected after Holm for all of them.
    """
    peaks, contrasts = [], []
    for task, mode in dict.fromkeys((task, mode) for task, mode, _ in results.units):
        arms = [arm for arm in results.arms if results.has(arm, task, mode)]
        for peak in ruler(results.tasks[task]).peaks:
            logs = {arm: np.log(heights(results, arm, task, mode, peak)) for arm in arms}
            place = Place(task, mode, "all")
            contrasts += [Contrast(arm, peak.name, place, logs[arm], results.margin, results.smallest) for arm in arms]
            pairs = [pair for pair in differences if set(pair) <= set(arms)]
            contrasts += [Contrast(a, b, place, logs[a] - logs[b], results.margin, results.smallest) for a, b in pairs]
            peaks += [peak] * (len(arms) + len(pairs))
    return tuple(Height(peak, contrast) for peak, contrast in zip(peaks, holm(contrasts), strict=True))
