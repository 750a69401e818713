from copy import deepcopy

import numpy as np
import pandas as pd
import pytest

import fints
from fints.combination import Combination, Combined, ConformalForecaster, Tail, Weights
from fints.conformal import AdaptiveBands
from fints.errors import ModelError, NotFittedError
from fints.forecast import Forecaster
from fints.sessions import get_calendar

TAIL = Tail(origins=20)


@pytest.fixture(scope="module")
def early(panel):
    return panel[panel["ds"] <= "2018-06-29"].reset_index(drop=True)


@pytest.fixture(scope="module")
def once(level, early):
    return ConformalForecaster(level(), tail=TAIL).fit(early)


@pytest.fixture
def fitted(once):
    return deepcopy(once)


def width(forecast) -> float:
    lower, upper = forecast.band(80)
    return float((upper - lower).mean())


def test_any_forecaster_gets_bands_that_hold(level, early):
    model = ConformalForecaster(level(spread=0.2), tail=TAIL).fit(early)
    assert isinstance(model, Forecaster)
    assert width(model.forecast()) == pytest.approx(2 * 1.2816, rel=0.25)
    assert "Level-conformal-lo-95" in model.predict().columns


def test_the_point_stays_the_models(level, early):
    model = ConformalForecaster(level(off=3.0), tail=TAIL).fit(early)
    assert np.array_equal(model.forecast().mean, level(off=3.0).fit(early).forecast().mean)


def test_bands_follow_what_a_longer_history_holds(fitted, panel):
    stormy = panel.assign(y=panel["y"].where(panel["ds"] <= "2018-06-29", panel["y"].mean() + 4 * (panel["y"] % 2 - 1)))
    for adaptive, grows in ((True, True), (False, False)):
        fitted.adaptive = adaptive
        assert (width(fitted.forecast(stormy)) > 1.3 * width(fitted.forecast())) is grows


def test_bands_follow_though_a_longer_series_has_ended(fitted, panel):
    stormy = panel.assign(y=panel["y"].where(panel["ds"] <= "2018-06-29", panel["y"].mean() + 4 * (panel["y"] % 2 - 1)))
    days = get_calendar("XNYS").sessions("2012-01-03", "2017-06-30")
    gone = pd.DataFrame({"unique_id": "GONE", "ds": days, "y": np.sin(np.arange(len(days)))})
    both = pd.concat([stormy, gone.assign(exchange="XNYS", interval="1d")], ignore_index=True)
    fitted.model.fit(both[both["ds"] <= "2018-06-29"].reset_index(drop=True))
    moved, expected = deepcopy(fitted).update(both).drifts, deepcopy(fitted).update(stormy).drifts
    assert {name: drift.size for name, drift in moved.items()} == {name: drift.size for name, drift in expected.items()}
    assert all(drift.size > 1 for drift in moved.values())


def test_a_forecast_from_a_history_knows_nothing_after_it(once, fitted, panel):
    cut = panel["ds"] <= "2018-09-28"
    changed = panel.assign(y=panel["y"].where(cut, 1e6))
    model = fitted
    first = model.forecast(panel[cut].reset_index(drop=True))
    # what it has seen of a later history, and keeps, changes nothing
    model.forecast(changed)
    second = model.forecast(changed[cut].reset_index(drop=True))
    fresh = deepcopy(once).forecast(panel[cut].reset_index(drop=True))
    assert np.array_equal(first.quantiles, second.quantiles)
    assert np.array_equal(first.quantiles, fresh.quantiles)


def test_a_night_can_be_stored_and_taken_up_again(level, fitted, panel, early):
    model = fitted
    stored = model.update(panel).to_json()
    again = ConformalForecaster.around(level().fit(early), AdaptiveBands.from_json(stored))
    assert np.array_equal(again.forecast(panel).quantiles, model.forecast(panel).quantiles)
    assert again.bands.until == panel["ds"].max().isoformat()


def test_updating_with_nothing_new_changes_nothing(fitted, early):
    model = fitted
    assert model.update(early) is model.bands
    assert model.bands.drifts == {}


