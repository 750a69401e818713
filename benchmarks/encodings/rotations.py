"""`prepare`, `rotate` and both, over copying queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from benchmarks.encodings.shapes import KINDS, LAYERS, Shape, made, peers
from benchmarks.encodings.timing import Race, race
from fints.encodings.rotation import Rotation

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from benchmarks.encodings.timing import Run

    Turn = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]

COPY, COPY_BOTH_WAYS = "copy", "copy both ways"


@dataclass(frozen=True)
class Tensors:
    """Queries, keys and their gradients.

    Parameters
    ----------
    q, k, dq, dk : Tensor, shape (B, H, T, D)
    """

    q: Tensor
    k: Tensor
    dq: Tensor
    dk: Tensor

    @classmethod
    def of(cls, shape: Shape) -> Tensors:
        """Draw them."""
        q, k, dq, dk = (shape.random() for _ in range(4))
        return cls(q.requires_grad_(), k.requires_grad_(), dq, dk)

    def floors(self) -> dict[str, Run]:
        """Copy q and k once; or these, and then their gradients."""
        q, k = self.q.detach(), self.k.detach()
        return {
            COPY: lambda: (q.clone(), k.clone()),
            COPY_BOTH_WAYS: lambda: (q.clone(), k.clone(), self.dq.clone(), self.dk.clone()),
        }

    def forward(self, turn: Turn) -> Run:
        """Rotate without a graph."""
        return torch.no_grad()(lambda: turn(self.q, self.k))

    def both_ways(self, turn: Turn, learned: tuple[Tensor, ...] = ()) -> Run:
        """Rotate, and take the gradients of queries, keys and what is learned."""
        inputs = (self.q, self.k, *learned)

        def run() -> object:
            return torch.autograd.grad(turn(self.q, self.k), inputs, (self.dq, self.dk), allow_unused=True)

        return run


def kind_race(kind: str, shape: Shape) -> Race:
    """Time one encoding, with shared places and with places of each sample."""
    tensors, encoding = Tensors.of(shape), shape.build(kind)
    learned = tuple(encoding.parameters())
    runs = tensors.floors()
    for places, at in (("shared", shape.shared()), ("own", shape.own())):
        with torch.no_grad():
            terms = made(encoding, at)

        def rotate(q: Tensor, k: Tensor, terms=terms) -> tuple[Tensor, Tensor]:  # noqa: ANN001
            return terms.layer(0).rotate(q, k)

        def prepare(at=at) -> object:  # noqa: ANN001
            return made(encoding, at)

        def forward(at=at) -> object:  # noqa: ANN001
            return [layer.rotate(tensors.q, tensors.k) for layer in encoding.prepare(at, at).layers]

        def step(at=at) -> object:  # noqa: ANN001
            terms = encoding.prepare(at, at)
            turned = [t for layer in terms.layers for t in layer.rotate(tensors.q, tensors.k)]
            inputs = (tensors.q, tensors.k, *learned)
            return torch.autograd.grad(turned, inputs, (tensors.dq, tensors.dk) * LAYERS, allow_unused=True)

        runs[f"prepare {places}"] = torch.no_grad()(prepare)
        runs[f"rotate {places}"] = tensors.forward(rotate)
        runs[f"rotate both ways {places}"] = tensors.both_ways(rotate, ())
        runs[f"all {places}"] = torch.no_grad()(forward)
        runs[f"all both ways {places}"] = step
    return race(runs, rounds=9)


def peer_race(shape: Shape) -> Race:
    """Time RoPE, ClockRoPE and two public packages side by side, eager."""
    tensors = Tensors.of(shape)
    runs = tensors.floors()
    for name, turn in {**_ours(shape), **peers(shape.width)}.items():
        runs[name] = tensors.forward(turn)
        runs[f"{name} both ways"] = tensors.both_ways(turn)
    return race(runs)


def compiled_race(shape: Shape) -> Race:
    """Time the same, compiled by inductor."""
    # Compiled versions of one function count against one limit.
    torch.compiler.reset()
    tensors = Tensors.of(shape)
    runs = tensors.floors()
    for name, turn in {**_ours(shape), **peers(shape.width)}.items():
        compiled = torch.compile(turn, dynamic=False)
        runs[name] = tensors.forward(compiled)
        runs[f"{name} both ways"] = tensors.both_ways(compiled)
    return race(runs)


def _ours(shape: Shape) -> dict[str, Turn]:
    turns: dict[str, Turn] = {}
    for kind in ("rope", "clock"):
        for places, at in (("shared", shape.shared()), ("own", shape.own())):
            layer = made(shape.build(kind), at).layer(0)
            tables = layer.q_table, layer.k_table  # type: ignore[attr-defined]
            turns[f"{kind}, {places} places"] = lambda q, k, tables=tables: Rotation(*tables).rotate(q, k)
    return turns


def all_kinds(shape: Shape) -> dict[str, Race]:
    """Time every rotary encoding."""
    return {kind: kind_race(kind, shape) for kind in KINDS}
