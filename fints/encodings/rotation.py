"""The rotation itself: it knows no base, owns no frequency and keeps no cache.

Plane ``p`` of a head is the channel pair ``(2p, 2p + 1)`` (interleaved layout), rotated by
``R(φ) = [[cos φ, −sin φ], [sin φ, cos φ]]``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from fints.encodings.base import LayerTerms

if TYPE_CHECKING:
    from torch import Tensor

TURN = 2 * math.pi


def rotation_table(turns: Tensor) -> Tensor:
    """Turn phases into a table of unit complex numbers.

    Parameters
    ----------
    turns : Tensor, float64
        Phases in turns, of any size: whole turns are taken off in float64, so the float32 trigonometry that follows
        sees at most half a turn (error below 1e-6 rad for any date between 1970 and 2100).

    Returns
    -------
    Tensor, complex64, same shape
    """
    angle = ((turns - turns.round()) * TURN).to(torch.float32)
    # `torch.polar` would take four times as long.
    return torch.complex(angle.cos(), angle.sin())


def rotate(x_bhtd: Tensor, table: Tensor) -> Tensor:
    """Rotate every plane by its phase.

    Parameters
    ----------
    x_bhtd : Tensor, shape (B, H, T, D)
    table : Tensor, complex64, broadcastable to (B, H, T, D // 2)

    Returns
    -------
    Tensor, shape (B, H, T, D)
        In the dtype given; half-precision input is rotated in float32.
    """
    x = x_bhtd.float() if x_bhtd.dtype in (torch.float16, torch.bfloat16) else x_bhtd
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    if torch.compiler.is_compiling():
        # Inductor has no code for complex numbers.
        parts = torch.view_as_real(table).to(x.dtype)
        cos, sin = parts[..., 0], parts[..., 1]
        first, second = pairs.unbind(-1)
        turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    else:
        turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * table)
    return turned.flatten(-2).to(x_bhtd.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Rotation(LayerTerms):
    """Rotations of the queries and keys of one layer.

    Parameters
    ----------
    q_table, k_table : Tensor, complex64, broadcastable to (B, H, T, D // 2)
    """

    q_table: Tensor
    k_table: Tensor

    def rotate(self, q_bhtd: Tensor, k_bhtd: Tensor) -> tuple[Tensor, Tensor]:
        """Rotate queries and keys to their places; see `LayerTerms.rotate`."""
        return rotate(q_bhtd, self.q_table), rotate(k_bhtd, self.k_table)
