"""What every source of bars offers, and the stamps that turn a vendor's rows into bars."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from fints.bars.actions import empty_actions
from fints.bars.schema import conform_bars, utc_stamps
from fints.sessions.calendars import get_calendar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.bars.finding import Finding
    from fints.sessions.calendars import ExchangeCalendar


@dataclass(frozen=True, slots=True)
class BarRequest:
    """Bars wanted of one symbol.

    Attributes
    ----------
    symbol : str
        As the source spells it.
    interval : str
        ``"1d"``, ``"1h"``, ``"30m"`` …
    start, end : pandas.Timestamp or None
        First and last session wanted, both inclusive; None asks for all there is.
    exchange : str or None
        Exchange to assume where neither the source nor its configuration knows one.
    """

    symbol: str
    interval: str = "1d"
    start: pd.Timestamp | None = None
    end: pd.Timestamp | None = None
    exchange: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a source answered to one request.

    Attributes
    ----------
    bars : pandas.DataFrame
        In the schema of :mod:`fints.bars.schema`, not yet checked for quality.
    actions : pandas.DataFrame
        Splits and distributions within the span of the bars, in the schema of :mod:`fints.bars.actions`; empty where
        the source does not tell.
    notes : tuple of str
        What the user should know of this answer: a request that was clipped, a fallback that was taken.
    findings : tuple of Finding
        What the source itself saw: bars that a second provider holds otherwise.
    remarks : tuple of str
        What the user should know of the source as a whole, of no one symbol: a file that could not be read. It may come
        with every answer.
    """

    bars: pd.DataFrame
    actions: pd.DataFrame = field(default_factory=empty_actions)
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    remarks: tuple[str, ...] = ()


@runtime_checkable
class BarSource(Protocol):
    """A place that bars come from.

    Attributes
    ----------
    name : str
        Written to the column ``source``.
    live : bool
        Whether it follows the market, so that a session missing at the end is a gap. An archive is not live.
    """

    name: str
    live: bool

    def symbols(self) -> list[str]:
        """Return the symbols that it can list; empty where it cannot list them."""
        ...

    def fetch(self, request: BarRequest) -> Delivery:
        """Return the bars asked for.

        Raises
        ------
        SourceError
            It could not deliver; the subclass says whether another try may help.
        """
        ...


def read_in_full(source: BarSource) -> bool:
    """Say whether all bars of a source are read each time, because any of them may be corrected.

    So it is with a source that is not live, and with a live one that has a true attribute ``whole`` (a folder).
    """
    return not source.live or bool(getattr(source, "whole", False))


@dataclass(frozen=True, slots=True)
class Origin:
    """What all rows of one delivery share: the columns ``symbol, interval, exchange, currency, source, fetched_at``."""

    symbol: str
    interval: str
    exchange: str
    currency: str
    source: str
    fetched_at: pd.Timestamp

    def stamp(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Add the shared columns to ``rows`` (session, start, end, prices, volume) and return a bars frame."""
        stamped = rows.reset_index(drop=True).assign(
            symbol=self.symbol,
            interval=self.interval,
            exchange=self.exchange,
            currency=self.currency,
            source=self.source,
            fetched_at=self.fetched_at,
        )
        return conform_bars(stamped)


def daily_bounds(sessions: pd.DatetimeIndex, calendar: ExchangeCalendar) -> pd.DataFrame:
    """Open and close of each session date, also of dates on which the exchange is shut.

    Parameters
    ----------
    sessions : pandas.DatetimeIndex
        Naive dates, in any order, repeats allowed.
    calendar : ExchangeCalendar
        Gives the opens and closes. A date that is no session gets its local midnights, so that the row has a key and
        can be reported.

    Returns
    -------
    pandas.DataFrame
        ``session, start, end`` (UTC), one row per given date, in the given order.
    """
    dates = pd.DatetimeIndex(sessions).as_unit("ns")
    if dates.empty:
        none = pd.DatetimeIndex([], dtype="datetime64[ns, UTC]")
        return pd.DataFrame({"session": dates, "start": none, "end": none})
    schedule = calendar.schedule(dates.min(), dates.max())
    at = schedule.index.get_indexer(dates)
    shut = at < 0
    start, end = (np.empty(len(dates), dtype="datetime64[ns]") for _ in range(2))
    start[~shut], end[~shut] = (utc_stamps(schedule[name])[at[~shut]] for name in ("open", "close"))
    if shut.any():
        start[shut] = _midnights(dates[shut], calendar)
        end[shut] = _midnights(dates[shut] + pd.Timedelta(days=1), calendar)
    instants = (pd.DatetimeIndex(bound).tz_localize("UTC") for bound in (start, end))
    return pd.DataFrame(dict(zip(("session", "start", "end"), (dates, *instants), strict=True)))


def _midnights(dates: pd.DatetimeIndex, calendar: ExchangeCalendar) -> NDArray[np.datetime64]:
    """Return the local midnights of dates as naive UTC; of an hour that a clock change repeats the first."""
    first = np.ones(len(dates), dtype=bool)
    local = dates.tz_localize(calendar.timezone, ambiguous=first, nonexistent="shift_forward")
    return utc_stamps(local.tz_convert("UTC"))


def clip_sessions(bars: pd.DataFrame, request: BarRequest) -> pd.DataFrame:
    """Keep the rows whose session lies within the request; vendors answer with rows beyond it."""
    sessions = utc_stamps(bars["session"])
    inside = np.ones(len(bars), dtype=bool)
    if request.start is not None:
        inside &= sessions >= request.start.to_datetime64()
    if request.end is not None:
        inside &= sessions <= request.end.to_datetime64()
    rows = np.flatnonzero(inside)
    if not rows.size or rows[-1] - rows[0] + 1 > rows.size:
        return bars[inside].reset_index(drop=True)
    return bars.iloc[rows[0] : rows[-1] + 1].reset_index(drop=True)  # no copy: a night has hundreds of deliveries


def canonical_exchange(*names: str | None) -> str:
    """Return the MIC of the first name given, or ``XNYS`` when all are None."""
    name = next((name for name in names if name is not None), "XNYS")
    return get_calendar(name).mic