def test_a_tail_too_short_for_the_level_is_warned_of(level, panel):
    one = panel[panel["unique_id"] == "A"].reset_index(drop=True)
    with pytest.warns(UserWarning, match="95 % takes 39 past errors, and there are 12"):
        ConformalForecaster(level(), tail=Tail(origins=12)).fit(one)


def test_a_model_that_fails_is_named_with_its_cause(level, early):
    with pytest.raises(ModelError, match="Level cannot be calibrated: ValueError: told to fail"):
        ConformalForecaster(level(fails_from=1), tail=TAIL).fit(early)


def test_it_says_so_when_it_was_not_fitted_or_has_no_history(level, once, early):
    with pytest.raises(NotFittedError, match="call fit"):
        ConformalForecaster(level()).forecast()
    bands = once.bands
    with pytest.raises(NotFittedError, match="pass the panel"):
        ConformalForecaster.around(level().fit(early), bands).forecast()


def test_baselines_go_through_the_same_code(early):
    model = fints.ConformalForecaster(fints.HAR(h=5), tail=Tail(origins=20)).fit(early)
    assert width(model.forecast()) == pytest.approx(2 * 1.2816, rel=0.3)


def test_a_series_that_was_too_short_at_an_origin_waits(level, panel):
    """Its bands stay where the calibration left them; those of the longer series follow."""
    young = panel[(panel["unique_id"] == "A") | (panel["ds"] >= "2018-06-01")].reset_index(drop=True)
    fitted = ConformalForecaster(level(), tail=TAIL).fit(panel[panel["ds"] <= "2018-06-29"].reset_index(drop=True))
    for warm_up, followed in ((1, {"A", "B"}), (400, {"A"}), (10_000, set())):
        model = ConformalForecaster.around(fitted.fitted.model, fitted.bands, warm_up=warm_up)
        assert set(model.update(young).drifts) == followed


def test_a_series_that_is_too_short_for_a_model_at_an_origin_does_not_stop_the_others(panel, early):
    model = ConformalForecaster(fints.HAR(5, spans=(1, 200)), tail=TAIL).fit(early)
    begun = panel["ds"] >= "2017-11-01"
    young = panel[(panel["unique_id"] == "A") | begun].reset_index(drop=True)
    both, alone = model.forecast(young), model.forecast(young[young["unique_id"] == "A"].reset_index(drop=True))
    own = (both.frame["unique_id"] == "A").to_numpy()
    np.testing.assert_array_equal(both.of(own).quantiles, alone.quantiles)


def test_bands_follow_the_same_whether_members_are_asked_from_all_of_a_history_or_from_what_they_read(panel, early):
    members = [fints.HAR(h=5).fit(early), fints.HAR(h=5, spans=(1, 5, 22, 63)).fit(early)]
    weights = Weights.equal([member.name for member in members])
    combined = Combined(tuple(members), weights)
    base = ConformalForecaster(fints.HAR(h=5), tail=TAIL).fit(early).fitted.bands

    def asked(*, whole: bool):
        seen: list[int] = []
        combination = Combination.around(combined)
        around = ConformalForecaster.around(Spy(combination, seen, whole=whole), base, warm_up=70)
        return around.forecast(panel), seen

    (short, few), (long, many) = asked(whole=False), asked(whole=True)
    assert len(few) == len(many) > 2
    assert max(few[:-1]) <= 63 * panel["unique_id"].nunique() < min(many)
    np.testing.assert_array_equal(short.quantiles, long.quantiles)
    np.testing.assert_array_equal(short.mean, long.mean)


class Spy:
    """A forecaster that notes how many rows it is asked from, and may keep what it reads to itself."""

    def __init__(self, model, seen, *, whole):
        self.model, self.seen, self.lookback = model, seen, None if whole else model.lookback
        self.name, self.h = model.name, model.h

    def forecast(self, panel=None, *, at=None, known_at=None):
        self.seen.append(len(panel))
        return self.model.forecast(panel, at=at, known_at=known_at)
