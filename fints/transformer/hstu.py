"""The HSTU block: pointwise attention under a gate (Zhai et al., "Actions Speak Louder than Words", ICML 2024).

Shape suffixes as in `layers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from fints.encodings import LayerTerms


class HstuBlock(nn.Module):
    """Hierarchical sequential transduction unit.

    ``U, V, Q, K = SiLU(f1(x))`` (eq. 1), ``A = SiLU(QKᵀ + rab)`` (eq. 2), ``y = f2(Norm(AV) ⊙ U)`` (eq. 3), with a
    residual around it. A is divided by the number of keys that the query sees (the authors' code divides by the length
    of the padded sequence), so a context of another length changes no scale. There is no softmax, no scale of the
    logits and no feed-forward layer.

    What context and query tokens see is as in `layers.CausalAttention`.

    Parameters
    ----------
    dim, n_heads : int
    dropout : float
        Of the gated values.
    """

    def __init__(self, dim: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norm = nn.LayerNorm(dim)
        self.to_uq = nn.Linear(dim, 2 * dim)
        self.to_kv = nn.Linear(dim, 2 * dim)
        self.norm_attended = nn.LayerNorm(dim)
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(dim, dim)

    def forward(self, x_btc: Tensor, n_context: int, layer: LayerTerms, *, last: bool = False) -> Tensor:
        """Apply the unit; parameters and result are those of `layers.Block.forward`."""
        normed = self.norm(x_btc)
        context = normed[:, :n_context]
        if last:
            x_btc, normed = x_btc[:, n_context:], normed[:, n_context:]
        u_btc, q_btc = functional.silu(self.to_uq(normed)).chunk(2, dim=-1)
        k_btc, v_btc = functional.silu(self.to_kv(context)).chunk(2, dim=-1)
        q_bhtd, k_bhtd = layer.rotate(self._heads(q_btc), self._heads(k_btc))
        shares = visible_shares(0 if last else n_context, x_btc.shape[1], n_context, x_btc.device)
        attended = pointwise_attention(q_bhtd, k_bhtd, self._heads(v_btc), layer.bias, shares)
        gated = self.norm_attended(attended.transpose(1, 2).flatten(2)) * u_btc
        y_btc: Tensor = x_btc + self.out(self.dropout(gated))
        return y_btc

    def weights(self, x_btc: Tensor, n_context: int, layer: LayerTerms, *, last: bool = False) -> Tensor:
        """Say how much the query tokens attend to each token of the context; parameters as those of `forward`.

        Pointwise weights may be negative and have no fixed sum, so their sizes count, as parts of their sum.

        Returns
        -------
        Tensor, shape (B, H, T - n_context, L)
            Sums to one over the context.
        """
        normed = self.norm(x_btc)
        first = n_context if last else 0
        q_btc = functional.silu(self.to_uq(normed[:, first:])).chunk(2, dim=-1)[1]
        k_btc = functional.silu(self.to_kv(normed[:, :n_context])).chunk(2, dim=-1)[0]
        q_bhtd, k_bhtd = layer.rotate(self._heads(q_btc), self._heads(k_btc))
        queries = slice(n_context - first, None)
        logits, bias = q_bhtd[:, :, queries] @ k_bhtd.mT, layer.bias_of(queries).bias
        sizes = functional.silu(logits if bias is None else logits + bias).abs()
        shares: Tensor = sizes / sizes.sum(dim=-1, keepdim=True)
        return shares

    def _heads(self, x_btc: Tensor) -> Tensor:
        return x_btc.reshape(*x_btc.shape[:2], self.n_heads, -1).transpose(1, 2)


def visible_shares(n_causal: int, n_queries: int, n_keys: int, device: torch.device | None = None) -> Tensor:
    """Say what part each key has in what a query sees: one over the number of visible keys, or 0.

    Parameters
    ----------
    n_causal : int
        So many queries, the first, see the keys up to their own; the others see all.
    n_queries, n_keys : int
    device : torch.device, optional

    Returns
    -------
    Tensor, shape (n_queries, n_keys)
    """
    visible = torch.ones(n_queries, n_keys, device=device)
    visible[:n_causal].tril_()
    return visible / visible.sum(dim=-1, keepdim=True)


def pointwise_attention(q_bhtd: Tensor, k_bhtd: Tensor, v_bhtd: Tensor, bias: Tensor | None, shares: Tensor) -> Tensor:
    """Sum values by ``SiLU(QKᵀ + bias)``, each key weighted by its share.

    Parameters
    ----------
    q_bhtd : Tensor, shape (B, H, T, D)
    k_bhtd, v_bhtd : Tensor, shape (B, H, L, D)
    bias : Tensor, optional
        Broadcastable to (B, H, T, L). It is always made in full: no bias folds into a channel without the softmax.
    shares : Tensor, shape (T, L)
        See `visible_shares`.

    Returns
    -------
    Tensor, shape (B, H, T, D)
    """
    logits = q_bhtd @ k_bhtd.mT
    if bias is not None:
        logits = logits + bias.to(logits.dtype)
    attended: Tensor = (functional.silu(logits) * shares.to(logits.dtype)) @ v_bhtd
    return attended
