import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

import fints
from fints.series import add_features, validate_panel
from fints.sessions import get_calendar
from fints.transformer import NetworkConfig, TrainingConfig

PLAN = fints.FrequencyPlan.from_periods([fints.Cycle(7.0, "calendar"), 20, 60])
COVARIATES = ["monday", "tuesday", "thursday", "friday", "month_end", "month_start", "month_cos", "early_close"]
TINY = NetworkConfig(dim=16, n_heads=1, n_layers=1)
BRIEF = TrainingConfig(max_steps=20, batch_size=16, validate_every=10, validation_windows=64)


def planted_panel(week, seed=2, n=700):
    """Two series of noise with memory and, if asked for, one cycle of a calendar week."""
    rng = np.random.default_rng(seed)
    days = get_calendar("XNYS").next_sessions("1999-12-31", n)
    civil = (days - pd.Timestamp("1970-01-01")).days.to_numpy()
    parts = []
    for name in ("AAA", "BBB"):
        noise = lfilter([1], [1, -0.7], rng.standard_normal(n))
        y = 10 + noise + 1.4 * week * np.cos(2 * np.pi * civil / 7)
        parts.append(pd.DataFrame({"unique_id": name, "ds": days, "y": y}))
    return add_features(validate_panel(pd.concat(parts, ignore_index=True)), COVARIATES)


def tiny_model(encoding="cycle", network=TINY, training=BRIEF):
    return fints.CycleTransformer(5, 40, encoding, PLAN).with_settings(network, training)


@pytest.fixture(scope="package")
def weekly_panel():
    return planted_panel(1.0)


@pytest.fixture(scope="package")
def weekly_model(weekly_panel):
    return tiny_model().fit(weekly_panel)


@pytest.fixture(scope="package")
def plain_panel():
    return planted_panel(0.0)


@pytest.fixture(scope="package")
def plain_model(plain_panel):
    return tiny_model().fit(plain_panel)
