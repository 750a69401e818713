"""Scaled dot-product attention that applies an encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from fints.encodings.alibi import LinearBias
from fints.encodings.joined import SumTerms
from fints.errors import EncodingError

if TYPE_CHECKING:
    from torch import Tensor

    from fints.encodings.base import LayerTerms

EXACT = (torch.float32, torch.float64)
"""A bias folded into a channel is exact enough in these; half precision would blur near keys for far queries."""


def attend(q_bhtd: Tensor, k_bhtd: Tensor, v_bhtd: Tensor, layer: LayerTerms, *, is_causal: bool = False) -> Tensor:
    """Attend with the places that `layer` knows.

    A bias that is linear in distance is folded into one more channel of queries and keys where no visible key stands
    after its query, so no (B, H, T, T) tensor is made and the fused kernels stay in use. Any other bias is
    materialised, and merged with the causal mask.

    Parameters
    ----------
    q_bhtd : Tensor, shape (B, H, Tq, D)
    k_bhtd : Tensor, shape (B, H, Tk, D)
    v_bhtd : Tensor, shape (B, H, Tk, Dv)
    layer : LayerTerms
        Prepared for Tq queries and Tk keys.
    is_causal : bool
        Query i sees the keys 0 … i; as many queries as keys.

    Returns
    -------
    Tensor, shape (B, H, Tq, Dv)

    Raises
    ------
    EncodingError
        If causal attention is asked for with unequal numbers of queries and keys, or a tensor is not what `layer` was
        prepared for.
    """
    q_bhtd, k_bhtd = layer.rotate(q_bhtd, k_bhtd)
    return attend_rotated(q_bhtd, k_bhtd, v_bhtd, layer, is_causal=is_causal)


def attend_rotated(
    q_bhtd: Tensor, k_bhtd: Tensor, v_bhtd: Tensor, layer: LayerTerms, *, is_causal: bool = False
) -> Tensor:
    """Attend with queries and keys that `layer` has rotated already; see `attend`.

    Keys that several groups of queries look at are so rotated once; give each group its own `LayerTerms.bias_of`.
    """
    layer.check(q_bhtd, k_bhtd, v_bhtd)
    if is_causal and q_bhtd.shape[2] != k_bhtd.shape[2]:
        raise EncodingError(
            f"causal attention needs one query per key; got {q_bhtd.shape[2]} queries and {k_bhtd.shape[2]} keys; "
            "attend with is_causal=False to keys that are all in the past"
        )
    linear = _foldable(layer, q_bhtd, is_causal=is_causal)
    if linear is not None:
        return _folded(q_bhtd, k_bhtd, v_bhtd, linear, is_causal=is_causal)
    bias = layer.bias
    if bias is None:
        return functional.scaled_dot_product_attention(q_bhtd, k_bhtd, v_bhtd, is_causal=is_causal)
    bias = bias.to(q_bhtd.dtype)
    if is_causal:
        # The kernel refuses a mask together with is_causal.
        later = torch.ones(bias.shape[-2:], dtype=torch.bool, device=bias.device).triu(1)
        bias = bias.masked_fill(later, float("-inf"))
    return functional.scaled_dot_product_attention(q_bhtd, k_bhtd, v_bhtd, bias)


def _foldable(layer: LayerTerms, q_bhtd: Tensor, *, is_causal: bool) -> LinearBias | None:
    match layer:
        case LinearBias() as linear:
            pass
        case SumTerms(biases=(LinearBias() as linear,)):
            pass
        case _:
            return None
    exact = q_bhtd.dtype in EXACT and not torch.is_autocast_enabled(q_bhtd.device.type)
    return linear if exact and (linear.folds_causally if is_causal else linear.folds) else None


def _folded(q_bhtd: Tensor, k_bhtd: Tensor, v_bhtd: Tensor, linear: LinearBias, *, is_causal: bool) -> Tensor:
    width = q_bhtd.shape[-1]
    # Set explicitly: the kernel would take it from the padded width.
    scale = width**-0.5
    # The fused kernels want values as wide as queries.
    q_bhtd, k_bhtd = linear.fold(q_bhtd, k_bhtd, scale, v_bhtd.shape[-1])
    v_wide = functional.pad(v_bhtd, (0, q_bhtd.shape[-1] - v_bhtd.shape[-1]))
    wide = functional.scaled_dot_product_attention(q_bhtd, k_bhtd, v_wide, is_causal=is_causal, scale=scale)
    return wide[..., : v_bhtd.shape[-1]]
