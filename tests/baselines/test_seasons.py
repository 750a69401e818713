from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.baselines.seasons import latest_in_season, previous_in_season, season_keys


@given(
    keys=st.lists(st.integers(0, 4), min_size=2, max_size=40),
    pick=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
)
def test_the_latest_row_of_a_season_is_what_a_search_backwards_finds(keys: list[int], pick: tuple[int, int]) -> None:
    origin = pick[0] % (len(keys) - 1)
    target = origin + 1 + pick[1] % (len(keys) - origin - 1)
    expected = next((j for j in range(origin, -1, -1) if keys[j] == keys[target]), -1)
    previous = previous_in_season(np.array(keys))
    found = latest_in_season(previous, np.array([origin]), np.array([target]))
    assert found.tolist() == [expected]


def test_a_week_keeps_times_of_day_apart() -> None:
    ds = pd.DatetimeIndex(["2018-01-02 09:30", "2018-01-02 10:30", "2018-01-09 09:30", "2018-01-10 09:30"])
    keys = season_keys("week", ds, np.arange(4))
    assert keys[0] == keys[2]
    assert len(set(keys)) == 3


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_seasons_do_not_depend_on_the_unit_of_the_stamps(unit: str) -> None:
    ds = pd.DatetimeIndex(["2018-01-02 09:30", "2018-01-03 10:30"]).as_unit(unit)
    assert season_keys("bar", ds, np.arange(2)).tolist() == [34_200_000_000_000, 37_800_000_000_000]
