"""Which bars forecast were over, on exchanges that close at different hours."""

from __future__ import annotations

import pandas as pd
import pytest

from pipelines.asof import AsOf
from pipelines.behind import newest_over


def panel(interval: str = "1d", **exchanges: str) -> pd.DataFrame:
    return pd.DataFrame({"unique_id": list(exchanges), "exchange": list(exchanges.values()), "interval": interval})


def ahead(**first: str) -> pd.DataFrame:
    """Forecast two sessions of each series; the week has no holiday in New York or Tokyo."""
    days = {name: pd.date_range(day, periods=2) for name, day in first.items()}
    return pd.concat([pd.DataFrame({"unique_id": name, "ds": stamps}) for name, stamps in days.items()])


def known(text: str) -> AsOf:
    return AsOf(pd.Timestamp("2026-10-14"), pd.Timestamp(text))


BOTH = panel(NEW="XNYS", TYO="XTKS")


def test_series_that_are_up_to_date_have_nothing_over() -> None:
    forecast = ahead(NEW="2026-10-15", TYO="2026-10-15")
    assert newest_over(forecast, BOTH, known("2026-10-14 22:00Z")) == {}
    assert newest_over(forecast, BOTH, known("2026-10-14")) == {}


@pytest.mark.parametrize(
    ("moment", "over"),
    [
        ("2026-10-15 05:00Z", {}),
        ("2026-10-15 08:00Z", {"TYO": "2026-10-15"}),  # Tokyo has closed, New York has not opened
        ("2026-10-15 22:00Z", {"NEW": "2026-10-15", "TYO": "2026-10-15"}),
    ],
)
def test_each_series_is_held_against_its_own_exchange(moment: str, over: dict[str, str]) -> None:
    found = newest_over(ahead(NEW="2026-10-15", TYO="2026-10-15"), BOTH, known(moment))
    assert {name: f"{ds:%Y-%m-%d}" for name, ds in found.items()} == over


@pytest.mark.parametrize("moment", ["2026-10-14 22:00Z", "2026-10-14"])
def test_a_series_whose_bars_have_not_come_has_sessions_that_are_over(moment: str) -> None:
    found = newest_over(ahead(NEW="2026-10-15", TYO="2026-10-13"), BOTH, known(moment))
    assert found == {"TYO": pd.Timestamp("2026-10-14")}


def test_a_bar_within_the_day_is_over_once_it_has_settled() -> None:
    stamps = pd.date_range("2026-10-14 09:30", periods=4, freq="h")
    forecast = pd.DataFrame({"unique_id": "NEW", "ds": stamps})
    rows = panel("1h", NEW="XNYS")
    assert newest_over(forecast, rows, known("2026-10-14 14:40Z")) == {}
    assert newest_over(forecast, rows, known("2026-10-14 15:45Z")) == {"NEW": stamps[1]}
