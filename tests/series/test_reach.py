"""The ends of calendars are those of the libraries that are installed: some are a year or less away."""

import numpy as np
import pandas as pd
import pytest

from fints.series import future_frame, within_reach
from fints.sessions import get_calendar


def series(name: str, exchange: str, end: pd.Timestamp) -> pd.DataFrame:
    ds = get_calendar(exchange).sessions(end - pd.Timedelta(days=60), end)
    y = np.linspace(1.0, 2.0, len(ds))
    return pd.DataFrame({"unique_id": name, "ds": ds, "y": y, "exchange": exchange, "interval": "1d"})


US = series("US", "XNYS", pd.Timestamp("2026-11-30"))


@pytest.mark.parametrize("h", [1, 5, 6, 30])
@pytest.mark.parametrize("exchange", ["XBOM", "XSAU"])
def test_what_cannot_be_dated_is_left_out_and_the_rest_goes_on(exchange: str, h: int) -> None:
    calendar = get_calendar(exchange)
    last = calendar.sessions(calendar.last_day - pd.Timedelta(days=90), calendar.last_day)
    panel = pd.concat(
        [series("FIVE_LEFT", exchange, last[-6]), series("NONE_LEFT", exchange, last[-1]), US], ignore_index=True
    )
    kept, problems = within_reach(panel, h)
    dated = ["FIVE_LEFT", "US"] if h <= 5 else ["US"]
    assert kept["unique_id"].unique().tolist() == dated
    assert kept.groupby("unique_id").size().to_dict() == {name: (panel["unique_id"] == name).sum() for name in dated}
    assert len(future_frame(kept, h)) == h * len(dated)
    assert [problem.unique_id for problem in problems] == [n for n in ("FIVE_LEFT", "NONE_LEFT") if n not in dated]
    assert all(problem.left_out and "cannot be dated" in problem.reason for problem in problems)
    assert all(exchange in problem.reason for problem in problems)


def test_a_panel_that_can_be_dated_is_returned_as_it_is() -> None:
    kept, problems = within_reach(US, 60)
    assert kept is US
    assert problems == []
