"""Known-future covariates: what the calendar alone says of a bar, for any date past or to come.

Every value of a row is what was known on the eve of its session, and never more than the calendar's own `known_at`: an
ad-hoc closure that was announced later leaves no trace before its announcement, neither in the row before it nor in
counts that look ahead. So a history computed today equals the histories computed on each of its days.

Codes suit a linear regression and a network alike: values lie in [−1, 1] (but for `bar_length`), an effect is a 0/1
column, a distance n in sessions is 2^−n (1 on the day itself, gone after a week), and no set of columns sums to a
constant (Wednesday and the months between are the reference).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.errors import UnknownNameError
from fints.sessions.clock import is_daily
from fints.sessions.expiry import expiry_sessions
from fints.sessions.rows import CalendarFeature, Rows, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fints.sessions.calendars import ExchangeCalendar

PREFIX = "cal_"
_MONDAY, _TUESDAY, _WEDNESDAY, _THURSDAY, _FRIDAY = range(5)
_RECONSTITUTION_SINCE, _TWICE_A_YEAR_SINCE = 2007, 2026  # fourth Friday of June; then also second Friday of November
_LONGEST = 8  # sessions after which a distance counts as infinite: 2^−8 is nothing


def _weekday(number: int) -> Callable[[Rows], NDArray[np.float64]]:
    return lambda rows: _flag(rows.weekday == number)


def _flag(condition: NDArray[np.bool_]) -> NDArray[np.float64]:
    return condition.astype(np.float64)


def _nearness(sessions: NDArray[np.int64]) -> NDArray[np.float64]:
    """2^−n of a distance in sessions; 0 from `_LONGEST` on."""
    return np.where(sessions < _LONGEST, np.exp2(-np.minimum(sessions, _LONGEST).astype(np.float64)), 0.0)


def _closed_after(rows: Rows) -> NDArray[np.float64]:
    return _flag(rows.next_closure < rows.next_session)


def _closed_before(rows: Rows) -> NDArray[np.float64]:
    return _flag(rows.previous_closure > rows.previous_session)


def _bridge(rows: Rows) -> NDArray[np.float64]:
    alone = (rows.day - rows.previous_session > 1) & (rows.next_session - rows.day > 1)
    return _flag(alone & ((_closed_after(rows) + _closed_before(rows)) > 0))


def _to_closure(rows: Rows) -> NDArray[np.float64]:
    return _nearness(rows.sessions_before(rows.next_closure))


def _since_closure(rows: Rows) -> NDArray[np.float64]:
    return _nearness(rows.sessions_after(rows.previous_closure))


def _week_closures(rows: Rows) -> NDArray[np.float64]:
    monday = rows.day - rows.weekday
    inside = np.searchsorted(rows.table.closures, monday + 7) - np.searchsorted(rows.table.closures, monday)
    return np.asarray(inside / 5, dtype=np.float64)


def _month_end(rows: Rows) -> NDArray[np.float64]:
    return _flag(rows.next_session >= rows.next_month)


def _month_start(rows: Rows) -> NDArray[np.float64]:
    return _flag(rows.previous_session < rows.first_of_month)


def _to_month_end(rows: Rows) -> NDArray[np.float64]:
    return _nearness(rows.sessions_before(rows.next_month))


def _quarter_end(rows: Rows) -> NDArray[np.float64]:
    return _month_end(rows) * _flag(rows.month % 3 == 0)


def _option_expiry(rows: Rows) -> NDArray[np.float64]:
    return _flag(rows.day == expiry_sessions(rows))


def _triple_witching(rows: Rows) -> NDArray[np.float64]:
    return _option_expiry(rows) * _flag(rows.month % 3 == 0)


def _expiry_week(rows: Rows) -> NDArray[np.float64]:
    ahead = expiry_sessions(rows) - rows.day
    return _flag((ahead > 0) & (ahead + rows.weekday < 7))


def _christmas_week(rows: Rows) -> NDArray[np.float64]:
    return _flag((rows.month == 12) & (rows.day_of_month >= 24))


def _before_christmas(rows: Rows) -> NDArray[np.float64]:
    return _flag((rows.month == 12) & (rows.day_of_month >= 22) & (rows.day_of_month < 24))


def _after_early_close(rows: Rows) -> NDArray[np.float64]:
    return _flag(rows.was_early)


def _after_witching(rows: Rows) -> NDArray[np.float64]:
    return _flag((rows.previous_session == expiry_sessions(rows)) & (rows.month % 3 == 0))


def _reconstitution(rows: Rows) -> NDArray[np.float64]:
    if rows.mic != "XNYS":
        return np.zeros(len(rows.day))
    fridays = rows.weekday == _FRIDAY
    nth = (rows.day_of_month - 1) // 7 + 1
    years = rows.year
    june = (years >= _RECONSTITUTION_SINCE) & (rows.month == 6) & (nth == 4)
    november = (years >= _TWICE_A_YEAR_SINCE) & (rows.month == 11) & (nth == 2)
    return _flag(fridays & (june | november))


def _month_angle(rows: Rows) -> NDArray[np.float64]:
    length = rows.next_month - rows.first_of_month
    return np.asarray(2 * np.pi * (rows.month - 1 + (rows.day_of_month - 1) / length) / 12, dtype=np.float64)


def _bar_angle(rows: Rows) -> NDArray[np.float64]:
    return np.asarray(2 * np.pi * rows.middle, dtype=np.float64)


_ALL = (
    CalendarFeature("monday", "1 on Mondays; Wednesday is the reference of the weekdays", _weekday(_MONDAY)),
    CalendarFeature("tuesday", "1 on Tuesdays", _weekday(_TUESDAY)),
    CalendarFeature("thursday", "1 on Thursdays", _weekday(_THURSDAY)),
    CalendarFeature("friday", "1 on Fridays", _weekday(_FRIDAY)),
    CalendarFeature("weekend", "1 on Saturdays and Sundays", lambda rows: _flag(rows.weekday > _FRIDAY)),
    CalendarFeature("before_closure", "1 on the last session before a holiday", _closed_after),
    CalendarFeature("after_closure", "1 on the first session after a holiday", _closed_before),
    CalendarFeature("to_closure", "2^−n, n sessions before the last session ahead of a holiday", _to_closure),
    CalendarFeature("since_closure", "2^−n, n sessions after the first session behind a holiday", _since_closure),
    CalendarFeature("bridge", "1 on a lone session between a holiday and another closed day", _bridge),
    CalendarFeature(
        "week_closures", "closed weekdays of the Monday-to-Sunday week, as a share of five", _week_closures
    ),
    CalendarFeature("early_close", "1 where the session is to close before its usual time", lambda r: _flag(r.early)),
    CalendarFeature("after_early_close", "1 on the session after one that closed early as planned", _after_early_close),
    CalendarFeature("month_start", "1 on the first session of a month", _month_start),
    CalendarFeature("month_end", "1 on the last session of a month", _month_end),
    CalendarFeature("to_month_end", "2^−n, n sessions before the last session of the month", _to_month_end),
    CalendarFeature("quarter_end", "1 on the last session of a quarter", _quarter_end),
    CalendarFeature("option_expiry", "1 on the monthly expiry of listed options (see `expiry`)", _option_expiry),
    CalendarFeature("triple_witching", "1 on the expiry of March, June, September and December", _triple_witching),
    CalendarFeature("after_witching", "1 on the session after triple witching", _after_witching),
    CalendarFeature("expiry_week", "1 on the sessions of an expiry's week that come before it", _expiry_week),
    CalendarFeature("reconstitution", "1 on changes of the Russell indices (New York only)", _reconstitution),
    CalendarFeature("before_christmas", "1 on 22 and 23 December", _before_christmas),
    CalendarFeature("christmas_week", "1 from 24 to 31 December", _christmas_week),
    CalendarFeature(
        "month_sin", "sine of the place in the year, months of equal length", lambda r: np.sin(_month_angle(r))
    ),
    CalendarFeature("month_cos", "cosine of the same", lambda r: np.cos(_month_angle(r))),
    CalendarFeature(
        "bar_place", "middle of the bar as a share of its session's trading time", lambda r: r.middle, True
    ),
    CalendarFeature(
        "bar_sin", "sine of one turn per session at the bar's middle", lambda r: np.sin(_bar_angle(r)), True
    ),
    CalendarFeature("bar_cos", "cosine of the same: the U of a trading day", lambda r: np.cos(_bar_angle(r)), True),
    CalendarFeature("bar_first", "1 on the bar that starts at the session's open", lambda r: _flag(r.first), True),
    CalendarFeature("bar_last", "1 on the bar that ends at the session's close", lambda r: _flag(r.last), True),
    CalendarFeature("bar_resumes", "1 on the bar that starts at the end of a break", lambda r: _flag(r.resumes), True),
    CalendarFeature("bar_length", "natural logarithm of the bar's length in hours", lambda r: r.log_hours, True),
)
FEATURES: Mapping[str, CalendarFeature] = MappingProxyType({feature.name: feature for feature in _ALL})


def calendar_features(
    bars: pd.DataFrame, calendar: ExchangeCalendar, names: Sequence[str] | None = None
) -> pd.DataFrame:
    """Known-future covariates of bars.

    Parameters
    ----------
    bars : DataFrame
        As from `bar_grid`: ``session, ds, start, end``; past bars or bars to come, in any order.
    calendar : ExchangeCalendar
        Of the exchange; as known at the forecast's date for a forecast (`ExchangeCalendar.as_known`).
    names : sequence of str, optional
        Keys of `FEATURES`. All by default, those of the bar within its session only for intraday bars.

    Returns
    -------
    DataFrame
        One float64 column ``cal_<name>`` per feature, with the index of `bars`. The same columns for every exchange.

    Raises
    ------
    UnknownNameError
        If a feature does not exist.
    """
    chosen = _default_names(bars, calendar) if names is None else list(names)
    for name in chosen:
        if name not in FEATURES:
            raise UnknownNameError("calendar feature", name, FEATURES)
    values = {name: np.empty(len(bars), dtype=np.float64) for name in chosen}
    for place, rows in rows_of(bars, calendar):
        sessions, which = rows.by_session()
        for name, column in values.items():
            feature = FEATURES[name]
            column[place] = feature.function(rows) if feature.intraday else feature.function(sessions)[which]
    return pd.DataFrame({PREFIX + name: column for name, column in values.items()}, index=bars.index)


def _default_names(bars: pd.DataFrame, calendar: ExchangeCalendar) -> list[str]:
    daily = not len(bars) or is_daily(bars, calendar)
    return [feature.name for feature in _ALL if not (daily and feature.intraday)]
