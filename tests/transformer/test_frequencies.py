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
from tests.transformer.conftest import SMALL, small_model

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
    training = TrainingConfig(
        max_steps=60, batch_size=16, learning_rate=4e-3, validate_every=30, validation_windows=16, **changes
    )
    model = fints.CycleTransformer(
        60, 60, {"kind": "cycle", "learn": True, "share": 1.0}, fints.FrequencyPlan.from_periods([start])
    )
    return model.with_settings(ALONE, training).fit(panel)


@pytest.mark.parametrize("start", [19.0, 21.0])
def test_a_period_that_is_five_percent_off_is_learned(wave, start):
    record = trained(wave, start).fitted.records[0]
    assert [step for step, _ in record.periods] == [step for step, _ in record.validation]
    path = [periods["offset"][0] for _, periods in record.periods]
    assert path[0] == start
    assert (np.diff(np.abs(np.array(path) - TRUE)) < 0).all()
    assert abs(path[-1] - TRUE) < 0.6 * abs(start - TRUE)


def test_the_periods_told_are_those_of_the_weights_that_are_kept(wave):
    fitted = trained(wave, 21.0).fitted
    step, _ = fitted.records[0].best
    assert dict(fitted.records[0].periods)[step] == effective_periods(fitted.networks[0].encoding)


def test_a_rate_of_zero_keeps_the_plan(wave):
    record = trained(wave, 21.0, frequency_rate=0.0).fitted.records[0]
    assert {periods["offset"][0] for _, periods in record.periods} == {21.0}


def test_what_learns_no_frequency_leaves_no_trace(fitted):
    assert fitted.fitted.records[0].periods == ()


@pytest.mark.parametrize(
    "encoding", [{"kind": "cycle", "learn": True}, {"kind": "rope", "learn": True}, "t_rope"], ids=str
)
def test_a_saved_model_keeps_its_frequencies_to_the_bit(daily_panel, encoding, tmp_path):
    bare = SMALL.model_copy(update={"linear_skip": False})  # so that training finds something to learn
    model = small_model(encoding=encoding).with_settings(network=bare).fit(daily_panel)
    model.save(tmp_path / "model")
    again = fints.CycleTransformer.load(tmp_path / "model")
    one, other = (m.fitted.networks[0].encoding for m in (model, again))
    assert any(p.abs().max() > 0 for p in one.frequency_parameters())
    for a, b in zip(one.frequency_parameters(), other.frequency_parameters(), strict=True):
        assert torch.equal(a, b)
        assert b.dtype == torch.float64
    assert effective_periods(one) == effective_periods(other)
    assert np.array_equal(model.forecast().quantiles, again.forecast(daily_panel).quantiles)
