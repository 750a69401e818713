"""Exchange calendars, bars of a session, the four clocks, and what the calendar tells in advance."""

from fints.sessions.calendars import ExchangeCalendar, calendar_version, check_known_days, get_calendar
from fints.sessions.clock import Places, ordinal_sessions, place_instants, places, session_ordinals, session_places
from fints.sessions.features import FEATURES, calendar_features
from fints.sessions.grid import Anchor, bar_grid, future_bars, infer_anchor, parse_interval

__all__ = [
    "FEATURES",
    "Anchor",
    "ExchangeCalendar",
    "Places",
    "bar_grid",
    "calendar_features",
    "calendar_version",
    "check_known_days",
    "future_bars",
    "get_calendar",
    "infer_anchor",
    "ordinal_sessions",
    "parse_interval",
    "place_instants",
    "places",
    "session_ordinals",
    "session_places",
]
