import numpy as np
import pytest

from fints.baselines import HAR, GradientBoosting, GradientBoostingConfig
from fints.combination import Combination, Combined, Weights
from fints.errors import SeriesError
from fints.forecast import lookback
from fints.series import recent
from tests.transformer.conftest import small_model


@pytest.fixture(scope="module")
def combined(fitted, daily_panel):
    """Members of every kind that states how far back it looks."""
    boosting = GradientBoosting(5, GradientBoostingConfig(iterations=10, max_rows=2000, context=40, lags=(1, 5, 30)))
    members = (fitted, HAR(5, calendar=True).fit(daily_panel), boosting.fit(daily_panel))
    return Combination.around(Combined(members, Weights.equal([member.name for member in members])))


@pytest.fixture
def stopped(daily_panel):
    """A share that is suspended: its last value, again and again, for longer than the context."""
    still = daily_panel["unique_id"].eq("AAA") & daily_panel.groupby("unique_id").cumcount(ascending=False).lt(40)
    return daily_panel.assign(y=daily_panel["y"].where(~still, 2.0))


@pytest.mark.parametrize("spoiled", [False, True])
def test_what_is_stated_as_read_is_all_that_is_read(fitted, combined, daily_panel, stopped, spoiled):
    panel = stopped if spoiled else daily_panel
    for model in (fitted, combined):
        short = recent(panel, lookback(model))
        assert len(short) == lookback(model) * panel["unique_id"].nunique() < len(panel)
        whole, cut = model.forecast(panel), model.forecast(short)
        assert np.isfinite(whole.quantiles).all()
        np.testing.assert_array_equal(cut.quantiles, whole.quantiles)
        np.testing.assert_array_equal(cut.mean, whole.mean)


def test_what_lies_before_the_context_is_not_judged_and_what_lies_in_it_is(fitted, daily_panel):
    size, ages = lookback(fitted), daily_panel.groupby("unique_id").cumcount(ascending=False)
    before, inside = (daily_panel.assign(y=daily_panel["y"].where(ages != age)) for age in (size, size - 1))
    np.testing.assert_array_equal(fitted.forecast(before).mean, fitted.forecast(daily_panel).mean)
    with pytest.raises(SeriesError, match="2 series cannot be used"):
        fitted.forecast(inside)


def test_a_combination_looks_as_far_back_as_the_members_that_were_fitted(fitted, daily_panel):
    longer = small_model(input_size=45).fit(daily_panel)
    made = Combination([small_model()])
    assert lookback(made) == 30
    made.fitted = Combined((longer,), Weights.equal([longer.name]))
    assert lookback(made) == 45


def test_attention_to_other_series_has_no_such_end(fitted):
    network = fitted.design.network.model_copy(update={"cross_asset": True})
    assert lookback(fitted.with_settings(network)) is None
