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
from fints.encodings.rotation import table_dtype

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
    after_all : tuple of bool, length Tq
        Whether query i stands at or after every key; empty where the places were not looked at.
    after_own : tuple of bool, length min(Tq, Tk)
        Whether query i stands at or after the keys 0 … i; empty where the places were not looked at.
    """

    slopes: Tensor
    q_places: Tensor
    k_places: Tensor
    after_all: tuple[bool, ...]
    after_own: tuple[bool, ...]

    @classmethod
    def between(cls, slopes: tuple[float, ...], q_places: Tensor, k_places: Tensor) -> LinearBias:
        """Make the bias between places, and find out whether it may be folded.

        That depends on the places, so under compilation and on the meta device the answer is no.
        """
        after_all: list[bool] = []
        after_own: list[bool] = []
        if not (q_places.is_meta or torch.compiler.is_compiling()):
            latest = k_places.cummax(-1).values
            pairs = min(q_places.shape[-1], k_places.shape[-1])
            after_all = (q_places >= latest[:, -1:]).all(0).tolist()
            after_own = (q_places[:, :pairs] >= latest[:, :pairs]).all(0).tolist()
        device_slopes = torch.tensor(slopes, dtype=torch.float64, device=q_places.device)
        return cls(device_slopes, q_places, k_places, tuple(after_all), tuple(after_own))

    @property
    def folds(self) -> bool:
        """Whether every query stands at or after every key."""
        return len(self.after_all) > 0 and all(self.after_all)

    @property
    def folds_causally(self) -> bool:
        """Whether there is a query for each key, which stands at or after it and those before it."""
        return len(self.after_own) == self.q_places.shape[-1] == self.k_places.shape[-1] and all(self.after_own)

    def _rows(self, rows: slice) -> LinearBias:
        """Take the bias of some of the queries; it folds where theirs does. See `LayerTerms.bias_of`."""
        places, after_own = self.q_places[:, rows], self.after_own[rows]
        return LinearBias(self.slopes, places, self.k_places, self.after_all[rows], after_own)

    def materialise(self) -> Tensor:
        """Return ``−m |p_q − p_k|``, shape (B or 1, H, Tq, Tk), as wide as a table; distances are taken in float64."""
        distance = (self.q_places[:, None, :, None] - self.k_places[:, None, None, :]).abs()
        return (-self.slopes[:, None, None] * distance).to(table_dtype())

    def fold(self, q_bhtd: Tensor, k_bhtd: Tensor, scale: float, at_least: int = 0) -> tuple[Tensor, Tensor]:
        """Carry the bias in one more channel.

        Where no key stands after its query, ``−m (p_q − p_k) = m (p_k − p_mid) − m (p_q − p_mid)``, and the
        softmax over keys ignores the second term. Query channel ``1 / scale``, key channel the first term; counted
        from the middle of the window, it is half as large at most as from an end, and so is its rounding.

        Parameters
        ----------
        q_bhtd, k_bhtd : Tensor, shape (B, H, T, D)
        scale : float
            That the logits are multiplied by.
        at_least : int
            Channels to pad to: the width of the values.

        Returns
        -------
        q, k : Tensor
            D + 1 channels or `at_least`, padded with zeros to a multiple of 8. The logits' error is about
            ``2^−24 m (p_last − p_first)`` in float32: 8e-6 over 512 bars at the steepest slope of 8 heads.
        """
        width = max(q_bhtd.shape[-1] + 1, at_least)
        pad = (0, width + -width % HEAD_WIDTH_MULTIPLE - q_bhtd.shape[-1] - 1)
        middle = (self.k_places.amin(-1, keepdim=True) + self.k_places.amax(-1, keepdim=True)) / 2
        k_channel = (self.slopes[:, None] * (self.k_places - middle)[:, None]).to(k_bhtd.dtype)[..., None]
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

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Keep slopes and places, shared by all layers."""
        linear = LinearBias.between(self.slopes, q_at.clock(self.clock), k_at.clock(self.clock))
        return Terms((linear,) * self.n_layers)
