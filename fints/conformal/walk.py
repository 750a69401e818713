"""A stretch of past forecasts, banded as a run of nights would have banded them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.conformal.adaptive import AdaptiveBands
from fints.conformal.bands import BLOCKS, Bands, calibrate
from fints.errors import SeriesError
from fints.forecast import KEYS, QUANTILE_COLUMNS, Forecast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.conformal.adaptive import Pace


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """Past forecasts with bands, and the bands at their end.

    Parameters
    ----------
    rows : pandas.DataFrame
        The forecasts, corrected.
    bands : AdaptiveBands
        Calibrated on all of them, moved by all that came.
    """

    rows: pd.DataFrame
    bands: AdaptiveBands


def walk(frame: pd.DataFrame, pace: Pace | None, level: Sequence[float] = (80, 95)) -> Walked:
    """Correct the quantiles of past forecasts without letting any profit from what it forecast.

    Each block of time is calibrated on the other blocks. On top of that, adaptive bands move with what was known at
    each cutoff, and with nothing later.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``unique_id, cutoff, ds, step, y, mean`` and the quantile columns: forecasts of one model, before any
        correction, by a model that was not fitted on these ``y``.
    pace : Pace, optional
        How fast bands follow; None keeps them where the calibration left them.
    level : sequence of float
        Bands in percent that are asked for.

    Returns
    -------
    Walked
        Rows in the order of `frame`.

    Raises
    ------
    SeriesError
        If there are too few errors to calibrate on at all.

    Warns
    -----
    UserWarning
        If a band of `level` needs more errors than there are: it then reaches to the largest error seen.
    """
    bands = _made(calibrate(frame, level=level), pace)
    cutoffs = np.sort(frame["cutoff"].unique())
    parts = []
    for own in np.array_split(cutoffs, min(BLOCKS, len(cutoffs))):
        # from the beginning for every block: bands that had moved on another calibration have seen this block
        moving = _made(_without(frame[~frame["cutoff"].isin(own)]), pace)
        for cutoff in own:
            if pace is not None:
                moving = moving.update(frame[(frame["cutoff"] < cutoff) & (frame["ds"] <= cutoff)])
            parts.append(_corrected(frame[frame["cutoff"] == cutoff], moving))
    rows = frame.copy()
    rows[list(QUANTILE_COLUMNS)] = pd.concat(parts).loc[frame.index]
    return Walked(rows, bands if pace is None else bands.update(frame))


def _made(base: Bands, pace: Pace | None) -> AdaptiveBands:
    return AdaptiveBands(base) if pace is None else AdaptiveBands(base, pace)


def _without(others: pd.DataFrame) -> Bands:
    """Calibrate on the other blocks of time; where they are too few, leave the quantiles as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the whole stretch has said what is missing
        try:
            return calibrate(others, level=())
        except SeriesError:
            return Bands.none()


def _corrected(rows: pd.DataFrame, bands: AdaptiveBands) -> pd.DataFrame:
    stated = Forecast(rows[list(KEYS)], rows["mean"].to_numpy(float), rows[list(QUANTILE_COLUMNS)].to_numpy(float))
    return pd.DataFrame(bands.apply(stated).quantiles, rows.index, list(QUANTILE_COLUMNS))
