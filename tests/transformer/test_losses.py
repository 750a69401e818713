import numpy as np
import torch
from scipy.stats import norm

from fints.transformer.losses import pinball_loss, window_losses

P = torch.linspace(0.001, 0.999, 999, dtype=torch.float64)


def test_many_quantiles_give_the_continuous_ranked_probability_score():
    """Closed form of the normal distribution (Gneiting and Raftery, 2007, eq. 21)."""
    z = 0.7
    expected = z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi)
    quantiles = torch.from_numpy(norm.ppf(P.numpy()))[None, None]
    loss = pinball_loss(quantiles, torch.tensor([[z]], dtype=torch.float64), P)
    assert np.isclose(loss.item(), expected, atol=2e-3)


def test_the_median_alone_gives_the_absolute_error():
    loss = pinball_loss(torch.tensor([[[1.0]]]), torch.tensor([[4.0]]), torch.tensor([0.5]))
    assert loss.item() == 3.0


def test_each_window_has_its_own_loss():
    generator = torch.Generator().manual_seed(0)
    quantiles = torch.randn(5, 3, 999, generator=generator, dtype=torch.float64)
    target = torch.randn(5, 3, generator=generator, dtype=torch.float64)
    losses = window_losses(quantiles, target, P)
    alone = [pinball_loss(quantiles[i : i + 1], target[i : i + 1], P) for i in range(5)]
    assert torch.allclose(losses, torch.stack(alone))
    assert torch.allclose(losses.mean(), pinball_loss(quantiles, target, P))
