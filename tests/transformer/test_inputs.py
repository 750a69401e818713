import numpy as np
import torch

from fints.series.scaling import standard_scaling
from fints.series.windows import CLOCKS, Windows
from fints.transformer.inputs import network_inputs
from fints.transformer.start import flat_start


def windows(values):
    """Windows of shape (B, L, 1 + n_past) with nothing known of the calendar and two bars asked for."""
    b, length, _ = values.shape
    at, ahead = np.zeros((b, length)), np.zeros((b, 2))
    return Windows(
        values=values,
        calendar=np.empty((b, length, 0)),
        future_calendar=np.empty((b, 2, 0)),
        places=dict.fromkeys(("index", *CLOCKS), at),
        future_places=dict.fromkeys(("index", *CLOCKS), ahead),
        unique_ids=np.full(b, "A"),
        hours=at,
        future_hours=ahead,
    )


def scaled(values):
    inputs, _ = network_inputs(windows(values), flat_start(0, values.shape[2] - 1, values.shape[1]))
    return inputs.values


def test_each_series_of_a_window_is_scaled_by_its_own_context():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 40, 2)) * [5.0, 0.01] + [100.0, -3.0]
    z = scaled(values)
    assert torch.allclose(z.mean(dim=1), torch.zeros(3, 2), atol=1e-5)
    assert torch.allclose(z.std(dim=1, correction=0), torch.ones(3, 2), atol=1e-5)


def test_an_unknown_companion_stands_at_its_mean():
    values = np.random.default_rng(1).normal(size=(1, 20, 3))
    values[0, :, 2] = np.nan
    values[0, 3, 1], values[0, 4, 1] = np.nan, np.inf
    z = scaled(values)
    assert z[0, 3, 1] == z[0, 4, 1] == 0
    assert (z[0, :, 2] == 0).all()
    assert torch.isfinite(z).all()


def test_a_context_that_does_not_move_keeps_the_unit_of_what_follows():
    """Dividing by a spread of nothing would blow a small move up to a million spreads, and drown a batch in it."""
    flat = np.full((1, 30), 0.25)
    assert standard_scaling(flat).apply(np.array([[0.35]])) == np.array([[0.35 - 0.25]])


def test_a_broken_bar_is_clamped():
    values = np.random.default_rng(2).normal(size=(1, 400, 1))
    values[0, 7] = 1e9
    assert scaled(values).max() == 12
