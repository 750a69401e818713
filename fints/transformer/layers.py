"""Layers of the transformer.

Shape suffixes: ``b`` batch, ``t`` token, ``c`` channel of the model, ``h`` head, ``d`` channel of a head, ``q``
quantile. A sequence is the context's tokens followed by one query token per future bar.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from fints.encodings import attend_rotated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.encodings import LayerTerms


_LEAST_STEP = 1e-4


class CausalAttention(nn.Module):
    """Attention of every token to the context that it may know.

    Context tokens attend to themselves and the past; query tokens attend to the whole context and not to each other,
    so the forecast of one bar does not depend on which other bars are asked for.

    Parameters
    ----------
    dim, n_heads : int

    Notes
    -----
    Attention weights are not dropped out: on a CPU that would forgo the fused kernel and triple the time of a step.
    """

    def __init__(self, dim: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, 2 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x_btc: Tensor, context_btc: Tensor, layer: LayerTerms, n_causal: int) -> Tensor:
        """Attend.

        Parameters
        ----------
        x_btc : Tensor, shape (B, T, C)
            The tokens that ask: context tokens followed by query tokens, or query tokens alone.
        context_btc : Tensor, shape (B, L, C)
            The tokens that are asked.
        layer : LayerTerms
            Rotations and bias of this layer, for T queries and L keys.
        n_causal : int
            How many of the T tokens are context tokens: L, or 0.

        Returns
        -------
        Tensor, shape (B, T, C)
        """
        k_btc, v_btc = self.to_kv(context_btc).chunk(2, dim=-1)
        q_bhtd, k_bhtd = layer.rotate(self._heads(self.to_q(x_btc)), self._heads(k_btc))
        v_bhtd = self._heads(v_btc)
        if not n_causal:
            return self._out(attend_rotated(q_bhtd, k_bhtd, v_bhtd, layer))
        context, queries = slice(0, n_causal), slice(n_causal, None)
        parts = (
            attend_rotated(q_bhtd[:, :, context], k_bhtd, v_bhtd, layer.bias_of(context), is_causal=True),
            attend_rotated(q_bhtd[:, :, queries], k_bhtd, v_bhtd, layer.bias_of(queries)),
        )
        return self._out(torch.cat(parts, dim=2))

    def weights(self, x_btc: Tensor, context_btc: Tensor, layer: LayerTerms, n_causal: int) -> Tensor:
        """Say how much the query tokens attend to each token of the context; `forward` never forms this.

        The parameters are those of `forward`.

        Returns
        -------
        Tensor, shape (B, H, T - n_causal, L)
            Sums to one over the context.
        """
        k_btc, _ = self.to_kv(context_btc).chunk(2, dim=-1)
        q_bhtd, k_bhtd = layer.rotate(self._heads(self.to_q(x_btc)), self._heads(k_btc))
        queries = slice(n_causal, None)
        logits, bias = q_bhtd[:, :, queries] @ k_bhtd.mT * q_bhtd.shape[-1] ** -0.5, layer.bias_of(queries).bias
        weights: Tensor = (logits if bias is None else logits + bias).softmax(dim=-1)
        return weights

    def _heads(self, x_btc: Tensor) -> Tensor:
        return x_btc.reshape(*x_btc.shape[:2], self.n_heads, -1).transpose(1, 2)

    def _out(self, x_bhtd: Tensor) -> Tensor:
        joined: Tensor = self.out(x_bhtd.transpose(1, 2).flatten(2))
        return joined


class Block(nn.Module):
    """Pre-norm transformer block.

    Parameters
    ----------
    dim, n_heads : int
    feed_forward : int
        Multiple of `dim`.
    dropout : float
    """

    def __init__(self, dim: int, n_heads: int, feed_forward: int, dropout: float) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(dim)
        self.attention = CausalAttention(dim, n_heads)
        self.norm_feed_forward = nn.LayerNorm(dim)
        self.feed_forward = nn.Sequential(
            nn.Linear(dim, feed_forward * dim), nn.GELU(), nn.Linear(feed_forward * dim, dim)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_btc: Tensor, n_context: int, layer: LayerTerms, *, last: bool = False) -> Tensor:
        """Apply attention and feed-forward.

        Parameters
        ----------
        x_btc : Tensor, shape (B, T, C)
            Context tokens, then query tokens.
        n_context : int
            How many of the T tokens are context.
        layer : LayerTerms
            For the T tokens, or for the query tokens alone if this is the last block.
        last : bool
            Nothing reads the context tokens that the last block would make, so it makes query tokens only; this
            saves nearly half the time of a network of two blocks.

        Returns
        -------
        Tensor, shape (B, T, C), or (B, T - n_context, C) if this is the last block
        """
        normed = self.norm_attention(x_btc)
        context = normed[:, :n_context]
        if last:
            x_btc, normed = x_btc[:, n_context:], normed[:, n_context:]
        attended = self.attention(normed, context, layer, 0 if last else n_context)
        x_btc = x_btc + self.dropout(attended)
        y_btc: Tensor = x_btc + self.dropout(self.feed_forward(self.norm_feed_forward(x_btc)))
        return y_btc


class QuantileHead(nn.Module):
    """Quantiles that cannot cross: a median and positive steps away from it.

    At the start it states given quantiles whatever its input, those of the standard normal distribution if none are
    set. Where it is `centred`, they are moved together so that their mean is zero.

    Parameters
    ----------
    dim : int
    probabilities : sequence of float
        Increasing, with 0.5 among them.
    h : int
        Bars ahead that have quantiles of their own at the start; further ones have those of the last.
    """

    first: Tensor
    centred: Tensor
    weights: Tensor

    def __init__(self, dim: int, probabilities: Sequence[float], h: int) -> None:
        super().__init__()
        self.median = list(probabilities).index(0.5)
        self.project = nn.Linear(dim, len(probabilities))
        nn.init.zeros_(self.project.weight)
        nn.init.zeros_(self.project.bias)
        normal = torch.tensor([NormalDist().inv_cdf(p) for p in probabilities])
        self.register_buffer("first", torch.empty(h, len(probabilities)))
        self.register_buffer("centred", torch.tensor(False))
        self.register_buffer("weights", torch.tensor(mean_weights(probabilities)), persistent=False)
        self.start_at(normal.expand(h, -1))

    def start_at(self, quantiles_tq: Tensor) -> None:
        """Set what is stated before training.

        Parameters
        ----------
        quantiles_tq : Tensor, shape (h, Q)
            Not decreasing along Q.
        """
        steps = quantiles_tq.diff(dim=-1).clamp_min(_LEAST_STEP)
        raw = steps + (-(-steps).expm1()).log()  # the inverse of softplus
        middle = quantiles_tq[:, self.median : self.median + 1]
        self.first.copy_(torch.cat((raw[:, : self.median], middle, raw[:, self.median :]), dim=-1))

    def forward(self, x_btc: Tensor, step_bt: Tensor, beside_btq: Tensor | None = None) -> Tensor:
        """Return quantiles of shape (B, T, Q), increasing along Q.

        Parameters
        ----------
        x_btc : Tensor, shape (B, T, C)
        step_bt : Tensor of int, shape (B, T)
            Bars ahead, from 1.
        beside_btq : Tensor, shape (B, T, Q), optional
            What else moves the median and the steps away from it.
        """
        raw = self.project(x_btc) + self.first[step_bt.clamp(1, len(self.first)) - 1]
        if beside_btq is not None:
            raw = raw + beside_btq
        median = raw[..., self.median : self.median + 1]
        below = functional.softplus(raw[..., : self.median]).flip(-1).cumsum(-1).flip(-1)
        above = functional.softplus(raw[..., self.median + 1 :]).cumsum(-1)
        quantiles = torch.cat((median - below, median, median + above), dim=-1)
        return torch.where(self.centred, quantiles - (quantiles @ self.weights)[..., None], quantiles)


def mean_weights(probabilities: Sequence[float]) -> list[float]:
    """Weights that make the mean of a distribution from its quantiles.

    The quantile function joins the quantiles by straight lines and is flat beyond the outermost ones.
    """
    edges = [0.0, *probabilities, 1.0]
    widths = [after - before for before, after in pairwise(edges)]
    weights = [0.5 * (before + after) for before, after in pairwise(widths)]
    weights[0] += 0.5 * widths[0]
    weights[-1] += 0.5 * widths[-1]
    return weights
