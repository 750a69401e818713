from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from fints.series import recent


def panel(values: dict[str, list[float]], interval: str = "1d") -> pd.DataFrame:
    parts = [
        pd.DataFrame({"unique_id": name, "ds": pd.date_range("2020-01-01", periods=len(y)), "y": y})
        for name, y in values.items()
    ]
    return pd.concat(parts, ignore_index=True).assign(exchange="24/7", interval=interval)


series = st.lists(st.sampled_from([1.0, 2.0, np.nan]), min_size=1, max_size=12)


@given(st.lists(series, min_size=1, max_size=4), st.integers(1, 8), st.randoms(use_true_random=False))
def test_every_series_keeps_its_last_known_values_and_the_gaps_between_them(rows, size, random) -> None:
    frame = panel({f"s{i}": y for i, y in enumerate(rows)})
    among = np.array([random.random() < 0.8 for _ in range(len(frame))])
    kept = recent(frame, size, among)
    for name, whole in frame[among].groupby("unique_id"):
        own = kept[kept["unique_id"] == name]
        known = whole[whole["y"].notna()].tail(size)
        pd.testing.assert_frame_equal(
            own[own["y"].notna()].reset_index(drop=True), known.reset_index(drop=True), check_dtype=False
        )
        # one run of the series, up to its end
        pd.testing.assert_frame_equal(own.reset_index(drop=True), whole.tail(len(own)).reset_index(drop=True))
    assert list(kept.index) == list(range(len(kept)))


def test_without_a_size_and_on_intraday_bars_everything_stays() -> None:
    frame = panel({"a": [1.0, 2.0, 3.0]})
    pd.testing.assert_frame_equal(recent(frame, None), frame)
    hourly = panel({"a": [1.0, 2.0, 3.0]}, "1h")
    pd.testing.assert_frame_equal(recent(hourly, 1), hourly)
    assert recent(frame.head(0), 3).empty
