import numpy as np
import pandas as pd
import pytest
import torch

import fints
from fints.forecast import QUANTILES
from fints.series.windows import Tape
from fints.transformer import NetworkConfig, TrainingConfig
from fints.transformer.layers import mean_weights
from fints.transformer.training import Split, TrainingWindows, train
from fints.transformer.trust import SHARE, Trust, settle

MEDIAN = QUANTILES.index(0.5)
TRAINING = TrainingConfig(
    max_steps=120, batch_size=32, learning_rate=5e-3, average=0.9, validate_every=30, validation_share=0.3
)


def panel_of(values):
    ds = pd.date_range("2015-01-01", periods=len(values), unit="ns")
    frame = pd.DataFrame({"unique_id": "a", "ds": ds, "y": values, "exchange": "24/7", "interval": "1d"})
    return fints.series.validate_panel(frame)


def trained(values, seed=0):
    """A network without start on windows of a series, and its validation tail."""
    model = fints.CycleTransformer(h=2, input_size=8, encoding="rope", random_seed=seed).with_settings(
        NetworkConfig(dim=16, n_layers=1, n_heads=1, dropout=0.0), TRAINING
    )
    windows = TrainingWindows(Tape.from_panel(panel_of(values), (), ()), 8, 2)
    network = model.design.network_for(0, 0)
    train(network, windows, TRAINING, seed=seed)
    return network, windows, Split.by_time(windows, TRAINING.validation_share).validation


def quantiles(network, windows, origins):
    with torch.inference_mode():
        return network(windows.batch(origins).inputs)


@pytest.fixture(scope="module")
def alternating():
    """A sign that changes every bar: attention learns it, the context's mean does not know it."""
    rng = np.random.default_rng(0)
    return trained(np.tile([1.0, -1.0], 400) + 0.3 * rng.standard_normal(800))


def test_what_is_learned_beyond_chance_is_kept_in_part(alternating):
    network, windows, origins = alternating
    before = network.correction()
    trust = settle(network, windows, origins)
    assert trust == Trust(SHARE, SHARE)
    for now, then in zip(network.correction()[1:], before[1:], strict=True):
        torch.testing.assert_close(now, SHARE * then)
    network.restore(before)


def test_where_nothing_can_be_learned_most_networks_keep_their_start():
    kept = []
    for seed in range(6):
        network, windows, origins = trained(np.random.default_rng(100 + seed).standard_normal(500), seed)
        trust = settle(network, windows, origins)
        kept.append(trust)
        mean = quantiles(network, windows, origins) @ network.head.weights
        if trust.location == 0:
            torch.testing.assert_close(mean, torch.zeros_like(mean), atol=1e-6, rtol=0)
    assert sum(trust.location > 0 for trust in kept) <= 2


def test_all_of_a_correction_is_the_network_and_nothing_of_it_the_start(alternating):
    network, windows, origins = alternating
    before, learned = network.correction(), quantiles(network, windows, origins)
    network.shrink(1.0, 1.0)
    assert torch.equal(quantiles(network, windows, origins), learned)
    network.shrink(0.0, 0.0)
    start = quantiles(network, windows, origins)
    torch.testing.assert_close(start, start[:1].expand_as(start))
    network.restore(before)
    assert torch.equal(quantiles(network, windows, origins), learned)


def test_the_spread_can_be_given_up_alone(alternating):
    network, windows, origins = alternating
    before, learned = network.correction(), quantiles(network, windows, origins)
    network.shrink(1.0, 0.0)
    kept = quantiles(network, windows, origins)
    torch.testing.assert_close(kept[..., MEDIAN], learned[..., MEDIAN])
    widths = kept.diff(dim=-1)
    torch.testing.assert_close(widths, widths[:1].expand_as(widths))
    network.restore(before)


def test_half_of_a_location_moves_the_median_half_way(alternating):
    network, windows, origins = alternating
    before, learned = network.correction(), quantiles(network, windows, origins)[..., MEDIAN]
    network.shrink(0.5, 1.0)
    moved = quantiles(network, windows, origins)[..., MEDIAN]
    torch.testing.assert_close(moved, 0.5 * learned, atol=1e-6, rtol=1e-5)  # the start is at zero
    network.restore(before)


def test_a_spread_without_a_location_leaves_the_mean_at_the_start(alternating):
    network, windows, origins = alternating
    before, learned = network.correction(), quantiles(network, windows, origins)
    network.shrink(0.0, 1.0)
    kept = quantiles(network, windows, origins)
    mean = kept.double().numpy() @ np.array(mean_weights(QUANTILES))
    np.testing.assert_allclose(mean, 0.0, atol=1e-6)
    torch.testing.assert_close(kept.diff(dim=-1), learned.diff(dim=-1))
    network.restore(before)
