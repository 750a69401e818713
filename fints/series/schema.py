"""The schema of a panel, and the checks that bring a frame to it.

Columns: ``unique_id`` str, ``ds`` naive datetime64[ns] (session date of a daily bar, exchange-local start
of an intraday bar), ``y`` float64, ``exchange`` str, ``interval`` str, then float64 ``cal_*`` (calendar facts, known
for the future) and ``past_*`` (companions, known up to their own bar; NaN where they are undefined). Rows are sorted by
``unique_id, ds``, and that pair is unique. A session without a row is a gap: places on the clocks come from ``ds``,
never from row numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import SchemaError
from fints.series.covariates import CALENDAR_PREFIX, PAST_PREFIX
from fints.series.grid import located
from fints.series.rows import named_dates

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEY = ["unique_id", "ds"]
_STAMP = np.dtype("datetime64[ns]")
PANEL_COLUMNS = ("unique_id", "ds", "y", "exchange", "interval")


def validate_panel(panel: pd.DataFrame, exchange: str = "XNYS", interval: str = "1d") -> pd.DataFrame:
    """Check a panel and bring it to its schema.

    Parameters
    ----------
    panel : pandas.DataFrame
        At least ``unique_id, ds, y``. ``y`` may hold NaN and infinities; see :func:`usable`.
    exchange, interval : str
        What the series are where the panel has no columns of these names.

    Returns
    -------
    pandas.DataFrame
        A copy with every column of the schema, dtypes normalised, sorted by ``unique_id, ds``.

    Raises
    ------
    SchemaError
        If a column is missing, unknown or of the wrong type, intervals are mixed, or a row appears twice.
    SeriesError
        If a ``ds`` is no session of its exchange, or lies in none.
    """
    _require_columns(panel)
    # a large panel is checked many times in a night: what is as it should be is not copied again
    stamps = _stamps(panel["ds"])
    exact = stamps if stamps.dtype == _STAMP else pd.DatetimeIndex(stamps).as_unit("ns")
    frame = panel.assign(ds=exact, unique_id=panel["unique_id"].astype(str))
    for column, value in (("exchange", exchange), ("interval", interval)):
        frame[column] = frame[column].astype(str) if column in panel.columns else value
    numeric = ["y", *(name for name in panel.columns if str(name).startswith((CALENDAR_PREFIX, PAST_PREFIX)))]
    for column in numeric:
        if panel[column].dtype != np.float64:
            frame[column] = _floats(panel[column])
    require_one_interval(frame["interval"])
    frame = in_order(frame)
    require_unique(frame)
    located(frame)
    columns = [*PANEL_COLUMNS, *(c for p in (CALENDAR_PREFIX, PAST_PREFIX) for c in numeric if c.startswith(p))]
    return frame if list(frame.columns) == columns else frame[columns]


def _require_columns(panel: pd.DataFrame) -> None:
    missing = [column for column in ("unique_id", "ds", "y") if column not in panel.columns]
    if missing:
        raise SchemaError(f"the panel lacks {', '.join(missing)}; it needs unique_id, ds and y (see fints.make_panel)")
    odd = [
        str(c)
        for c in panel.columns
        if c not in PANEL_COLUMNS and not str(c).startswith((CALENDAR_PREFIX, PAST_PREFIX))
    ]
    if odd:
        raise SchemaError(
            f"the panel has columns of unknown meaning: {', '.join(odd)}; rename them cal_… if their future is known, "
            "past_… if only their past is, or drop them"
        )
    if panel.empty:
        raise SchemaError("the panel has no rows; give at least one series")


def _stamps(ds: pd.Series) -> pd.Series:
    if not pd.api.types.is_datetime64_any_dtype(ds):
        try:
            ds = pd.to_datetime(ds)
        except (ValueError, TypeError) as error:
            raise SchemaError(f"ds holds no dates ({error}); give naive datetimes") from error
    if isinstance(ds.dtype, pd.DatetimeTZDtype):
        raise SchemaError("ds carries a time zone; give session dates, or exchange-local times without a zone")
    if ds.isna().any():
        raise SchemaError(f"ds is missing in row {int(ds.isna().to_numpy().argmax())}; remove the row")
    return ds


def _floats(column: pd.Series) -> NDArray[np.float64]:
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError) as error:
        raise SchemaError(f"column {column.name} holds something that is no number ({error}); convert it") from error


def require_one_interval(interval: pd.Series) -> None:
    """Refuse bars of several intervals.

    Raises
    ------
    SchemaError
        Naming the intervals.
    """
    found = sorted(map(str, interval.unique()))
    if len(found) > 1:
        raise SchemaError(f"intervals are mixed ({', '.join(found)}); a panel holds one: select it first")


def require_unique(frame: pd.DataFrame) -> None:
    """Refuse a row that is there twice, and a series on two exchanges.

    Parameters
    ----------
    frame : pandas.DataFrame
        Sorted by ``unique_id, ds``, so that what is there twice stands side by side.

    Raises
    ------
    SchemaError
        Naming the series, and the row.
    """
    number, _ = pd.factorize(frame["unique_id"])
    exchange, _ = pd.factorize(frame["exchange"])
    own = np.diff(number, prepend=-1) == 0
    twice = own & (np.diff(frame["ds"].to_numpy("datetime64[ns]").astype(np.int64), prepend=0) == 0)
    if twice.any():
        row = frame.iloc[int(twice.argmax())]
        raise SchemaError(
            f"{row['unique_id']} has {named_dates([row['ds']])} more than once ({int(twice.sum())} such rows in all); "
            "keep one row per series and bar"
        )
    mixed = own & (np.diff(exchange, prepend=0) != 0)
    if mixed.any():
        uid = frame["unique_id"].iloc[int(mixed.argmax())]
        raise SchemaError(f"{uid} stands on more than one exchange; give each its own unique_id")


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by ``unique_id, ds``; a large frame that is in order already is not copied."""
    number, names = pd.factorize(frame["unique_id"])
    series, falls = np.diff(number), np.diff(frame["ds"].to_numpy()) < np.timedelta64(0, "ns")
    apart = (series < 0) | ((series == 0) & falls)
    if pd.Index(names).is_monotonic_increasing and not apart.any():
        return frame.reset_index(drop=True)
    return frame.sort_values(KEY, kind="stable", ignore_index=True)
