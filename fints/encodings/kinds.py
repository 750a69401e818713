"""What the encodings that do not rotate have in common: they are added to the tokens, or to the attention logits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import torch
from torch import nn

from fints.encodings.base import Encoding, LayerTerms, Terms

if TYPE_CHECKING:
    from torch import Tensor

    from fints.encodings.base import TimeAxis


INITIAL_STD = 0.02
"""Standard deviation of a learned table at its start: small beside tokens and logits."""


class SmallEmbedding(nn.Embedding):
    """A table that starts, and can be reset, with `INITIAL_STD`."""

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        nn.init.normal_(self.weight, std=INITIAL_STD)


class AddedEncoding(Encoding):
    """An encoding that is added to the token embeddings; attention itself sees no places."""

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:  # noqa: ARG002
        """Return terms that change nothing: the places are in the tokens already."""
        return Terms((LayerTerms(),) * self.n_layers)


class BiasEncoding(Encoding):
    """An encoding that is added to the attention logits; it has no planes."""


class LazyBias(LayerTerms, ABC):
    """Terms whose bias is computed when it is first asked for, and kept: layers may share it, and may never ask."""

    # Not `functools.cached_property`: its lock breaks the graph of torch.compile on Python 3.11.
    _kept: Tensor | None = None
    _with_graph: bool = False

    @property
    def bias(self) -> Tensor | None:  # type: ignore[override]
        """Added to the attention logits; broadcastable to (B, H, Tq, Tk)."""
        wanted = torch.is_grad_enabled()
        # One made without a graph will not do where gradients are wanted; see `rotation.LazyTable`.
        if self._kept is None or (wanted and not self._with_graph):
            object.__setattr__(self, "_kept", self.materialise())
            object.__setattr__(self, "_with_graph", wanted)
        return self._kept

    @abstractmethod
    def materialise(self) -> Tensor | None:
        """Compute the bias."""
