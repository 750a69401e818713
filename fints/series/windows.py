"""Windows of series as arrays, cut on demand and never all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import SchemaError, SeriesError
from fints.series.covariates import CALENDAR_PREFIX, PAST_PREFIX
from fints.series.grid import panel_bars
from fints.sessions import get_calendar, places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    KnownPlaces = dict[tuple[object, ...], dict[str, NDArray[np.float64]]]

CLOCKS = ("session", "calendar", "seconds")


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """A batch of windows: context, and the bars asked for.

    Parameters
    ----------
    values : ndarray, shape (B, L, 1 + n_past)
        Target and companions of the context, unscaled; NaN where a companion is unknown.
    calendar : ndarray, shape (B, L, n_cal)
    future_calendar : ndarray, shape (B, H, n_cal)
    places, future_places : mapping of str to ndarray, shapes (B, L) and (B, H)
        Float64 places on the clocks ``index`` (0 is the first bar of the context), `CLOCKS`.
    unique_ids : ndarray of str, shape (B,)
        Series of each window.
    hours, future_hours : ndarray, shapes (B, L) and (B, H)
        Time of day at which each bar is stamped, in hours of the exchange's clock; 0 on daily bars.
    target : ndarray, shape (B, H), optional
        What came; None where it is still to come.
    """

    values: NDArray[np.float64]
    calendar: NDArray[np.float64]
    future_calendar: NDArray[np.float64]
    places: Mapping[str, NDArray[np.float64]]
    future_places: Mapping[str, NDArray[np.float64]]
    unique_ids: NDArray[np.str_]
    hours: NDArray[np.float64]
    future_hours: NDArray[np.float64]
    target: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def steps(self) -> NDArray[np.int64]:
        """Bars from the end of the context to each bar asked for, from 1; shape (B, H)."""
        ahead: NDArray[np.int64] = (self.future_places["index"] - self.places["index"][:, -1:]).round().astype(np.int64)
        return ahead

    def rows(self, chosen: slice | NDArray[np.int64]) -> Windows:
        """Select some of the windows."""
        return Windows(
            values=self.values[chosen],
            calendar=self.calendar[chosen],
            future_calendar=self.future_calendar[chosen],
            places={name: at[chosen] for name, at in self.places.items()},
            future_places={name: at[chosen] for name, at in self.future_places.items()},
            unique_ids=self.unique_ids[chosen],
            hours=self.hours[chosen],
            future_hours=self.future_hours[chosen],
            target=None if self.target is None else self.target[chosen],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tape:
    """All series of a panel end to end, from which windows are cut.

    Memory grows with the rows of the panel, not with the number of windows.

    Parameters
    ----------
    unique_ids : tuple of str, length S
    bounds : ndarray, shape (S + 1,)
        Series i holds the rows ``bounds[i]`` to ``bounds[i + 1] - 1``.
    ds : ndarray of datetime64[ns], shape (N,)
    values : ndarray, shape (N, 1 + n_past)
    calendar : ndarray, shape (N, n_cal)
    clocks : mapping of str to ndarray, shape (N,)
    """

    unique_ids: tuple[str, ...]
    bounds: NDArray[np.int64]
    ds: NDArray[np.datetime64]
    values: NDArray[np.float64]
    calendar: NDArray[np.float64]
    clocks: Mapping[str, NDArray[np.float64]]

    @classmethod
    def from_panel(cls, panel: pd.DataFrame, past: Sequence[str], calendar: Sequence[str]) -> Tape:
        """Lay a panel out as arrays.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``, sorted by series and bar.
        past, calendar : sequence of str
            Columns to carry as companions and as covariates.

        Raises
        ------
        SchemaError
            If a column is missing.
        SeriesError
            If a covariate is not a number somewhere.
        """
        require_columns(panel, [*past, *calendar])
        covariates = np.array(panel[list(calendar)], dtype=np.float64)
        if not np.isfinite(covariates).all():
            row, column = np.argwhere(~np.isfinite(covariates))[0]
            raise SeriesError(
                f"{panel['unique_id'].iloc[row]} has no {calendar[column]} at {panel['ds'].iloc[row]}; "
                "covariates must be known for every bar"
            )
        ids, firsts = np.unique(panel["unique_id"].to_numpy(str), return_index=True)
        known: KnownPlaces = {}
        parts = [clock_places(rows, known=known) for _, rows in panel.groupby("unique_id", sort=False)]
        return cls(
            unique_ids=tuple(map(str, ids)),
            bounds=np.append(firsts, len(panel)).astype(np.int64),
            ds=panel["ds"].to_numpy("datetime64[ns]"),
            values=np.array(panel[["y", *past]], dtype=np.float64),
            calendar=covariates,
            clocks={name: np.concatenate([part[name] for part in parts]) for name in CLOCKS},
        )

    def origins(self, input_size: int, h: int) -> NDArray[np.int64]:
        """Rows after which a window of `input_size` bars of context and `h` bars of target can be cut.

        Returns
        -------
        ndarray of int64
            Row of the last context bar, in the order of the tape.
        """
        spans = [
            np.arange(first + input_size - 1, stop - h)
            for first, stop in zip(self.bounds[:-1], self.bounds[1:], strict=True)
        ]
        return np.concatenate(spans) if spans else np.empty(0, np.int64)

    def numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Say which series some rows belong to, from 0."""
        return np.searchsorted(self.bounds, rows, side="right") - 1

    def names(self, rows: NDArray[np.int64]) -> NDArray[np.str_]:
        """Series that some rows belong to."""
        return np.array(self.unique_ids)[self.numbers(rows)]

    def cut(self, origins: NDArray[np.int64], input_size: int, h: int) -> Windows:
        """Cut the windows at some origins.

        Parameters
        ----------
        origins : ndarray of int64, shape (B,)
            From `origins`.
        input_size, h : int
        """
        past = origins[:, None] + np.arange(1 - input_size, 1)
        ahead = origins[:, None] + np.arange(1, h + 1)
        steps = np.arange(input_size + h, dtype=np.float64)[None].repeat(len(origins), axis=0)
        return Windows(
            values=self.values[past],
            calendar=self.calendar[past],
            future_calendar=self.calendar[ahead],
            places={"index": steps[:, :input_size], **{k: v[past] for k, v in self.clocks.items()}},
            future_places={"index": steps[:, input_size:], **{k: v[ahead] for k, v in self.clocks.items()}},
            unique_ids=self.names(origins),
            hours=hours_of_day(self.ds[past]),
            future_hours=hours_of_day(self.ds[ahead]),
            target=self.values[ahead, 0],
        )

    def last(
        self, input_size: int, future: pd.DataFrame, calendar: Sequence[str], known_at: str | pd.Timestamp | None = None
    ) -> Windows:
        """Cut the last window of every series, with the bars of `future` as what is asked for.

        Parameters
        ----------
        input_size : int
        future : pandas.DataFrame
            From `fints.series.future_frame`: the same number of rows for every series, sorted as the tape is.
        calendar : sequence of str
            The covariate columns of the tape.
        known_at : date or instant, optional
            The one given to `future_frame`; by default the close of each series' last bar.
        """
        n = len(self.unique_ids)
        past = (self.bounds[1:] - 1)[:, None] + np.arange(1 - input_size, 1)
        closes = pd.to_datetime(self.clocks["seconds"][self.bounds[1:] - 1], unit="s", utc=True)
        known: KnownPlaces = {}
        parts = [
            clock_places(rows, close if known_at is None else known_at, known)
            for close, (_, rows) in zip(closes, future.groupby("unique_id", sort=False), strict=True)
        ]
        ahead = {name: np.stack([part[name] for part in parts]) for name in CLOCKS}
        covariates = np.array(future[list(calendar)], dtype=np.float64).reshape(n, len(future) // n, len(calendar))
        steps = np.arange(input_size, dtype=np.float64)[None].repeat(n, axis=0)
        return Windows(
            values=self.values[past],
            calendar=self.calendar[past],
            future_calendar=covariates,
            places={"index": steps, **{k: v[past] for k, v in self.clocks.items()}},
            future_places={
                "index": input_size - 1 + future["step"].to_numpy(np.float64).reshape(n, -1),
                **ahead,
            },
            unique_ids=np.array(self.unique_ids),
            hours=hours_of_day(self.ds[past]),
            future_hours=hours_of_day(future["ds"].to_numpy("datetime64[ns]").reshape(n, -1)),
        )


def hours_of_day(ds: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """Hours since midnight, in the clock of the stamps."""
    hours: NDArray[np.float64] = (ds - ds.astype("datetime64[D]")) / np.timedelta64(1, "h")
    return hours


def require_columns(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Refuse a frame that lacks columns.

    Raises
    ------
    SchemaError
        Naming the missing columns.
    """
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise SchemaError(
            f"the panel lacks {', '.join(missing)}, which the model was fitted with; make it the same way"
        )


def feature_columns(panel: pd.DataFrame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the companion and of the covariate columns of a panel, in its order."""
    past = tuple(str(c) for c in panel.columns if str(c).startswith(PAST_PREFIX))
    known = tuple(str(c) for c in panel.columns if str(c).startswith(CALENDAR_PREFIX))
    return past, known


def clock_places(
    rows: pd.DataFrame, known_at: str | pd.Timestamp | None = None, known: KnownPlaces | None = None
) -> dict[str, NDArray[np.float64]]:
    """Places of the bars of one series on the clocks.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of one series of a panel, or of a future frame.
    known_at : date or instant, optional
        The calendar as it was known then.
    known : dict, optional
        Places found so far, added to: series that trade at the same times are located once.

    Returns
    -------
    dict of str to ndarray, shape (n,)
        Float64, by the names of `CLOCKS`.
    """
    exchange = str(rows["exchange"].iloc[0])
    stamps = [rows[column].to_numpy("datetime64[ns]").tobytes() for column in ("ds", "end") if column in rows.columns]
    key = (exchange, str(rows["interval"].iloc[0]), known_at, *stamps)
    if known is not None and key in known:
        return known[key]
    calendar = get_calendar(exchange) if known_at is None else get_calendar(exchange).as_known(known_at)
    bars = rows if "end" in rows.columns else panel_bars(rows, calendar)
    at = places(bars, calendar)
    found = {name: np.asarray(getattr(at, name), dtype=np.float64) for name in CLOCKS}
    if known is not None:
        known[key] = found
    return found
