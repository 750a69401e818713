"""Features of a series' own past, each known at the bar it stands on.

The row at t uses values up to and including ``y[t]``, so a model that forecasts t + 1 may read it. Spans and lags count
the rows given; a series with a gap has to decide beforehand whether the gap is a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

HAR_SPANS = (1, 5, 22)
"""A day, a week and a month of sessions: Corsi (2009), J. Financial Econometrics 7, 174-196."""

LONG_HAR_SPANS = (1, 5, 22, 63, 252)
"""The same with a quarter and a year, for series with a longer memory."""


def har_features(y: ArrayLike, spans: Sequence[int] = HAR_SPANS) -> NDArray[np.float64]:
    """Means of the last few values, the regressors of the heterogeneous autoregression.

    Parameters
    ----------
    y : array_like, shape (…, T)
        Series along the last axis.
    spans : sequence of int
        How many values each mean covers, at least 1.

    Returns
    -------
    numpy.ndarray, shape (…, T, len(spans))
        At t, the mean of ``y[t - span + 1 : t + 1]``; NaN where that reaches before the start or over a NaN.

    Raises
    ------
    ConfigError
        If a span is less than 1.
    """
    if min(spans, default=1) < 1:
        raise ConfigError(f"HAR spans {tuple(spans)} hold one below 1; give counts of bars such as {HAR_SPANS}")
    values = np.asarray(y, dtype=np.float64)
    out = np.full((*values.shape, len(spans)), np.nan)
    for column, span in enumerate(spans):
        if span <= values.shape[-1]:
            out[..., span - 1 :, column] = sliding_window_view(values, span, axis=-1).mean(axis=-1)
    return out


def lag_features(y: ArrayLike, lags: Sequence[int]) -> NDArray[np.float64]:
    """Earlier values of the series.

    Parameters
    ----------
    y : array_like, shape (…, T)
        Series along the last axis.
    lags : sequence of int
        How many rows back; 0 is the value itself.

    Returns
    -------
    numpy.ndarray, shape (…, T, len(lags))
        At t, ``y[t - lag]``; NaN where that lies before the start.

    Raises
    ------
    ConfigError
        If a lag is negative, which would read the future.
    """
    if min(lags, default=0) < 0:
        raise ConfigError(f"lags {tuple(lags)} hold a negative one, which would read the future; give 0 or more")
    values = np.asarray(y, dtype=np.float64)
    length = values.shape[-1]
    out = np.full((*values.shape, len(lags)), np.nan)
    for column, lag in enumerate(lags):
        if lag < length:
            out[..., lag:, column] = values[..., : length - lag]
    return out
