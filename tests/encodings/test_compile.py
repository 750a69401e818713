"""Places in, attention out, in one compiled graph."""

import shutil

import pytest
import torch
from torch import nn

from fints.encodings import COMBINATIONS, ENCODINGS, TimeAxis, attend
from tests.encodings.conftest import CASES, CLOCKS, DIM, LAYERS, trained, unit_vectors, window

AT = window("autumn in New York")
N = AT.index.shape[1]


def is_combined(case):
    return CASES[case]["kind"] in COMBINATIONS


class Whole(nn.Module):
    """Places in, everything out, as a model would have it."""

    def __init__(self, encoding):
        super().__init__()
        self.encoding = encoding

    def forward(self, x, q, k, places):
        at = TimeAxis(**places)
        terms = self.encoding.prepare(at, at)
        out = [attend(q, k, q, terms.layer(number), is_causal=True) for number in range(LAYERS)]
        return self.encoding.embed(x, at), *out


def passes(model):
    """Run a model forward and, where gradients are on, backward."""
    x, q, k = (
        t.requires_grad_() for t in (torch.ones(1, N, DIM), *(unit_vectors(s, N, torch.float32) for s in (0, 1)))
    )
    out = model(x, q, k, {clock: getattr(AT, clock) for clock in CLOCKS})
    if not torch.is_grad_enabled():
        return out
    learned = list(model.parameters())
    grads = torch.autograd.grad(sum(o.square().sum() for o in out), [q, k, x, *learned], allow_unused=True)
    return [*out, *(g for g in grads if g is not None)]


def compare(model, compiled):
    for found, expected in zip(passes(compiled), passes(model), strict=True):
        assert torch.allclose(found, expected, atol=2e-5 * max(1.0, float(expected.detach().abs().max())))


@pytest.mark.parametrize("case", sorted(ENCODINGS) + [case for case in CASES if "learned" in case or is_combined(case)])
def test_an_encoding_compiles_into_one_graph(case):
    torch.compiler.reset()
    model = Whole(trained(case))
    # Every kind with its backward graph; for the others the trace has to do.
    compare(model, torch.compile(model, fullgraph=True, backend="aot_eager" if case in ENCODINGS else "eager"))


@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a C++ compiler")
@pytest.mark.filterwarnings("ignore:`torch.jit.script.*:DeprecationWarning")  # its own imports
@pytest.mark.filterwarnings("ignore:Torchinductor does not support code generation for complex:UserWarning")
@pytest.mark.parametrize("case", ["cycle", "t_rope"])
def test_inductor_makes_the_same_of_it(case):
    torch.compiler.reset()
    model = Whole(trained(case))
    with torch.no_grad():
        compare(model, torch.compile(model, fullgraph=True))
