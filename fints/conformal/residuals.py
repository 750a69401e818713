"""Bands from a model's own past errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import SeriesError
from fints.forecast import QUANTILES

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class ResidualQuantiles:
    """Quantiles of past forecast errors, one set per step ahead.

    Adding them to a point forecast gives a forecast distribution without assuming a shape (split conformal prediction
    when the errors come from data the model was not fitted on; optimistic by the usual degrees of freedom when they
    are in-sample).

    Parameters
    ----------
    offsets : ndarray, shape (h, len(QUANTILES))
        Quantiles of ``y - forecast`` at each step, in the unit of ``y``.
    """

    offsets: NDArray[np.float64]

    @classmethod
    def from_errors(cls, errors: NDArray[np.float64], *, parameters: int = 0) -> ResidualQuantiles:
        """Measure the quantiles of past errors.

        Parameters
        ----------
        errors : ndarray, shape (n, h)
            ``y - forecast`` of n origins; NaN where the target is unknown.
        parameters : int
            Coefficients fitted on the same rows; errors are scaled by ``sqrt(n / (n - parameters))`` to undo the
            shrinkage of in-sample residuals.

        Raises
        ------
        SeriesError
            If a step has fewer than two known errors.
        """
        known = np.isfinite(errors).sum(axis=0)
        if errors.ndim != 2 or known.min(initial=len(errors)) < 2:
            raise SeriesError(
                f"bands need at least two past errors at every step; got an array of shape {errors.shape} with "
                f"{known.min(initial=0)} known errors at the poorest step. Give the model a longer history"
            )
        offsets = np.nanquantile(errors, QUANTILES, axis=0).T
        inflation = np.sqrt(known / np.maximum(known - parameters, 1))
        return cls(offsets=offsets * inflation[:, None])

    def around(self, point: NDArray[np.float64], steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Spread a point forecast into quantiles.

        Parameters
        ----------
        point : ndarray, shape (n,)
        steps : ndarray of int, shape (n,)
            Steps ahead, 1 being the first; those beyond the measured ones take the band of the last.

        Returns
        -------
        ndarray, shape (n, len(QUANTILES))
        """
        rows = np.minimum(steps, len(self.offsets)) - 1
        spread: NDArray[np.float64] = point[:, None] + self.offsets[rows]
        return spread
