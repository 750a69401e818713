"""ALiBi: a penalty on attention that grows linearly with distance (Press et al., 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor
from torch.nn import functional

from fints.encodings.base import Terms
from fints.encodings.config import EncodingConfig
from fints.encodings.kinds import BiasEncoding, LazyBias

if TYPE_CHECKING:
    from fints.encodings.base import TimeAxis

HEAD_WIDTH_MULTIPLE = 8
"""Fused attention kernels want head widths that are multiples of this."""


class AlibiConfig(EncodingConfig):
    """Bias ``−m_h · |p_q − p_k|``.

    Attributes
    ----------
    clock : {"index", "session"}
        Bars or sessions; a bar of an intraday session is a fraction of the latter.
    """

    kind: Literal["alibi"] = "alibi"
    clock: Literal["index", "session"] = "index"


def alibi_slopes(n_heads: int) -> tuple[float, ...]:
    """Slopes of the heads.

    Returns
    -------
    tuple of float, length H
        ``2^(−8h/H)`` for h = 1 … H if H is a power of two. Otherwise the slopes of the next lower power n, then every
        other slope of 2n from its first (the published rule).
    """
    below = 2 ** (n_heads.bit_length() - 1)
    slopes = [2 ** (-8 * h / below) for h in range(1, below + 1)]
    between = [2 ** (-8 * h / (2 * below)) for h in range(1, 2 * below + 1, 2)]
    return tuple(slopes + between[: n_heads - below])


@dataclass(frozen=True, eq=False)
class LinearBias(LazyBias):
    """Bias of ALiBi, kept as slopes and places until somebody asks for the dense form.

    Parameters
    ----------
    slopes : Tensor, shape (H,), float64
    q_places, k_places : Tensor, shape (B or 1, Tq) and (B or 1, Tk), float64
    folds : bool
        Every query stands at or after every key.
    folds_causally : bool
        Query i stands at or after the keys 0 … i, for each i.
    """

    slopes: Tensor
    q_places: Tensor
    k_places: Tensor
    folds: bool
    folds_causally: bool

    @classmethod
    def between(cls, slopes: tuple[float, ...], q_places: Tensor, k_places: Tensor) -> LinearBias:
        """Make the bias between places, and find out whether it may be folded.

        That depends on the places, so under compilation and on the meta device the answer is no.
        """
        folds = causally = False
        if not (q_places.is_meta or torch.compiler.is_compiling()):
            folds = bool((q_places.amin(-1) >= k_places.amax(-1)).all())
            causally = q_places.shape[-1] == k_places.shape[-1] and bool((q_places >= k_places.cummax(-1).values).all())
        device_slopes = torch.tensor(slopes, dtype=torch.float64, device=q_places.device)
        return cls(device_slopes, q_places, k_places, folds, causally)

    def materialise(self) -> Tensor:
        """Return ``−m |p_q − p_k|``, shape (B or 1, H, Tq, Tk), float32; distances are taken in float64."""
        distance = (self.q_places[:, None, :, None] - self.k_places[:, None, None, :]).abs()
        return (-self.slopes[:, None, None] * distance).to(torch.float32)

    def fold(self, q_bhtd: Tensor, k_bhtd: Tensor, scale: float) -> tuple[Tensor, Tensor]:
        """Carry the bias in one more channel.

        Where no key stands after its query, ``−m (p_q − p_k) = m (p_k − p_last) − m (p_q − p_last)``, and the
        softmax over keys ignores the second term. Query channel ``1 / scale``, key channel the first term.

        Parameters
        ----------
        q_bhtd, k_bhtd : Tensor, shape (B, H, T, D)
        scale : float
            That the logits are multiplied by.

        Returns
        -------
        q, k : Tensor
            D + 1 channels, padded with zeros to a multiple of 8. The logits' error is about ``2^−24 m (p_last −
            p_first)`` in float32: 8e-6 over 512 bars at the steepest slope of 8 heads.
        """
        pad = (0, -(q_bhtd.shape[-1] + 1) % HEAD_WIDTH_MULTIPLE)
        ago = self.k_places - self.k_places.amax(-1, keepdim=True)
        k_channel = (self.slopes[:, None] * ago[:, None]).to(k_bhtd.dtype)[..., None]
        k_extra = functional.pad(k_channel, pad).expand(*k_bhtd.shape[:-1], -1)
        q_extra = functional.pad(q_bhtd.new_full((*q_bhtd.shape[:-1], 1), 1 / scale), pad)
        return torch.cat((q_bhtd, q_extra), dim=-1), torch.cat((k_bhtd, k_extra), dim=-1)


class AlibiEncoding(BiasEncoding):
    """ALiBi at arbitrary places, alike in every layer.

    Slopes are kept as Python floats, so no cast of the module touches them.

    Parameters
    ----------
    config : AlibiConfig
    n_heads, n_layers : int
    """

    def __init__(self, config: AlibiConfig, n_heads: int, n_layers: int) -> None:
        super().__init__(n_layers)
        self.clock = config.clock
        self.slopes = alibi_slopes(n_heads)

    def prepare(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Keep slopes and places, shared by all layers."""
        linear = LinearBias.between(self.slopes, q_at.clock(self.clock), k_at.clock(self.clock))
        return Terms((linear,) * self.n_layers)
