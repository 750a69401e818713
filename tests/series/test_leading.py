import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from fints.series import LONGEST_CLOSURE, longest_going_on
from fints.sessions import get_calendar

DAYS = get_calendar("XNYS").sessions("2015-01-02", "2018-12-31")


def series(name: str, first: int, last: int) -> pd.DataFrame:
    return pd.DataFrame({"unique_id": name, "ds": DAYS[first:last]})


def stamps_of(panel: pd.DataFrame) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(longest_going_on(panel)["ds"])


@given(st.integers(500, 900), st.integers(0, 499), st.integers(1, 800))
def test_a_series_that_ended_counts_no_bars_however_long_it_was(first: int, before: int, length: int) -> None:
    alive = pd.concat([series("B", first, len(DAYS)), series("C", first + 20, len(DAYS))])
    ended = series("A", before, min(before + length, len(DAYS) - 15))
    for panel in (pd.concat([ended, alive]), pd.concat([alive, ended.assign(unique_id="D")])):
        assert stamps_of(panel).equals(DAYS[first:])


def test_the_longest_counts_though_its_newest_bars_are_late() -> None:
    late = series("A", 0, len(DAYS) - 5)
    assert DAYS[-1] - late["ds"].max() < LONGEST_CLOSURE
    assert stamps_of(pd.concat([late, series("B", 300, len(DAYS))])).equals(DAYS[:-5])


def test_where_all_end_together_the_longest_counts() -> None:
    assert stamps_of(pd.concat([series("A", 9, 300), series("B", 0, 300)])).equals(DAYS[:300])
