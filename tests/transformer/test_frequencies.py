"""Training of learned frequencies."""

import numpy as np
import pandas as pd
import pytest
import torch

import fints
from fints.encodings import effective_periods
from fints.series import validate_panel
from fints.sessions import get_calendar
from fints.transformer import NetworkConfig, TrainingConfig
from fints.transformer.training import TrainingTask
from tests.transformer.conftest import BRIEF, small_model

TRUE = 20.0
ALONE = NetworkConfig(dim=16, n_heads=1, n_layers=1, dropout=0.0, covariates=False, companions=False, linear_skip=False)
"""Attention alone: nothing else may explain the wave."""


@pytest.fixture(scope="module")
def wave():
    sessions = get_calendar("XNYS").sessions("2013-01-02", "2016-12-30")
    noise = 0.1 * np.random.default_rng(0).standard_normal(len(sessions))
    y = np.sin(2 * np.pi * np.arange(len(sessions)) / TRUE + 1) + noise
    return validate_panel(pd.DataFrame({"unique_id": "WAVE", "ds": sessions, "y": y}))


def trained(panel, start, **changes):
    training = TrainingConfig(max_steps=60, validate_every=30, validation_windows=16, **changes)
    model = fints.CycleTransformer(
        60, 60, {"kind": "cycle", "learn": True, "share": 1.0}, fints.FrequencyPlan.from_periods([start])
    )
    return model.with_settings(ALONE, training).fit(panel)


@pytest.mark.parametrize("start", [19.0, 21.0])
def test_a_period_that_is_five_percent_off_is_learned(wave, start):
    record = trained(wave, start).fitted.record
    assert [step for step, _ in record.periods] == [step for step, _ in record.validation]
    path = [start, *(periods["offset"][0] for _, periods in record.periods)]
    assert (np.diff(np.abs(np.array(path) - TRUE)) < 0).all()
    assert abs(path[-1] - TRUE) < 0.6 * abs(start - TRUE)


def test_the_periods_told_are_those_of_the_weights_that_are_kept(wave):
    fitted = trained(wave, 21.0).fitted
    step, _ = fitted.record.best
    assert dict(fitted.record.periods)[step] == effective_periods(fitted.network.encoding)


def test_a_rate_of_zero_keeps_the_plan(wave):
    record = trained(wave, 21.0, frequency_rate=0.0).fitted.record
    assert {periods["offset"][0] for _, periods in record.periods} == {21.0}


def test_what_learns_no_frequency_leaves_no_trace(fitted):
    assert fitted.fitted.record.periods == ()


@pytest.mark.parametrize(
    "encoding", [{"kind": "cycle", "learn": True}, {"kind": "rope", "learn": True}, "t_rope"], ids=str
)
def test_a_saved_model_keeps_its_frequencies_to_the_bit(daily_panel, encoding, tmp_path):
    model = small_model(encoding=encoding).fit(daily_panel)
    model.save(tmp_path / "model")
    again = fints.CycleTransformer.load(tmp_path / "model")
    one, other = (m.fitted.network.encoding for m in (model, again))
    assert any(p.abs().max() > 0 for p in one.frequency_parameters())
    for a, b in zip(one.frequency_parameters(), other.frequency_parameters(), strict=True):
        assert torch.equal(a, b)
        assert b.dtype == torch.float64
    assert effective_periods(one) == effective_periods(other)
    assert np.array_equal(model.forecast().quantiles, again.forecast(daily_panel).quantiles)


@pytest.mark.parametrize("encoding", [{"kind": "cycle", "learn": True}, "t_rope", "cycle"], ids=str)
def test_frequencies_have_a_learning_rate_of_their_own_and_no_decay(encoding):
    network = small_model(encoding=encoding).design.network_for(0, 0)
    config = BRIEF.model_copy(update={"frequency_rate": 7.0})
    groups = TrainingTask(network, config).configure_optimizers()["optimizer"].param_groups
    every = [id(p) for group in groups for p in group["params"]]
    assert sorted(every) == sorted(id(p) for p in network.parameters())
    frequencies = {id(p) for p in network.encoding.frequency_parameters()}
    apart = [group for group in groups if frequencies & {id(p) for p in group["params"]}]
    assert len(apart) == (1 if frequencies else 0)
    for group in apart:
        assert {id(p) for p in group["params"]} == frequencies
        assert group["initial_lr"] == pytest.approx(7 * config.learning_rate)
        assert group["weight_decay"] == 0
