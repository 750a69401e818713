import numpy as np
import pytest
import torch

from fints.explain.attention import attention_weights, look
from fints.explain.explanation import groups_in
from fints.explain.history import History
from fints.transformer.inputs import network_inputs
from tests.explain.conftest import TINY, tiny_model


@pytest.fixture(scope="module")
def history(weekly_model, weekly_panel):
    return History.of(weekly_model, weekly_panel)


@pytest.fixture(scope="module")
def seen(history):
    return look(history, groups_in(history), history.learned(), most=24)


def test_attention_over_all_lags_and_over_all_places_of_a_cycle_is_all_there_is(seen):
    for profile in (seen.by_lag, *(phase.profile for phase in seen.by_phase)):
        assert np.allclose(profile.mass.sum(axis=-1), 1)
        assert profile.even.sum() == pytest.approx(1)


def test_no_more_than_that_lies_in_days_and_weeks_back(seen):
    assert [profile.name for profile in seen.by_distance] == ["days back", "weeks back"]
    for profile in seen.by_distance:
        assert (profile.mass.sum(axis=-1) <= 1 + 1e-6).all()


def test_only_cycles_that_fit_twice_into_the_context_have_places(seen):
    assert [phase.name for phase in seen.by_phase] == ["weekly cycle", "monthly cycle"]
    assert [len(phase.profile.bins) for phase in seen.by_phase] == [7, 12]


def test_the_same_weekday_is_the_same_place_of_the_week(history, seen):
    week = seen.by_phase[0]
    days = seen.by_distance[0]
    apart = days.bins % 7 == 0
    assert week.profile.even[0] >= days.even[apart].sum() > 0.4 * week.profile.even[0]
    assert week.same[0][0].value == pytest.approx(float(week.profile.ratio[0, 0, 0]))


@pytest.mark.parametrize("block", ["softmax", "hstu"])
def test_a_network_whose_queries_say_nothing_attends_evenly(weekly_panel, block):
    panel = weekly_panel[weekly_panel["ds"] < "2001"].reset_index(drop=True)
    model = tiny_model(network=TINY.model_copy(update={"block": block})).fit(panel)
    with torch.no_grad():
        for layer in model.fitted.networks[0].blocks:
            if block == "softmax":
                layer.attention.to_q.weight.zero_()
            else:  # a constant score, as SiLU(0) is no attention at all
                layer.to_uq.weight.zero_()
                layer.to_kv.weight.zero_()
                layer.to_uq.bias.fill_(1.0)
                layer.to_kv.bias.fill_(1.0)
    history = History.of(model, panel)
    found = look(history, (), history.learned(), most=8)
    if block == "softmax":
        assert np.allclose(found.by_lag.ratio, 1, atol=1e-5)
    assert np.allclose(found.by_lag.mass.sum(axis=-1), 1)


def test_to_look_leaves_the_network_as_it_was(history):
    network, windows = history.fitted.networks[0], history.windows(history.learned()[:4])
    inputs = network_inputs(windows, history.fitted.start)[0]
    with torch.inference_mode():
        before = network.eval()(inputs)
        weights = attention_weights(network, inputs)
        after = network(inputs)
    assert torch.equal(before, after)
    assert [tuple(w.shape) for w in weights] == [(4, 1, 5, 40)]
    assert not any(module._forward_pre_hooks for module in network.modules())


def test_whether_anything_of_it_is_kept_is_known(weekly_panel):
    panel = weekly_panel[weekly_panel["ds"] < "2001"].reset_index(drop=True)
    model = tiny_model().fit(panel)
    model.fitted.networks[0].shrink(0.0, 0.0)
    history = History.of(model, panel)
    assert not look(history, (), history.learned(), most=4).kept
