"""Least squares that stays solvable when regressors are collinear or constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def least_squares(
    x: NDArray[np.float64], y: NDArray[np.float64], ridge: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Regress h right-hand sides on shared regressors.

    Parameters
    ----------
    x : ndarray, shape (n, k)
    y : ndarray, shape (n, h)
    ridge : float
        Penalty per row on the coefficients of standardised regressors; the constant is free.

    Returns
    -------
    coefficients : ndarray, shape (h, 1 + k)
        The constant first.
    residuals : ndarray, shape (n, h)
    """
    centre, spread = x.mean(axis=0), x.std(axis=0)
    varies = spread > 1e-12 * np.maximum(np.abs(centre), 1.0)
    scaled = np.where(varies, (x - centre) / np.where(varies, spread, 1.0), 0.0)
    level = y.mean(axis=0)
    gram = scaled.T @ scaled + ridge * len(x) * np.eye(x.shape[1])
    slopes = np.linalg.lstsq(gram, scaled.T @ (y - level), rcond=None)[0]
    residuals = y - level - scaled @ slopes
    slopes /= np.where(varies, spread, 1.0)[:, None]
    coefficients = np.vstack([level - centre @ slopes, slopes]).T
    return coefficients, residuals
