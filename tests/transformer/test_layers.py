import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from fints.encodings.base import LayerTerms
from fints.forecast import QUANTILES
from fints.transformer.layers import Block, CausalAttention, QuantileHead

DIM, L, H = 8, 6, 3
STEPS = torch.arange(1, L + H + 1).expand(2, -1)


class Biased(LayerTerms):
    """No rotation, a given bias."""

    def __init__(self, bias):
        self.bias = bias


def tokens(seed=0):
    return torch.randn(2, L + H, DIM, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def block():
    torch.manual_seed(1)
    return Block(DIM, 2, 2, 0.0).eval()


@pytest.mark.parametrize("layer", [LayerTerms(), Biased(torch.zeros(1, 1, L + H, L))], ids=["plain", "bias"])
@given(changed=st.integers(0, L - 1))
def test_no_context_token_sees_a_later_one(layer, changed):
    torch.manual_seed(1)
    block = Block(DIM, 2, 2, 0.0).eval()
    x, y = tokens(), tokens()
    y[:, changed] += 1.0
    before, after = block(x, L, layer), block(y, L, layer)
    assert torch.equal(before[:, :changed], after[:, :changed])
    assert not torch.equal(before[:, L:], after[:, L:])


def test_queries_do_not_see_each_other(block):
    x = tokens()
    alone = torch.cat((x[:, :L], x[:, L + 1 : L + 2]), dim=1)
    assert torch.allclose(block(x, L, LayerTerms())[:, L + 1], block(alone, L, LayerTerms())[:, L], atol=1e-6)


def test_the_last_block_makes_the_same_queries(block):
    x = tokens()
    assert torch.allclose(block(x, L, LayerTerms())[:, L:], block(x, L, LayerTerms(), last=True), atol=1e-6)


def test_a_bias_of_zero_changes_nothing(block):
    x = tokens()
    zero = Biased(torch.zeros(1, 2, L + H, L))
    assert torch.allclose(block(x, L, LayerTerms()), block(x, L, zero), atol=1e-6)


def test_a_bias_can_hide_a_token():
    torch.manual_seed(0)
    attention = CausalAttention(DIM, 2)
    bias = torch.zeros(1, 1, H, L)
    bias[..., 2] = float("-inf")
    x = tokens()
    moved = x.clone()
    moved[:, 2] += 5.0
    seen = [attention(x[:, L:], c[:, :L], Biased(bias), 0) for c in (x, moved)]
    assert torch.allclose(*seen, atol=1e-6)


@given(st.integers(0, 10_000))
def test_quantiles_never_cross(seed):
    torch.manual_seed(seed)
    head = QuantileHead(DIM, QUANTILES, H)
    torch.nn.init.normal_(head.project.weight, std=3.0)
    assert (head(10 * tokens(seed), STEPS).diff(dim=-1) >= 0).all()


def test_an_untrained_head_states_the_standard_normal_distribution():
    stated = QuantileHead(DIM, QUANTILES, H)(tokens(), STEPS)
    assert np.allclose(stated.detach(), norm.ppf(QUANTILES), atol=1e-6)


@given(st.integers(0, 10_000))
def test_an_untrained_head_states_the_quantiles_of_each_step(seed):
    """Those of the last step go on beyond it."""
    rng = np.random.default_rng(seed)
    steps = rng.uniform(0.001, 3.0, (2, len(QUANTILES))).cumsum(axis=1) + rng.normal(size=(2, 1))
    head = QuantileHead(DIM, QUANTILES, 2)
    head.start_at(torch.from_numpy(steps).float())
    stated = head(tokens(seed), STEPS).detach().numpy()
    for token, step in enumerate(STEPS[0].tolist()):
        assert np.allclose(stated[:, token], steps[min(step, 2) - 1], atol=1e-4)


def test_errors_that_do_not_spread_leave_quantiles_that_can_be_trained():
    head = QuantileHead(DIM, QUANTILES, 1)
    head.start_at(torch.full((1, len(QUANTILES)), 0.5))
    stated = head(tokens(), STEPS)
    assert torch.isfinite(stated).all()
    assert torch.allclose(stated, torch.tensor(0.5), atol=1e-2)
    stated.sum().backward()
    assert (head.project.weight.grad.abs().sum(dim=1) > 0).all()


@pytest.mark.parametrize("n_causal", [L, 0])
@pytest.mark.parametrize("biased", [False, True])
def test_the_weights_are_those_that_queries_average_values_by(n_causal, biased):
    torch.manual_seed(1)
    attention, x = CausalAttention(DIM, 2), tokens()
    asking = x if n_causal else x[:, L:]
    bias = torch.randn(1, 2, asking.shape[1], L, generator=torch.Generator().manual_seed(3))
    layer = Biased(bias) if biased else LayerTerms()
    with torch.no_grad():
        weights = attention.weights(asking, x[:, :L], layer, n_causal)
        values = attention.to_kv(x[:, :L]).chunk(2, dim=-1)[1].reshape(2, L, 2, -1).transpose(1, 2)
        averaged = attention.out((weights @ values).transpose(1, 2).flatten(2))
        made = attention(asking, x[:, :L], layer, n_causal)[:, -H:]
    assert weights.shape == (2, 2, H, L)
    assert torch.allclose(weights.sum(dim=-1), torch.ones(2, 2, H))
    assert torch.allclose(averaged, made, atol=1e-6)
