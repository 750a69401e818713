import numpy as np
import pandas as pd
import pytest

from fints.backtest.coverage import REGIMES, coverage_by_stretch, regimes, shares
from fints.errors import SchemaError, UnknownNameError


def scored(inside, **columns):
    return pd.DataFrame({"model": "m", "cov80": np.asarray(inside, float), **columns})


def test_shares_are_taken_step_by_step():
    table = shares(scored([1, 0, 1, 1], step=[1, 1, 2, 2]), "step", [80])
    assert table[["step", "cov80", "n"]].values.tolist() == [[1, 0.5, 2], [2, 1.0, 2]]


def test_regimes_come_from_calm_to_stormy():
    table = shares(scored([1, 0, 1], regime=["stormy", "calm", "middling"]), "regime", [80])
    assert table["regime"].tolist() == list(REGIMES)


def test_what_is_not_there_is_refused():
    with pytest.raises(UnknownNameError, match="band level"):
        shares(scored([1], step=[1]), "step", [95])
    with pytest.raises(UnknownNameError, match="column"):
        shares(scored([1]), "step", [80])


@pytest.fixture
def panel():
    days = pd.date_range("2020-01-01", periods=300)
    return pd.DataFrame({"unique_id": "A", "ds": days, "y": 0.0, "past_log_range": np.repeat([1.0, 3.0, 2.0], 100)})


def test_windows_are_sorted_by_the_volatility_before_them(panel):
    windows = pd.DataFrame({"unique_id": "A", "cutoff": panel["ds"].iloc[[50, 150, 250]]})
    assert regimes(panel, windows)["regime"].tolist() == ["calm", "stormy", "middling"]


def test_nothing_after_a_cutoff_counts(panel):
    windows = pd.DataFrame({"unique_id": "A", "cutoff": panel["ds"].iloc[[50, 150, 250]]})
    later = panel.assign(past_log_range=panel["past_log_range"].where(panel.index <= 250, 99.0))
    assert regimes(panel, windows).equals(regimes(later, windows))


def test_a_cutoff_before_the_panel_is_refused(panel):
    windows = pd.DataFrame({"unique_id": "A", "cutoff": [pd.Timestamp("2019-01-01")]})
    with pytest.raises(SchemaError, match="no bar up to"):
        regimes(panel, windows)


class Result:
    """As much of a comparison as is read."""

    def __init__(self, rows):
        self.rows = rows

    def shared(self):
        return self.rows


def test_stretches_of_the_horizon_hold_their_steps():
    rows = scored([1, 0, 0, 1, 1, 1], step=[1, 2, 3, 4, 5, 6])
    table = coverage_by_stretch(Result(rows), ends=(1, 4), levels=[80])
    assert table["steps"].tolist() == ["1", "2-4", "5-6"]
    assert table["cov80"].tolist() == pytest.approx([1, 1 / 3, 1])
    assert table["n"].tolist() == [1, 3, 2]


def test_stretches_beyond_a_short_horizon_are_not_there():
    table = coverage_by_stretch(Result(scored([1, 0], step=[1, 2])), ends=(1, 5, 10), levels=[80])
    assert table["steps"].tolist() == ["1", "2"]
