import numpy as np
import pandas as pd
import pytest

from fints.backtest.events import EVENTS, FEWEST, ORDINARY, by_event, events_of
from fints.backtest.metrics import losses
from fints.errors import SchemaError
from fints.forecast import QUANTILE_COLUMNS
from fints.sessions import get_calendar


@pytest.fixture(scope="module")
def panel():
    days = get_calendar("XNYS").sessions("2018-01-02", "2018-12-31")
    parts = [
        pd.DataFrame({"unique_id": name, "ds": days, "y": 0.0, "exchange": "XNYS", "interval": "1d"})
        for name in ("A", "B")
    ]
    return pd.concat(parts, ignore_index=True)


def scored(panel, error, spread=1.0, model="m"):
    """Forecasts of 0 with a band from -spread to spread; `error` came."""
    rows = panel.assign(y=error, mean=0.0, model=model, cutoff=panel["ds"].min(), step=1)
    half = len(QUANTILE_COLUMNS) // 2
    for i, column in enumerate(QUANTILE_COLUMNS):
        rows[column] = spread * np.sign(i - half)
    return rows.join(losses(rows))


def days_of(panel, kind):
    rows = panel[panel["unique_id"] == "A"]
    return rows["ds"][events_of(rows, panel)[kind]].dt.strftime("%m-%d").tolist()


def test_the_days_are_those_of_the_exchange(panel):
    """Reference: the published early closes, third Fridays and last sessions of New York in 2018."""
    assert days_of(panel, "early close") == ["07-03", "11-23", "12-24"]
    assert days_of(panel, "option expiry") == [
        "01-19", "02-16", "03-16", "04-20", "05-18", "06-15", "07-20", "08-17", "09-21", "10-19", "11-16", "12-21",
    ]  # fmt: skip
    assert days_of(panel, "month end") == [
        "01-31", "02-28", "03-29", "04-30", "05-31", "06-29", "07-31", "08-31", "09-28", "10-31", "11-30", "12-31",
    ]  # fmt: skip


def test_a_day_is_ordinary_unless_it_is_an_event(panel):
    kinds = events_of(panel, panel)
    assert (kinds[list(EVENTS)].any(axis=1) != kinds[ORDINARY]).all()
    assert kinds[ORDINARY].sum() == 2 * (251 - 3 - 12 - 12)


def test_each_exchange_has_its_own_days(panel):
    london = panel[panel["unique_id"] == "B"].assign(exchange="XLON")
    london = london[london["ds"].isin(get_calendar("XLON").sessions("2018-01-02", "2018-12-31"))]
    both = pd.concat([panel[panel["unique_id"] == "A"], london], ignore_index=True)
    early = both[events_of(both, both)["early close"]]
    assert early[early["unique_id"] == "B"]["ds"].dt.strftime("%m-%d").tolist() == ["12-24", "12-31"]


def test_scores_are_those_of_the_days_alone(panel):
    month_end = events_of(panel, panel)["month end"].to_numpy()
    error = np.where(month_end, np.where(panel["unique_id"] == "A", 2.0, 4.0), 0.5)
    table = by_event(scored(panel, error), panel).set_index("event")
    assert table.loc["month end", ["RMSE", "bias", "cov80", "n"]].tolist() == [3.0, 3.0, 0.0, 24]
    assert table.loc[ORDINARY, ["RMSE", "bias", "cov80"]].tolist() == [0.5, 0.5, 1.0]
    assert table.loc["month end", "sessions"] == 12


def test_too_few_days_are_marked_and_none_is_said(panel):
    table = by_event(scored(panel, 0.1), panel).set_index("event")
    assert FEWEST > 3
    assert table["few"].to_dict() == {
        ORDINARY: False, "early close": True, "option expiry": False, "month end": False,
    }  # fmt: skip
    spring = panel[panel["ds"].between("2018-04-02", "2018-06-29")]
    none = by_event(scored(spring, 0.1), panel).set_index("event").loc["early close"]
    assert (none["sessions"], none["n"], none["few"]) == (0, 0, True)
    assert np.isnan(none["RMSE"])


def test_every_model_is_scored_by_itself(panel):
    rows = pd.concat([scored(panel, 1.0, model="one"), scored(panel, 2.0, model="two")], ignore_index=True)
    table = by_event(rows, panel).set_index(["model", "event"])["RMSE"]
    assert table["one", "month end"] == 1.0
    assert table["two", "month end"] == 2.0


def test_a_row_that_is_no_bar_is_refused(panel):
    rows = scored(panel, 0.1)
    with pytest.raises(SchemaError, match="pass the panel that was compared on"):
        by_event(rows, panel[panel["unique_id"] == "A"])
