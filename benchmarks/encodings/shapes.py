"""What is timed: shapes, places, encodings, and the peers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from fints import FrequencyPlan
from fints.encodings import Encoding, Terms, TimeAxis, build

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("rope", "xpos", "cycle", "rfr", "clock", "t_rope", "to_rope", "rote")
LAYERS = 2
PLAN = FrequencyPlan.from_periods([5, 20, 60, 252])
DAY = 86_400.0


@dataclass(frozen=True)
class Shape:
    """Shape of queries and keys.

    Parameters
    ----------
    batch, heads, tokens, width : int
    """

    batch: int
    heads: int
    tokens: int
    width: int

    def __str__(self) -> str:
        return f"({self.batch}, {self.heads}, {self.tokens}, {self.width})"

    def random(self) -> Tensor:
        """Draw one tensor of this shape, float32."""
        return torch.randn(self.batch, self.heads, self.tokens, self.width)

    def build(self, kind: str) -> Encoding:
        """Build an encoding of `LAYERS` layers for it."""
        return build(kind, dim=self.heads * self.width, n_heads=self.heads, n_layers=LAYERS, plan=PLAN)

    def shared(self) -> TimeAxis:
        """Return the same places for every sample."""
        return _axis(torch.arange(self.tokens, dtype=torch.float64)[None])

    def own(self) -> TimeAxis:
        """Return places of its own for every sample; the index counts in the window and stays shared."""
        start = 37.0 * torch.arange(self.batch, dtype=torch.float64)[:, None]
        return _axis(start + torch.arange(self.tokens, dtype=torch.float64)[None])


def _axis(session: Tensor) -> TimeAxis:
    index = torch.arange(session.shape[-1], dtype=torch.float64)[None]
    return TimeAxis(index=index, session=session, calendar=1.4 * session, seconds=1.5e9 + 1.4 * DAY * session)


LARGE = Shape(32, 8, 512, 64)
NIGHTLY = Shape(16, 2, 272, 24)


def made(encoding: Encoding, at: TimeAxis) -> Terms:
    """Prepare, and make the tables that wait until a layer asks."""
    terms = encoding.prepare(at, at)
    for layer in terms.layers:
        _ = layer.q_table, layer.k_table  # type: ignore[attr-defined]
    return terms


def peers(width: int) -> dict[str, Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]]:
    """Return the rotation of two public packages, their tables cached where they cache them."""
    from rotary_embedding_torch import RotaryEmbedding
    from x_transformers.x_transformers import RotaryEmbedding as OtherEmbedding
    from x_transformers.x_transformers import apply_rotary_pos_emb

    one, other = RotaryEmbedding(dim=width), OtherEmbedding(width)

    def rotary_embedding_torch(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return one.rotate_queries_or_keys(q), one.rotate_queries_or_keys(k)

    def x_transformers(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        freqs, scale = other.forward_from_seq_len(q.shape[-2])
        return apply_rotary_pos_emb(q, freqs, scale), apply_rotary_pos_emb(k, freqs, scale)

    return {"rotary-embedding-torch": rotary_embedding_torch, "x-transformers": x_transformers}
