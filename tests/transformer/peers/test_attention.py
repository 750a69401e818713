import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.transformer.peers.attention import PeerAttention, PeerTokens

B, T, P, DIM, FEATURES, OUT = 2, 3, 4, 8, 5, 7
STEPS = torch.arange(1, T + 1).expand(B, -1)


def layer(seed=0):
    """A layer that has learned something."""
    torch.manual_seed(seed)
    made = PeerAttention(DIM, 2, FEATURES, OUT).double()
    torch.nn.init.normal_(made.out.weight)
    return made


def queries(seed=1):
    return torch.randn(B, T, DIM, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def peers(seed=2, known=True):
    g = torch.Generator().manual_seed(seed)
    known = torch.full((B, P), known) if isinstance(known, bool) else torch.tensor(known).expand(B, -1)
    features = torch.randn(B, P, FEATURES, generator=g, dtype=torch.float64)
    return PeerTokens(features, known, torch.rand(B, P, generator=g, dtype=torch.float64))


@settings(max_examples=20)
@given(order=st.permutations(range(P)), known=st.lists(st.booleans(), min_size=P, max_size=P))
def test_the_order_of_the_series_does_not_matter(order, known):
    told = peers(known=known)
    turned = PeerTokens(told.features[:, order], told.known[:, order], told.lead[:, order])
    assert torch.allclose(layer()(queries(), told, STEPS), layer()(queries(), turned, STEPS), atol=1e-12)


@settings(max_examples=20)
@given(known=st.lists(st.booleans(), min_size=P, max_size=P))
def test_an_unknown_series_says_nothing(known):
    told = peers(known=known)
    shouting = PeerTokens(told.features.masked_fill(~told.known[..., None], 1e6), told.known, told.lead)
    absent = PeerTokens(told.features[:, known], told.known[:, known], told.lead[:, known])
    heard = layer()(queries(), told, STEPS)
    assert torch.equal(heard, layer()(queries(), shouting, STEPS))
    assert torch.allclose(heard, layer()(queries(), absent, STEPS), atol=1e-12)
    assert heard.any() == any(known)


def test_a_new_layer_adds_nothing_and_learns_at_once():
    new = PeerAttention(DIM, 2, FEATURES, OUT).double()
    heard = new(queries(), peers(), STEPS)
    assert not heard.any()
    heard.sum().backward()
    assert new.out.weight.grad.any()


def test_it_is_softmax_attention_with_one_silent_key():
    made, x, told = layer(), queries(), peers(known=[True, False, True, True])
    made.fade.zero_()  # nothing fades: the four functions of the step are one
    k, v = made.to_kv(told.features).chunk(2, dim=-1)
    q, heard = made.to_q(x), torch.zeros(B, T, DIM, dtype=torch.float64)
    for head in (slice(0, 4), slice(4, 8)):
        logits = q[..., head] @ k[..., head].mT / 2 + 8 * told.lead[:, None]
        logits = logits.masked_fill(~told.known[:, None], -torch.inf)
        share = logits.exp() / (1 + logits.exp().sum(dim=-1, keepdim=True))
        heard[..., head] = share @ v[..., head]
    expected = heard @ made.out.weight.unflatten(1, (-1, DIM)).sum(dim=1).T
    assert torch.allclose(made(x, told, STEPS), expected, atol=1e-12)


def test_what_is_heard_fades_with_the_step():
    made, x = layer(), queries()[:, :1].expand(-1, T, -1)
    made.out.weight.data[:, DIM:] = 0  # the fastest fading function alone
    heard = made(x, peers(), STEPS)
    assert torch.allclose(heard[:, 1:] / heard[:, :-1], torch.tensor(1 / 0.3).neg().exp().double(), atol=1e-6)


@pytest.mark.parametrize("known", [True, False])
def test_a_window_hears_its_own_others_alone(known):
    told = peers(known=known)
    second = slice(1, None)
    alone = layer()(queries()[second], told.rows(second), STEPS[second])
    assert torch.allclose(layer()(queries(), told, STEPS)[second], alone, atol=1e-12)
