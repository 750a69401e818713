import numpy as np
import pytest

from fints.errors import ConfigError, ModelError
from fints.forecast import Forecaster
from fints.transformer import CycleTransformer, NetworkConfig, TrainingConfig
from pipelines.longer import LongerContext


def small(input_size):
    model = CycleTransformer(5, input_size, "rope").named("rope")
    network = NetworkConfig(dim=8, n_heads=1, n_layers=1)
    return model.with_settings(network, TrainingConfig(max_steps=2, batch_size=8, validation_windows=16))


def test_it_is_trained_as_the_model_is_and_forecasts_from_more_bars(daily_panel):
    plain, same, longer = small(40).fit(daily_panel), LongerContext(small(40), 40), LongerContext(small(40), 60)
    assert isinstance(longer, Forecaster)
    assert (longer.name, longer.h) == ("rope", 5)
    assert np.array_equal(same.fit(daily_panel).forecast().quantiles, plain.forecast().quantiles)
    first = longer.fit(daily_panel).forecast()
    assert longer.fitted.until == plain.fitted.until
    last = daily_panel.groupby("unique_id").tail(60).reset_index(drop=True)
    changed = last.copy()
    changed.loc[last.groupby("unique_id").cumcount() < 20, "y"] += 0.5
    assert np.array_equal(longer.forecast(last).quantiles, first.quantiles)
    assert not np.array_equal(longer.forecast(changed).quantiles, first.quantiles)
    assert np.array_equal(plain.forecast(changed).quantiles, plain.forecast(last).quantiles)
    assert longer.forecast(h=5).frame["step"].max() == 5


def test_a_context_for_which_nothing_was_learned_says_so_and_leaves_the_model_as_it_was(daily_panel):
    longer = LongerContext(small(20), 200).fit(daily_panel)
    with pytest.raises(ModelError, match="what was learned on 20 bars does not apply to 200"):
        longer.forecast()
    assert longer.model.design.input_size == 20


def test_a_shorter_context_is_refused():
    with pytest.raises(ConfigError, match="30 bars is shorter than the 40"):
        LongerContext(small(40), 30)
