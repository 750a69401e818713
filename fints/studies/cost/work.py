"""What an encoding is timed at: its tables, its rotation, and the network around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import torch

from fints.encodings.alibi import LinearBias
from fints.forecast import QUANTILES
from fints.transformer.losses import window_losses
from fints.transformer.model import query_places
from fints.transformer.training import Learner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.encodings.base import Terms
    from fints.studies.cost.loads import Load
    from fints.studies.cost.turns import Run

Measure = Literal["prepare", "rotate", "rotate and back", "forward", "forward and back", "step"]

MEASURES: Mapping[Measure, str] = {
    "prepare": "making the tables of a batch, for all layers",
    "rotate": "turning queries and keys of one layer, tables made",
    "rotate and back": "the same, with gradients of queries, keys and learned frequencies",
    "forward": "a forecast by the whole network",
    "forward and back": "the loss of the whole network and its gradients",
    "step": "a whole training step, with optimiser, clipping and average",
}


def works(load: Load, encoding: Mapping[str, Any]) -> dict[Measure, Run]:
    """Return what is timed of an encoding, by measure; what does not rotate has no rotation to time.

    Parameters
    ----------
    load : Load
    encoding : mapping
        As `fints.encodings.encoding_config` takes it.
    """
    batch, n_past, n_cal = load.windows()
    model = load.model(encoding)
    network, inputs = model.design.network_for(n_past, n_cal), batch.inputs
    coding = network.encoding
    context_at, query_at = query_places(inputs, coding.query_shift)
    at, learned = context_at.followed_by(query_at), tuple(coding.parameters())
    width = load.network.dim // load.network.n_heads
    generator = torch.Generator().manual_seed(0)
    sizes = (load.input_size + load.h, load.input_size)
    q, k, dq, dk = (
        torch.randn(load.batch, load.network.n_heads, size, width, generator=generator) for size in sizes * 2
    )
    weights, probabilities = list(network.parameters()), torch.tensor(QUANTILES)
    with torch.no_grad():
        layer = made(coding.prepare(at, inputs.at)).layer(0)
        turns = layer.rotate(q, k)[0] is not q
    learner = Learner(model.design.network_for(n_past, n_cal), model.design.training)
    trained = coding.prepare(at, inputs.at).layer(0) if learned else layer

    def rotate_and_back() -> object:
        turned = trained.rotate(q, k)
        # A table that learns is made with its graph, which the backward pass uses up.
        return torch.autograd.grad(turned, (q, k, *learned), (dq, dk), allow_unused=True, retain_graph=bool(learned))

    def forward_and_back() -> object:
        losses = window_losses(network.train()(inputs), batch.target, probabilities)
        return torch.autograd.grad(losses.mean(), weights, allow_unused=True)

    runs: dict[Measure, Run] = {"prepare": torch.no_grad()(lambda: made(coding.prepare(at, inputs.at)))}
    if turns:
        runs["rotate"] = torch.no_grad()(lambda: layer.rotate(q, k))
        runs["rotate and back"] = rotate_and_back
    runs["forward"] = torch.inference_mode()(lambda: network.eval()(inputs))
    runs["forward and back"] = forward_and_back
    runs["step"] = lambda: learner.step(batch)
    q.requires_grad_()
    k.requires_grad_()
    return runs


def made(terms: Terms) -> Terms:
    """Make the tables and biases that wait until a layer asks, and return the terms.

    A bias that is linear in distance is left: attention folds it into a channel and never makes it.
    """
    for layer in dict.fromkeys(terms.layers):
        names = ("q_table", "k_table") if isinstance(layer, LinearBias) else ("q_table", "k_table", "bias")
        for name in names:
            getattr(layer, name, None)
    return terms
