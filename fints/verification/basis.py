"""On which basis of shares forecasts were made, against the one that the bars of their series stand on now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fints.verification.promise import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.verification.promise import Promise

    Night = tuple[pd.Timestamp, pd.Timestamp]

_SAME, _LEAST = 2e-3, 3
"""Logarithms this near are one factor, of so many bars at least."""

_FORECAST = ["as_of", "created_at", "unique_id"]
"""By which one set of forecasts of a night and series is known."""


def shifts(
    forecasts: pd.DataFrame, target: str, values: pd.DataFrame, promises: Mapping[Night, Promise]
) -> NDArray[np.float64]:
    """Say how much higher the present values of a series stand than those of the night that forecast it.

    That is the factor, as a logarithm, that most bars before the night agree on. Bars that were corrected one by one
    are the truth about themselves.

    Parameters
    ----------
    forecasts : pandas.DataFrame
        ``as_of, created_at, unique_id`` of forecasts of one target.
    target : str
    values : pandas.DataFrame
        ``unique_id, ds, y``: those of now.
    promises : mapping of (as_of, made_at) to Promise
        Of that target.

    Returns
    -------
    numpy.ndarray, shape (rows,)
        To be added to what was forecast. 0 for targets that no basis moves, and where the basis is the same; NaN where
        nobody knows: no promise of the forecasts is on record, or too few of the bars that it names are there.
    """
    if target not in LEVELS:
        return np.zeros(len(forecasts))
    moved = _anchors(promises).merge(values, on=["unique_id", "ds"], how="left")
    moved["moved"] = moved["y"] - moved["then"]
    grouped = moved.groupby(_FORECAST, sort=False)["moved"]
    moved["agreed"] = (moved["moved"] - grouped.transform("median")).abs() < _SAME
    table = grouped.agg(["median", "count", "size"])
    agreed = 2 * moved.groupby(_FORECAST, sort=False)["agreed"].sum() > table["count"]
    known = table["count"] >= np.minimum(_LEAST, table["size"])
    shift = table["median"].where(agreed & (table["median"].abs() > _SAME), 0.0).where(known)
    found = forecasts[_FORECAST].merge(shift.rename("shift").reset_index(), on=_FORECAST, how="left")["shift"]
    return found.to_numpy(float)


def _anchors(promises: Mapping[Night, Promise]) -> pd.DataFrame:
    """Return the last values that each night knew: ``as_of, created_at, unique_id, ds, then``."""
    lines = [
        (as_of, made_at, name, stamp, value)
        for (as_of, made_at), promise in promises.items()
        for name, values in promise.anchors.items()
        for stamp, value in values.items()
    ]
    frame = pd.DataFrame(lines, columns=[*_FORECAST, "ds", "then"])
    types: dict[str, Any] = {
        "as_of": "datetime64[ns]",
        "ds": "datetime64[ns]",
        "created_at": "datetime64[ns, UTC]",
        "then": float,
    }
    return frame.astype({**types, "unique_id": "str"})
