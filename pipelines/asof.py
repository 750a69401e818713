"""What is known at the as-of: which bars, which calendar."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.errors import DataError, DateError
from fints.sessions import get_calendar, parse_interval
from fints.sessions.calendars import SETTLE

if TYPE_CHECKING:
    from collections.abc import Sequence


_DATED: Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{8}(?=[T ])")
_TIMED: Final = re.compile(r"[T ]\s*[0-9]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AsOf:
    """The moment that a night is run for.

    Parameters
    ----------
    stamp : pandas.Timestamp
        Naive key of the night: the session date of the last daily bar, the UTC close of the last intraday bar.
    known_at : pandas.Timestamp
        Date or instant up to which calendars are known.
    notes : tuple of str
        What has to be said aloud, such as an as-of moved from a closed day.
    settle : pandas.Timedelta
        A bar is final this long after its close.
    """

    stamp: pd.Timestamp
    known_at: pd.Timestamp
    notes: tuple[str, ...] = ()
    settle: pd.Timedelta = SETTLE

    def due(self, exchange: str) -> pd.Timestamp:
        """Return the last session of an exchange that was over at the as-of."""
        return _due(exchange, self.known_at, self.settle)

    def __str__(self) -> str:
        return f"{self.stamp:%Y-%m-%d}" if self.stamp == self.stamp.normalize() else f"{self.stamp:%Y-%m-%dT%H%M}"


def parse_as_of(text: str | None) -> pd.Timestamp | None:
    """Read a date or an instant.

    Raises
    ------
    DateError
        If the text is neither.
    """
    if text is None:
        return None
    stated = text.strip()
    if not stated:
        raise DateError("the as-of is empty; write 2018-12-03 or 2018-12-03T21:15Z")
    # pandas reads 03/04/2018 as March, 20/11/2018 as November, `May` as of the year 1, and 12:30Z as of today
    dated = _DATED.match(stated)
    if dated is None:
        raise DateError(f"{text!r} is neither a date nor an instant; write 2018-12-03 or 2018-12-03T21:15Z")
    try:
        moment = pd.Timestamp(stated)
    except (ValueError, TypeError) as error:
        raise DateError(f"{text!r} is neither a date nor an instant; write 2018-12-03 or 2018-12-03T21:15Z") from error
    # midnight is a time of day, too: taken for its date, it would know the session that is still to come
    if moment.tz is None and _TIMED.match(stated, dated.end()):
        raise DateError(f"the instant {text!r} has no time zone; add Z for UTC, or an offset such as +01:00")
    return moment


def observe(
    bars: pd.DataFrame,
    asked: pd.Timestamp | None,
    *,
    live: bool,
    now: pd.Timestamp,
    settle: pd.Timedelta = SETTLE,
    strict: bool = True,
) -> tuple[pd.DataFrame, AsOf]:
    """Keep the bars that were final at the as-of.

    Parameters
    ----------
    bars : pandas.DataFrame
        Schema ``bars``, one interval.
    asked : pandas.Timestamp, optional
        A naive date: everything of that session is known; an instant: what had closed and settled by then. Without
        it, everything stored; of a live source, what had closed and settled by now.
    live : bool
        Whether the source follows the market, so that now is the natural as-of.
    now : pandas.Timestamp
        The clock, UTC.
    settle : pandas.Timedelta
        A bar is final this long after its close.
    strict : bool
        Whether an as-of after the data is refused, as one that a person asked for; otherwise late bars are noted.

    Returns
    -------
    bars : pandas.DataFrame
    as_of : AsOf

    Raises
    ------
    DateError
        If the as-of lies outside the data or in the future.
    DataError
        If the clock is behind the bars of a live source.
    """
    if live:
        _require_past(bars, now)
    known = _known(bars, now if asked is None and live else asked, settle)
    if known.empty:
        raise DateError(f"there is no bar up to {_say(asked)}; the data run from {_span(bars)}")
    stamp = _stamp(known)
    if asked is None:
        daily = parse_interval(str(known["interval"].iloc[0])) is None
        known_at = now if live else stamp if daily else stamp.tz_localize("UTC")
        return known, AsOf(stamp, known_at, _stale(known, now, settle) if live else (), settle)
    if (asked if asked.tz else asked.tz_localize("UTC")) > now:
        raise DateError(f"the as-of {_say(asked)} lies in the future; it is {now:%Y-%m-%d %H:%M} UTC")
    exchanges = sorted(map(str, known["exchange"].unique()))
    if strict:
        _require_within(known, bars, asked, settle)
    late = () if strict or asked.tz is None else _stale(known, asked, settle)
    return known, AsOf(stamp, asked, (*_moved(asked, exchanges, str(known["interval"].iloc[0])), *late), settle)


def _known(bars: pd.DataFrame, asked: pd.Timestamp | None, settle: pd.Timedelta) -> pd.DataFrame:
    if asked is None:
        return bars
    mask = bars["session"] <= asked if asked.tz is None else bars["end"] + settle <= asked
    return bars[mask].reset_index(drop=True)


def _due(exchange: str, moment: pd.Timestamp, settle: pd.Timedelta = SETTLE) -> pd.Timestamp:
    """Last session that is over: a naive date's own one counts as over."""
    calendar = get_calendar(exchange)
    if moment.tz is None:
        return calendar.session_on_or_before(moment)
    return calendar.last_closed_session(moment, settle)


