import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

import fints
from fints.encodings import LayerTerms, TimeAxis, build
from fints.plan import FrequencyPlan
from fints.transformer.hstu import HstuBlock, pointwise_attention, visible_shares
from tests.transformer.conftest import BRIEF, SMALL, small_model

DIM, HEADS, L, H = 8, 2, 6, 3
ENCODINGS = ["none", "cycle", "alibi", "time_rab", {"kind": "sum", "parts": ["time_rab", "t_rope"]}]


def tokens(seed=0):
    return torch.randn(2, L + H, DIM, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def axis(first, count):
    t = torch.arange(first, first + count, dtype=torch.float64)[None]
    return TimeAxis(index=t - 17_000, session=t, calendar=t * 1.4, seconds=t * 1.4 * 86_400)


def places():
    """Where the context stands, and where the bars asked for do."""
    return axis(17_000, L), axis(17_000 + L, H)


def terms(encoding, first=0):
    """Terms of the tokens from `first` on, over the context as keys."""
    torch.manual_seed(3)
    plan = FrequencyPlan.from_periods([5])
    made = build(encoding, dim=DIM, n_heads=HEADS, n_layers=1, plan=plan).double()
    context, future = places()
    asked = context.followed_by(future) if first == 0 else future
    return made.prepare(asked, context).layer(0)


@pytest.fixture
def block():
    torch.manual_seed(1)
    return HstuBlock(DIM, HEADS, 0.0).double().eval()


def naive(block, x, layer):
    """Equations 1 to 3, one query and one key at a time."""
    normed = functional.layer_norm(x, (DIM,), block.norm.weight, block.norm.bias)
    silu = lambda t: t * torch.sigmoid(t)  # noqa: E731
    u, q = silu(normed @ block.to_uq.weight.T + block.to_uq.bias).split(DIM, -1)
    k, v = silu(normed[:, :L] @ block.to_kv.weight.T + block.to_kv.bias).split(DIM, -1)
    heads = [t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in (q, k)]
    q, k = (t.transpose(1, 2).flatten(2) for t in layer.rotate(*heads))
    bias = torch.zeros(1, HEADS, L + H, L) if layer.bias is None else layer.bias.expand(-1, HEADS, -1, -1)
    out = torch.zeros_like(x)
    width = DIM // HEADS
    for b in range(len(x)):
        for i in range(L + H):
            seen = min(i + 1, L)
            for h in range(HEADS):
                own = slice(h * width, (h + 1) * width)
                for j in range(seen):
                    logit = q[b, i, own] @ k[b, j, own] + bias[0, h, i, j]
                    out[b, i, own] += silu(logit) * v[b, j, own] / seen
    gated = functional.layer_norm(out, (DIM,), block.norm_attended.weight, block.norm_attended.bias) * u
    return x + gated @ block.out.weight.T + block.out.bias


@pytest.mark.parametrize("encoding", ENCODINGS, ids=str)
def test_the_block_is_the_formula_of_the_paper(block, encoding):
    x, layer = tokens(), terms(encoding)
    assert torch.allclose(block(x, L, layer), naive(block, x, layer), atol=1e-6)


@settings(max_examples=20)
@given(changed=st.integers(0, L - 1), encoding=st.sampled_from(ENCODINGS))
def test_no_context_token_sees_a_later_one(changed, encoding):
    torch.manual_seed(1)
    block = HstuBlock(DIM, HEADS, 0.0).double().eval()
    x, y = tokens(), tokens()
    # along one channel: a shift of all would be taken out by the norm
    y[:, changed, 0] += 1.0
    before, after = block(x, L, terms(encoding)), block(y, L, terms(encoding))
    assert torch.equal(before[:, :changed], after[:, :changed])
    assert not torch.equal(before[:, changed:L], after[:, changed:L])
    assert not torch.equal(before[:, L:], after[:, L:])


@pytest.mark.parametrize("encoding", ENCODINGS, ids=str)
def test_the_last_block_makes_the_same_queries(block, encoding):
    x = tokens()
    whole, last = block(x, L, terms(encoding)), block(x, L, terms(encoding, first=L), last=True)
    assert torch.allclose(whole[:, L:], last, atol=1e-12)


def test_a_query_gets_the_same_whatever_else_is_asked(block):
    x = tokens()
    alone = block(torch.cat((x[:, :L], x[:, L + 1 : L + 2]), dim=1), L, LayerTerms(), last=True)
    assert torch.allclose(block(x, L, LayerTerms())[:, L + 1 : L + 2], alone, atol=1e-12)


def test_every_query_shares_itself_out_among_the_keys_it_sees():
    shares = visible_shares(3, 5, 4)
    assert torch.equal(shares[:3] > 0, torch.ones(3, 4).tril() > 0)
    assert torch.equal(shares[3:], torch.full((2, 4), 0.25))
    assert torch.allclose(shares.sum(-1), torch.ones(5))


def test_a_context_said_twice_says_the_same(block):
    """Dividing by the number of visible keys: a forecast query hears an average, not a sum."""
    x = tokens()
    context, query = x[:, :L], x[:, L:]
    once = block(x, L, LayerTerms(), last=True)
    twice = block(torch.cat((context, context, query), dim=1), 2 * L, LayerTerms(), last=True)
    assert torch.allclose(once, twice, atol=1e-12)


@pytest.mark.parametrize("encoding", [*sorted(fints.encodings.ENCODINGS), {"kind": "sum", "parts": ["alibi", "rope"]}])
def test_every_encoding_trains_with_the_block(daily_panel, encoding):
    network = SMALL.model_copy(update={"block": "hstu"})
    brief = BRIEF.model_copy(update={"max_steps": 3})
    model = small_model(encoding=encoding).with_settings(network, brief).fit(daily_panel)
    assert np.isfinite(model.forecast().quantiles).all()


def test_a_network_of_such_blocks_comes_back_from_disk(daily_panel, tmp_path):
    network = SMALL.model_copy(update={"block": "hstu"})
    model = small_model().with_settings(network, BRIEF).fit(daily_panel)
    model.save(tmp_path / "model")
    again = fints.CycleTransformer.load(tmp_path / "model")
    assert any(isinstance(module, HstuBlock) for module in again.fitted.networks[0].modules())
    assert np.array_equal(again.forecast(daily_panel).quantiles, model.forecast().quantiles)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=str)
@pytest.mark.parametrize("last", [False, True])
def test_the_weights_are_the_sizes_of_what_queries_sum_values_by(block, encoding, last):
    x, layer = tokens(), terms(encoding, L if last else 0)
    with torch.no_grad():
        weights = block.weights(x, L, layer, last=last)
        normed = block.norm(x)
        q = functional.silu(block.to_uq(normed))[..., DIM:][:, L if last else 0 :]
        k = functional.silu(block.to_kv(normed[:, :L]))[..., :DIM]
        q, k = layer.rotate(*(t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in (q, k)))
        identity = torch.eye(L, dtype=torch.float64).expand(2, HEADS, L, L)
        shares = visible_shares(0 if last else L, q.shape[2], L)
        summed = pointwise_attention(q, k, identity, layer.bias, shares)[:, :, -H:].abs()
    assert weights.shape == (2, HEADS, H, L)
    assert torch.allclose(weights, summed / summed.sum(dim=-1, keepdim=True))
