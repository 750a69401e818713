"""One-off effects of the calendar, taken out before lines are looked for.

An early close or the expiry of options is a spike on a few days of the year. Its spectrum is a comb of the year that
reaches everywhere: the quarterly expiry, a Friday every thirteen weeks, has its strongest teeth beside the week's own
line, at 365.25 / 44 = 8.3, 7.6, 6.5 and 6.1 days. Such effects are regressors, not cycles. Weekdays, months and
seasons, which are cycles, are never taken out; weekdays are only fitted beside the effects, so that an effect that
falls on Fridays does not take the Fridays with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.sessions import calendar_features

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fints.sessions import ExchangeCalendar

    FloatArray = NDArray[np.float64]

ONE_OFF = (
    "before_closure",
    "after_closure",
    "to_closure",
    "since_closure",
    "bridge",
    "week_closures",
    "early_close",
    "after_early_close",
    "option_expiry",
    "triple_witching",
    "after_witching",
    "expiry_week",
    "reconstitution",
    "before_christmas",
    "christmas_week",
)
"""Names of :data:`fints.sessions.FEATURES` that are one-off effects."""


def effect_columns(bars: pd.DataFrame, calendar: ExchangeCalendar) -> FloatArray:
    """One-off effects of bars, one column for each, shape (n, len(ONE_OFF))."""
    return calendar_features(bars, calendar, ONE_OFF).to_numpy(dtype=np.float64)
