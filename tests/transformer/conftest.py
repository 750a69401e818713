import pytest

import fints
from fints.transformer import NetworkConfig, TrainingConfig

SMALL = NetworkConfig(dim=16, n_heads=1, n_layers=2, dropout=0.1)
BRIEF = TrainingConfig(max_steps=6, batch_size=8, validate_every=3, validation_windows=16)
EAGER = BRIEF.model_copy(update={"learning_rate": 0.01, "average": 0.5, "validation_share": 0.1})
"""Leaves the first weights behind within a few steps, so that what is kept has been trained."""


def small_model(**changes):
    """A model that trains in a second; `changes` go to the constructor."""
    arguments = {"h": 5, "input_size": 30, "plan": fints.FrequencyPlan.from_periods([5, 20]), **changes}
    return fints.CycleTransformer(**arguments).with_settings(SMALL, EAGER)


@pytest.fixture(scope="session")
def fitted(daily_panel):
    return small_model().fit(daily_panel)
