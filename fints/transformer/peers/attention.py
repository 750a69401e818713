"""Attention of the bars asked for to the other series of the panel.

Shape suffixes as in `fints.transformer.layers`; ``p`` other series, ``f`` feature, ``j`` fading function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FOCUS = 8.0
"""What a lead of one adds to a logit before training."""

_FADES = (0.3, 3.0, 15.0, math.inf)
"""Time constants in bars. The first is the next bar alone."""


@dataclass(frozen=True, slots=True, eq=False)
class PeerTokens:
    """What each window knows of other series.

    Parameters
    ----------
    features : Tensor, shape (B, P, F)
        See `fints.transformer.peers.table.PeerTable.tokens`; 0 where nothing is known.
    known : Tensor of bool, shape (B, P)
    lead : Tensor, shape (B, P)
        Absolute correlation of each one's surprises with the window's next ones.
    """

    features: Tensor
    known: Tensor
    lead: Tensor

    def to(self, device: torch.device | str) -> PeerTokens:
        """Move to a device."""
        return PeerTokens(self.features.to(device), self.known.to(device), self.lead.to(device))

    def rows(self, chosen: slice | NDArray[np.int64]) -> PeerTokens:
        """Select some of the windows."""
        return PeerTokens(self.features[chosen], self.known[chosen], self.lead[chosen])


class PeerAttention(nn.Module):
    """What the bars asked for hear of other series, by softmax attention.

    Series have no places among each other, so their order cannot matter. One more key, of zeros, whose value is zero,
    lets a query hear less than all, and nothing where no series is known. Each logit has a learned multiple of the
    series' lead beside it, so that before training one that leads is not lost among many that do not.

    What is heard fades with the step, as news is mostly about the next bar. It goes straight to the quantiles, by a
    projection that begins at zero: training begins at the network without this layer, and the projection has a gradient
    from the first step on.

    Parameters
    ----------
    dim, n_heads : int
    n_features : int
        Of each series.
    n_out : int
        Numbers that it moves, for each token.
    """

    fade: Tensor

    def __init__(self, dim: int, n_heads: int, n_features: int, n_out: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.focus = nn.Parameter(torch.full((n_heads, 1, 1), _FOCUS))
        first, last = nn.Linear(n_features, dim), nn.Linear(dim, 2 * dim)
        # values as large as the features, or the projection would take many steps to make anything of them
        nn.init.kaiming_normal_(first.weight, nonlinearity="linear")
        nn.init.kaiming_normal_(last.weight, nonlinearity="relu")
        self.to_kv = nn.Sequential(first, nn.GELU(), last)
        self.out = nn.Linear(len(_FADES) * dim, n_out, bias=False)
        nn.init.zeros_(self.out.weight)
        self.register_buffer("fade", 1 / torch.tensor(_FADES), persistent=False)

    def forward(self, x_btc: Tensor, peers: PeerTokens, step_bt: Tensor) -> Tensor:
        """Attend.

        Parameters
        ----------
        x_btc : Tensor, shape (B, T, C)
            Query tokens.
        peers : PeerTokens
        step_bt : Tensor of int, shape (B, T)
            Bars ahead, from 1.

        Returns
        -------
        Tensor, shape (B, T, n_out)
        """
        k_btc, v_btc = functional.pad(self.to_kv(peers.features), (0, 0, 0, 1)).chunk(2, dim=-1)
        bias_bhtp = self.focus * peers.lead[:, None, None] + torch.where(peers.known, 0.0, -torch.inf)[:, None, None]
        bias_bhtp = functional.pad(bias_bhtp, (0, 1)).to(k_btc.dtype)
        q_bhtd, k_bhpd, v_bhpd = (self._heads(t) for t in (self.to_q(x_btc), k_btc, v_btc))
        heard = functional.scaled_dot_product_attention(q_bhtd, k_bhpd, v_bhpd, bias_bhtp)
        heard_btc = heard.transpose(1, 2).flatten(2)
        fading_btj = torch.exp(-(step_bt.clamp_min(1)[..., None] - 1) * self.fade)
        faded_btjc = fading_btj[..., None] * heard_btc[..., None, :]
        out: Tensor = self.out(faded_btjc.flatten(2))
        return out

    def _heads(self, x_btc: Tensor) -> Tensor:
        return x_btc.reshape(*x_btc.shape[:2], self.n_heads, -1).transpose(1, 2)
