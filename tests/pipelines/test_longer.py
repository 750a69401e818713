import numpy as np
import pytest

from fints.encodings import ENCODINGS
from fints.errors import ConfigError, ModelError
from fints.forecast import Forecaster
from fints.transformer import CycleTransformer, NetworkConfig, TrainingConfig
from fints.transformer.start.memory import n_memories
from pipelines.longer import LongerContext


def small(input_size, encoding="rope", **options):
    model = CycleTransformer(5, input_size, encoding).named("rope")
    network = NetworkConfig(dim=16, n_heads=1, n_layers=1, **options)
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


@pytest.mark.parametrize("encoding", sorted(ENCODINGS))
def test_a_context_ten_times_as_long_has_room_for_more_memories_and_is_read_by_those_that_were_learned(
    encoding, daily_panel
):
    longer = LongerContext(small(20, encoding), 200).fit(daily_panel)
    assert n_memories(200) > n_memories(20)
    assert np.isfinite(longer.forecast().quantiles).all()
    assert longer.model.design.input_size == 20


@pytest.mark.parametrize("options", [{"linear_skip": False}, {"cross_asset": True}, {"companions": False}], ids=str)
def test_no_option_of_the_network_stands_in_the_way(options, daily_panel):
    noise = np.random.default_rng(3).normal(size=len(daily_panel))
    longer = LongerContext(small(20, "rope", **options), 200).fit(daily_panel.assign(past_noise=noise))
    assert np.isfinite(longer.forecast().quantiles).all()


def test_what_does_not_apply_says_so_and_leaves_the_model_as_it_was(daily_panel, monkeypatch):
    longer = LongerContext(small(20), 200).fit(daily_panel)

    def learned_for_fewer(*_):
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(longer.model, "_forecast", learned_for_fewer)
    with pytest.raises(ModelError, match="what was learned on 20 bars does not apply to 200"):
        longer.forecast()
    assert longer.model.design.input_size == 20


def test_a_shorter_context_is_refused():
    with pytest.raises(ConfigError, match="30 bars is shorter than the 40"):
        LongerContext(small(40), 30)
