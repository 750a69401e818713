"""The rotation itself: it knows no base, owns no frequency and keeps no cache.

Plane ``p`` of a head is the channel pair ``(2p, 2p + 1)`` (interleaved layout), rotated by
``R(φ) = [[cos φ, −sin φ], [sin φ, cos φ]]``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from fints.encodings.base import LayerTerms

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    Table = Tensor | Callable[[], Tensor]

TURN = 2 * math.pi

BLOCK = 1 << 16
"""Phases turned at a time, so that what is made on the way stays in the processor's cache."""


def table_dtype() -> torch.dtype:
    """Return the dtype of tables: float32, or float64 where that is torch's default."""
    return torch.float64 if torch.get_default_dtype() == torch.float64 else torch.float32


def rotation_table(turns: Tensor) -> Tensor:
    """Turn phases into a table of unit complex numbers.

    Parameters
    ----------
    turns : Tensor, float64
        Phases in turns, of any size: whole turns are taken off in float64, so the float32 trigonometry that follows
        sees at most half a turn (error below 1e-6 rad for any date between 1970 and 2100).

    Returns
    -------
    Tensor, complex64, or complex128 if float64 is torch's default, same shape
    """
    # Elsewhere than on a processor blocks have no use, and the compiler and autograd see to what is made on the way.
    whole = turns.numel() <= BLOCK or turns.requires_grad or not turns.is_cpu or torch.compiler.is_compiling()
    if whole:
        angle = ((turns - turns.round()) * TURN).to(table_dtype())
        # `torch.polar` would take four times as long.
        return torch.complex(angle.cos(), angle.sin())
    table = turns.new_empty(turns.shape, dtype=table_dtype().to_complex())
    for some, out in zip(torch.split(turns.reshape(-1), BLOCK), torch.split(table.view(-1), BLOCK), strict=True):
        out.copy_(rotation_table(some))
    return table


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
    return channels(planes(x_bhtd) * table, x_bhtd.dtype)


def planes(x_bhtd: Tensor) -> Tensor:
    """Read pairs of channels as complex numbers, shape (B, H, T, D // 2); half precision is widened to float32."""
    x = x_bhtd.float() if x_bhtd.dtype in (torch.float16, torch.bfloat16) else x_bhtd
    # Heads that a projection left interleaved would cost a product with a shared table four times as much.
    return torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())


def channels(x_bhtp: Tensor, dtype: torch.dtype) -> Tensor:
    """Write complex numbers as pairs of channels, shape (B, H, T, D)."""
    return torch.view_as_real(x_bhtp).flatten(-2).to(dtype)


class LazyTable:
    """A table that is made when it is first asked for, and kept.

    One made without a graph is made again where gradients are wanted: a layer whose activations are checkpointed asks
    for it without a graph first.

    Parameters
    ----------
    make : callable
    """

    def __init__(self, make: Callable[[], Tensor]) -> None:
        self._make = make
        self._kept: Tensor | None = None
        self._with_graph = False

    def __call__(self) -> Tensor:
        """Return the table."""
        wanted = torch.is_grad_enabled()
        if self._kept is None or (wanted and not self._with_graph):
            self._kept, self._with_graph = self._make(), wanted
        return self._kept


class Rotation(LayerTerms):
    """Rotations of the queries and keys of one layer.

    Parameters
    ----------
    q_table, k_table : Tensor, complex64, broadcastable to (B, H, T, D // 2)
        Or a function that makes it, called when the layer first asks: tables that differ from layer to layer are many,
        and a network may need only some of them. Without `k_table` keys take that of the queries.
    """

    def __init__(self, q_table: Table, k_table: Table | None = None) -> None:
        self._q_table = _lazy(q_table)
        self._k_table = self._q_table if k_table is None else _lazy(k_table)

    @property
    def q_table(self) -> Tensor:
        """The table of the queries."""
        return self._q_table() if isinstance(self._q_table, LazyTable) else self._q_table

    @property
    def k_table(self) -> Tensor:
        """The table of the keys."""
        return self._k_table() if isinstance(self._k_table, LazyTable) else self._k_table

    def _turned(self, q_bhtd: Tensor, k_bhtd: Tensor) -> tuple[Tensor, Tensor]:
        """Rotate queries and keys to their places; see `LayerTerms.rotate`."""
        return rotate(q_bhtd, self.q_table), rotate(k_bhtd, self.k_table)


def _lazy(table: Table) -> Tensor | LazyTable:
    return table if isinstance(table, torch.Tensor) else LazyTable(table)
