import pytest
import torch

from fints.encodings import TimeAxis, build
from fints.encodings.alibi import LinearBias
from fints.forecast import QUANTILES
from fints.plan import FrequencyPlan
from fints.transformer.config import NetworkConfig
from fints.transformer.model import CycleNetwork, Inputs

L, H, B = 24, 5, 3
SUM = {"kind": "sum", "parts": [{"kind": "alibi", "clock": "session"}, "rope"]}
CONFIG = NetworkConfig(dim=32, n_heads=4, n_layers=3, dropout=0.0)


def inputs(seed=0):
    g = torch.Generator().manual_seed(seed)
    gaps = torch.randint(1, 4, (B, L + H), generator=g).double()
    session = 17_000 + gaps.cumsum(1)
    index = torch.arange(L + H, dtype=torch.float64).expand(B, -1)

    def at(rows):
        return TimeAxis(
            index=index[:, rows], session=session[:, rows], calendar=session[:, rows], seconds=session[:, rows] * 86_400
        )

    return Inputs(
        values=torch.randn(B, L, 2, generator=g),
        calendar=torch.randn(B, L, 3, generator=g),
        future_calendar=torch.randn(B, H, 3, generator=g),
        start=torch.randn(B, H, generator=g),
        at=at(slice(0, L)),
        future_at=at(slice(L, None)),
    )


def network(encoding, config=CONFIG):
    torch.manual_seed(0)
    plan = FrequencyPlan.from_periods([5, 20])
    made = build(encoding, dim=config.dim, n_heads=config.n_heads, n_layers=config.n_layers, plan=plan)
    net = CycleNetwork(config, made, 1, 3, H).eval()
    torch.nn.init.normal_(net.query)
    torch.nn.init.normal_(net.head.project.weight, std=0.1)
    net.head.start_at(torch.arange(1.0, H + 1)[:, None] * torch.linspace(-2.0, 2.0, len(QUANTILES)))
    return net


@pytest.mark.parametrize("encoding", ["alibi", SUM], ids=str)
def test_a_bias_that_folds_is_never_made_in_full(encoding, monkeypatch):
    net, x = network(encoding), inputs()
    made = []
    materialise = LinearBias.materialise
    monkeypatch.setattr(LinearBias, "materialise", lambda self: made.append(self) or materialise(self))
    folded = net(x)
    assert not made
    for flag in ("folds", "folds_causally"):
        monkeypatch.setattr(LinearBias, flag, property(lambda _self: False))
    dense = net(x)
    assert made
    assert torch.allclose(folded, dense, atol=1e-5)
    assert not torch.allclose(folded, network("none")(x), atol=1e-2)


@pytest.mark.parametrize("encoding", ["alibi", SUM], ids=str)
def test_a_folded_bias_trains_as_the_dense_one_does(encoding, monkeypatch):
    x, grads = inputs(), []
    for dense in (False, True):
        net = network(encoding)
        if dense:
            for flag in ("folds", "folds_causally"):
                monkeypatch.setattr(LinearBias, flag, property(lambda _self: False))
        net(x).square().mean().backward()
        grads.append([p.grad for p in net.parameters() if p.grad is not None])
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*grads, strict=True))


@pytest.mark.parametrize("block", ["softmax", "hstu"])
@pytest.mark.parametrize("encoding", ["alibi", SUM, "time_rab", "cycle", "t_rope"], ids=str)
def test_one_bar_asked_alone_gets_what_the_whole_horizon_gives_it(encoding, block):
    net, x = network(encoding, CONFIG.model_copy(update={"block": block})), inputs()
    alone = Inputs(
        x.values,
        x.calendar,
        x.future_calendar[:, 2:3],
        x.start[:, 2:3],
        x.at,
        TimeAxis(**{name: getattr(x.future_at, name)[:, 2:3] for name in ("index", "session", "calendar", "seconds")}),
    )
    assert torch.allclose(net(x)[:, 2:3], net(alone), atol=1e-5)
