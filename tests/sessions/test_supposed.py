from __future__ import annotations

import numpy as np
import pandas as pd

from fints.sessions import get_calendar
from fints.sessions.overrides import Event
from fints.sessions.supposed import supposed


def civil(date: str) -> int:
    return int(np.datetime64(date, "D").astype(np.int64))


CLOSED = Event(civil("2018-06-13"), civil("2018-06-12"), "closure", "supposed")


def test_a_supposed_closure_is_known_from_its_announcement_on_and_leaves_no_trace() -> None:
    calendar = get_calendar("XNYS")
    before = calendar.sessions("2018-06-01", "2018-06-30")
    with supposed({"XNYS": [CLOSED]}):
        assert not calendar.is_session("2018-06-13")
        assert not calendar.as_known("2018-06-12").is_session("2018-06-13")
        assert calendar.as_known("2018-06-11").is_session("2018-06-13")
        pd.testing.assert_index_equal(calendar.as_known("2018-06-11").sessions("2018-06-01", "2018-06-30"), before)
    pd.testing.assert_index_equal(calendar.sessions("2018-06-01", "2018-06-30"), before)


def test_a_day_that_has_an_entry_keeps_it() -> None:
    entry = Event(civil("2018-12-05"), civil("2018-12-05"), "closure", "supposed")
    with supposed({"XNYS": [entry]}):
        assert not get_calendar("XNYS").as_known("2018-12-03").is_session("2018-12-05")
