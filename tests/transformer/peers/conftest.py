import numpy as np
import pandas as pd
import pytest
import torch

from fints.series import add_features, validate_panel
from fints.sessions import get_calendar
from fints.transformer import NetworkConfig, TrainingConfig
from tests.transformer.conftest import small_model

CROSS = NetworkConfig(dim=16, n_heads=1, n_layers=1, dropout=0.0, cross_asset=True)
QUICK = TrainingConfig(max_steps=4, batch_size=8, validate_every=2, validation_windows=16)


def cross_model(network=None, training=None, **changes):
    """A model with cross-asset attention that trains in a second."""
    return small_model(input_size=20, encoding="t_rope", **changes).with_settings(
        CROSS.model_copy(update=network or {}), QUICK.model_copy(update=training or {})
    )


def speaking(model):
    """Give a fitted model the weights of one that has learned to listen; a few steps may keep those of the start."""
    g = torch.Generator().manual_seed(5)
    for network in model.fitted.networks:
        torch.nn.init.normal_(network.peers.out.weight, std=0.1, generator=g)
    return model


@pytest.fixture(scope="session")
def world():
    """London and two New York series, which close hours later, moved by one shock a day."""
    rng = np.random.default_rng(11)
    shocks, parts = rng.standard_normal(400), []
    for name, exchange in (("LON", "XLON"), ("NYA", "XNYS"), ("NYB", "XNYS")):
        sessions = get_calendar(exchange).sessions("2016-01-04", "2016-12-30")
        y = shocks[(sessions - sessions[0]).days] + 0.3 * rng.standard_normal(len(sessions))
        companion = rng.standard_normal(len(sessions))
        parts.append(
            pd.DataFrame({"unique_id": name, "ds": sessions, "y": y, "exchange": exchange, "past_range": companion})
        )
    panel = validate_panel(pd.concat(parts, ignore_index=True).assign(interval="1d"))
    return add_features(panel, ["monday", "friday"])


@pytest.fixture(scope="session")
def listening(world):
    return speaking(cross_model().fit(world))
