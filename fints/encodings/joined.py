"""What an attention layer applies when several encodings share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from fints.encodings.base import LayerTerms
from fints.encodings.kinds import LazyBias

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class PlaneTerms(LayerTerms):
    """Terms of a feature split whose parts are not all plain rotations.

    Parameters
    ----------
    parts : tuple of LayerTerms
    widths : tuple of int
        Channels of each.
    """

    parts: tuple[LayerTerms, ...]
    widths: tuple[int, ...]

    def _turned(self, q_bhtd: Tensor, k_bhtd: Tensor) -> tuple[Tensor, Tensor]:
        """Let every part rotate its own planes; see `LayerTerms.rotate`."""
        return _rotate_pieces(self.parts, q_bhtd, k_bhtd, self.widths, -1)


@dataclass(frozen=True, eq=False)
class HeadTerms(LazyBias):
    """Terms of a head split.

    Parameters
    ----------
    parts : tuple of LayerTerms
    counts : tuple of int
        Heads of each.
    """

    parts: tuple[LayerTerms, ...]
    counts: tuple[int, ...]

    def _turned(self, q_bhtd: Tensor, k_bhtd: Tensor) -> tuple[Tensor, Tensor]:
        """Let every part rotate its own heads; see `LayerTerms.rotate`."""
        return _rotate_pieces(self.parts, q_bhtd, k_bhtd, self.counts, 1)

    def materialise(self) -> Tensor | None:
        """Join the biases of the parts, head after head, zero where a part has none; None if all have none."""
        biases = [part.bias for part in self.parts]
        given = [bias for bias in biases if bias is not None]
        if not given:
            return None
        batch, queries, keys = max(b.shape[0] for b in given), given[0].shape[-2], given[0].shape[-1]
        zero = given[0].new_zeros(())
        return torch.cat(
            [
                (zero if bias is None else bias).expand(batch, heads, queries, keys)
                for bias, heads in zip(biases, self.counts, strict=True)
            ],
            dim=1,
        )


@dataclass(frozen=True, eq=False)
class SumTerms(LazyBias):
    """Terms of a sum.

    Parameters
    ----------
    rotation : LayerTerms
        Of the rotary part, or terms that change nothing.
    biases : tuple of LayerTerms
        Of the parts that are added to the logits.
    """

    rotation: LayerTerms
    biases: tuple[LayerTerms, ...]

    def _turned(self, q_bhtd: Tensor, k_bhtd: Tensor) -> tuple[Tensor, Tensor]:
        """Rotate by the one part that does; see `LayerTerms.rotate`."""
        return self.rotation.rotate(q_bhtd, k_bhtd)

    def _rows(self, rows: slice) -> SumTerms:
        """Take the biases of some of the queries, each by itself; see `LayerTerms.bias_of`."""
        return SumTerms(LayerTerms(), tuple(part.bias_of(rows) for part in self.biases))

    def materialise(self) -> Tensor | None:
        """Sum the biases; None if there are none."""
        total: Tensor | None = None
        for part in self.biases:
            if part.bias is not None:
                total = part.bias if total is None else total + part.bias
        return total


def _rotate_pieces(
    parts: tuple[LayerTerms, ...], q_bhtd: Tensor, k_bhtd: Tensor, sizes: tuple[int, ...], dim: int
) -> tuple[Tensor, Tensor]:
    """Let every part rotate its own stretch of an axis."""
    turned = []
    start = 0
    for part, size in zip(parts, sizes, strict=True):
        turned.append(part.rotate(q_bhtd.narrow(dim, start, size), k_bhtd.narrow(dim, start, size)))
        start += size
    return torch.cat([q for q, _ in turned], dim=dim), torch.cat([k for _, k in turned], dim=dim)