def _stamp(known: pd.DataFrame) -> pd.Timestamp:
    if parse_interval(str(known["interval"].iloc[0])) is None:
        return pd.Timestamp(known["session"].max())
    return pd.Timestamp(known["end"].max()).tz_convert("UTC").tz_localize(None)


def _require_within(known: pd.DataFrame, bars: pd.DataFrame, asked: pd.Timestamp, settle: pd.Timedelta) -> None:
    """Refuse an as-of after the data: a session that should be there is not."""
    if len(known) < len(bars):
        return
    for exchange in sorted(map(str, known["exchange"].unique())):
        due = _due(exchange, asked, settle)
        last = pd.Timestamp(known.loc[known["exchange"] == exchange, "session"].max())
        if due > last:
            raise DateError(
                f"the data end on {last:%Y-%m-%d}, before the as-of {_say(asked)}; they run from {_span(bars)}"
            )


def _require_past(bars: pd.DataFrame, now: pd.Timestamp) -> None:
    """Refuse a clock that is behind the market."""
    if len(bars) and bars["end"].max() > now:
        newest = bars.iloc[int(bars["end"].argmax())]
        raise DataError(
            f"it is {now:%Y-%m-%d %H:%M} UTC by the clock of this machine, but {newest['symbol']} has a bar that ended "
            f"at {newest['end']:%Y-%m-%d %H:%M} UTC: the clock is behind. Set it right (NTP); nothing was forecast"
        )


def _moved(asked: pd.Timestamp, exchanges: Sequence[str], interval: str) -> tuple[str, ...]:
    if asked.tz is not None:
        return ()
    notes = []
    for exchange in exchanges:
        last = get_calendar(exchange).session_on_or_before(asked)
        if last != asked:
            word = "session" if parse_interval(interval) is None else "session's bars"
            notes.append(
                f"{exchange} was closed on {asked:%A} {asked:%Y-%m-%d}: the last {word} before it, "
                f"{last:%A} {last:%Y-%m-%d}, is taken."
            )
    return tuple(notes)


def _stale(known: pd.DataFrame, now: pd.Timestamp, settle: pd.Timedelta) -> tuple[str, ...]:
    notes = []
    for exchange, rows in known.groupby("exchange"):
        due = get_calendar(str(exchange)).last_closed_session(now, settle)
        last = pd.Timestamp(rows["session"].max())
        if due > last:
            notes.append(f"The newest bar on {exchange} is of {last:%Y-%m-%d}; the session of {due:%Y-%m-%d} is over.")
    return tuple(notes)


def _say(asked: pd.Timestamp | None) -> str:
    if asked is None:
        return "now"
    return f"{asked:%Y-%m-%d}" if asked.tz is None else asked.isoformat()


def _span(bars: pd.DataFrame) -> str:
    return f"{bars['session'].min():%Y-%m-%d} to {bars['session'].max():%Y-%m-%d}"
