"""When the next fit is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fints.errors import CalendarError
from fints.sessions import get_calendar, session_ordinals
from pipelines.terminal import counted

if TYPE_CHECKING:
    from pipelines.asof import AsOf


def next_fit_in_words(panel: pd.DataFrame, every: int, as_of: AsOf) -> str:
    """Say after which session a new fit is made, where none is on trial: see `pipelines.learning.lesson`.

    Parameters
    ----------
    panel : pandas.DataFrame
        Usable series up to the as-of.
    every : int
        Sessions between two fits.
    as_of : AsOf
        Closures that are announced later may put it off.
    """
    calendar = get_calendar(str(panel["exchange"].iloc[0]))
    last = calendar.session_on_or_before(panel["ds"].max())
    left = every - int(session_ordinals(calendar, pd.DatetimeIndex([last]))[0]) % every
    ahead = counted(left, "session")
    try:
        due = calendar.as_known(as_of.known_at).next_sessions(last, left)[-1]
    except CalendarError:  # the exchange has not said yet when it opens then
        return f"the next fit is due in {ahead}"
    return f"the next fit is due after the session of {due:%Y-%m-%d}, in {ahead}"
