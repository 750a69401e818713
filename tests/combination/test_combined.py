import numpy as np
import pytest

from fints.combination import Combination, Combined, Weights
from fints.errors import ModelError
from fints.forecast import Forecaster

EQUAL = Weights.equal(["a", "b"])


@pytest.fixture(scope="module")
def parts(level, panel):
    return level("a").fit(panel), level("b", off=4.0).fit(panel)


def test_fitted_members_are_taken_as_they_are(parts, panel):
    weights = Weights(("a", "b"), (2,), np.array([[0.75, 0.25], [0.5, 0.5]]))
    combination = Combination.around(Combined(parts, weights))
    assert isinstance(combination, Forecaster)
    forecast = combination.forecast(panel)
    away = forecast.mean - parts[0].forecast(panel).mean
    assert away == pytest.approx(np.where(forecast.frame["step"] <= 2, 1.0, 2.0))
    assert "Combination-lo-95" in combination.predict(panel).columns


@pytest.mark.parametrize("known", ["A", "B"])
def test_of_a_series_that_a_member_does_not_know_the_others_share_its_weight(parts, panel, known):
    combined = Combined(parts, EQUAL, series={"b": frozenset({known})})
    forecast = Combination.around(combined).forecast(panel)
    alone = parts[0].forecast(panel)
    assert forecast.frame.equals(alone.frame)
    away = forecast.mean - alone.mean
    assert away == pytest.approx(np.where(forecast.frame["unique_id"] == known, 2.0, 0.0))


def test_a_series_that_no_member_knows_is_named(parts, panel):
    combined = Combined(parts, EQUAL, series={"a": frozenset({"A"}), "b": frozenset({"A"})})
    with pytest.raises(ModelError, match="no member of the combination was fitted on B"):
        Combination.around(combined).forecast(panel)
    one = panel[panel["unique_id"] == "A"].reset_index(drop=True)
    assert len(Combination.around(combined).forecast(one)) == 5


def test_members_of_other_bars_are_refused(parts, panel, level):
    other = level("b", h=4).fit(panel)
    with pytest.raises(ModelError, match="b forecasts other bars than a"):
        Combined((parts[0], other), EQUAL).forecast(panel, None, None)
