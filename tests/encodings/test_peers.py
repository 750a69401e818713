"""RoPE, xPos and ALiBi against independent implementations.

Peers differ in layout, in where the decay of xPos is centred, and in what they cast. Scores q·k depend on none of
it. Each peer gets float64 frequencies and tokens: its own start in float32, and places are cast to
the dtype of tokens.
"""

import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.encodings import TimeAxis, build
from fints.encodings.alibi import alibi_slopes
from tests.encodings.conftest import STRETCHES, some, window

WIDTH, HEADS = 32, 6
NAMES = st.sampled_from(sorted(STRETCHES))

pytestmark = pytest.mark.usefixtures("float64")


@pytest.fixture(scope="module")
def x_transformers():
    with warnings.catch_warnings():
        # It scripts a function as it is imported.
        warnings.filterwarnings("ignore", "`torch.jit.script", DeprecationWarning)
        import x_transformers.x_transformers as module
    return module


@pytest.fixture(scope="module")
def rotary_embedding_torch():
    import rotary_embedding_torch as module

    return module


def vectors(seed, n):
    return torch.randn(2, HEADS, n, WIDTH, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def scores(encoding, q_at, k_at):
    q, k = vectors(0, q_at.index.shape[1]), vectors(1, k_at.index.shape[1])
    q, k = encoding.prepare(q_at, k_at).layer(0).rotate(q, k)
    return q @ k.mT


def made(encoding):
    return build(encoding, dim=WIDTH * HEADS, n_heads=HEADS, n_layers=1)


def places(n):
    return TimeAxis(index=torch.arange(n)[None])


def published_frequencies(base):
    """Su et al. (2021), eq. 15, in float64."""
    return torch.tensor([base ** (-2 * i / WIDTH) for i in range(WIDTH // 2)], dtype=torch.float64)


@settings(max_examples=15)
@given(n=st.integers(1, 40), base=st.sampled_from([20.0, 500.0, 10_000.0]))
def test_rope_scores_as_rotary_embedding_torch(rotary_embedding_torch, n, base):
    peer = rotary_embedding_torch.RotaryEmbedding(WIDTH, custom_freqs=published_frequencies(base)).double()
    expected = peer.rotate_queries_or_keys(vectors(0, n)) @ peer.rotate_queries_or_keys(vectors(1, n)).mT
    assert torch.allclose(scores(made({"kind": "rope", "base": base}), places(n), places(n)), expected, atol=1e-10)


@settings(max_examples=15)
@given(name=NAMES, base=st.sampled_from([20.0, 500.0, 10_000.0]))
def test_rope_on_sessions_scores_as_x_transformers(x_transformers, name, base):
    at = window(name)
    peer = x_transformers.RotaryEmbedding(WIDTH, base=base).double()
    assert torch.allclose(peer.inv_freq, published_frequencies(base), rtol=1e-6)
    peer.inv_freq = published_frequencies(base)
    freqs, _ = peer(at.session)
    turned = [x_transformers.apply_rotary_pos_emb(vectors(seed, at.index.shape[1]), freqs) for seed in (0, 1)]
    encoding = made({"kind": "rope", "base": base, "clock": "session"})
    assert torch.allclose(scores(encoding, at, at), turned[0] @ turned[1].mT, atol=1e-9)


@settings(max_examples=15)
@given(n=st.integers(2, 60), scale=st.sampled_from([32, 512]))
def test_xpos_scores_as_rotary_embedding_torch(rotary_embedding_torch, n, scale):
    peer = rotary_embedding_torch.RotaryEmbedding(
        WIDTH, custom_freqs=published_frequencies(10_000.0), use_xpos=True, xpos_scale_base=scale
    ).double()
    q, k = peer.rotate_queries_and_keys(vectors(0, n), vectors(1, n))
    assert torch.allclose(scores(made({"kind": "xpos", "scale": scale}), places(n), places(n)), q @ k.mT, atol=1e-10)


@settings(max_examples=15)
@given(name=NAMES, first=st.integers(0, 5))
def test_xpos_on_sessions_scores_as_x_transformers(x_transformers, name, first):
    at = some(window(name), slice(first, None))
    since = at.session - at.session[:, :1].floor()
    peer = x_transformers.RotaryEmbedding(WIDTH, use_xpos=True, scale_base=64).double()
    peer.inv_freq = published_frequencies(10_000.0)
    peer.scale = (torch.arange(0, WIDTH, 2).double() + 0.4 * WIDTH) / (1.4 * WIDTH)
    freqs, scale = peer(since)
    n = at.index.shape[1]
    q = x_transformers.apply_rotary_pos_emb(vectors(0, n), freqs, scale)
    k = x_transformers.apply_rotary_pos_emb(vectors(1, n), freqs, scale**-1)
    encoding = made({"kind": "xpos", "clock": "session", "scale": 64})
    assert torch.allclose(scores(encoding, at, at), q @ k.mT, atol=1e-9)


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 8, 12, 20])
def test_alibi_slopes_are_those_of_x_transformers(x_transformers, heads):
    peer = x_transformers.AlibiPositionalBias(heads)
    assert peer.slopes.flatten().tolist() == pytest.approx(alibi_slopes(heads), rel=1e-12)


@settings(max_examples=15)
@given(name=NAMES, tokens=st.integers(1, 9))
def test_alibi_biases_as_x_transformers(x_transformers, name, tokens):
    k_at = window(name)
    q_at = some(k_at, slice(-tokens, None))
    peer = x_transformers.AlibiPositionalBias(HEADS)
    expected = peer.forward_custom_pos(q_at.session[0], k_at.session[0])
    bias = made({"kind": "alibi", "clock": "session"}).prepare(q_at, k_at).layer(0).bias
    assert torch.allclose(bias[0], expected, atol=1e-10)
    n = k_at.index.shape[1]
    assert torch.allclose(made("alibi").prepare(q_at, k_at).layer(0).bias[0], peer(tokens, n), atol=1e-10)


@settings(max_examples=10)
@given(name=NAMES)
def test_rope_scores_as_the_half_split_layout_once_channels_are_reordered(name):
    """Llama's code in Hugging Face pairs channel j with j + D/2."""
    at = window(name)
    angle = torch.cat([at.session[0, :, None] * published_frequencies(10_000.0)] * 2, dim=-1)

    def half_split(x):
        first, second = x.chunk(2, dim=-1)
        return x * angle.cos() + torch.cat((-second, first), dim=-1) * angle.sin()

    q, k = (vectors(seed, at.index.shape[1]) for seed in (0, 1))
    expected = half_split(q) @ half_split(k).mT
    pairs = [x.unflatten(-1, (2, -1)).mT.flatten(-2) for x in (q, k)]
    turned = made({"kind": "rope", "clock": "session"}).prepare(at, at).layer(0).rotate(*pairs)
    assert torch.allclose(turned[0] @ turned[1].mT, expected, atol=1e-9)
