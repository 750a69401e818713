"""Rotary encodings: every plane turns steadily on one clock."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from fints.encodings.base import AxisClock, Encoding, Terms, TimeAxis
from fints.encodings.rotation import Rotation, rotation_table
from fints.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Iterable

LISTED = 6
"""So many periods are listed in a printed model; of more, the ends are given."""


@dataclass(frozen=True, slots=True)
class Plane:
    """One rotary plane.

    Parameters
    ----------
    clock : {"index", "session", "calendar", "seconds"}
    frequency : float
        Turns per unit of the clock.
    """

    clock: AxisClock
    frequency: float


def periods_in_short(planes: Iterable[Plane]) -> str:
    """Write the periods of planes clock by clock, for a printed model: ``index 6.28 … 5.44e+04; session 5, 20``."""
    by_clock: dict[str, list[str]] = {}
    for plane in sorted(planes, key=lambda plane: -abs(plane.frequency)):
        period = f"{1 / abs(plane.frequency):.4g}" if plane.frequency else "inf"
        by_clock.setdefault(plane.clock, []).append(period)
    told = []
    for clock, periods in sorted(by_clock.items()):
        distinct = list(dict.fromkeys(periods))
        some = distinct if len(distinct) <= LISTED else [f"{distinct[0]} … {distinct[-1]}"]
        told.append(f"{clock} {', '.join(some)}")
    return f"periods: {'; '.join(told)}"


def rope_planes(head_dim: int, base: float, clock: AxisClock = "index") -> tuple[Plane, ...]:
    """Lay out the planes of plain RoPE, the fastest first.

    Parameters
    ----------
    head_dim : int
        Channels D of a head; even.
    base : float
    clock : str

    Returns
    -------
    tuple of Plane, length D / 2
        Plane j turns by ``base^(−2j/D)`` radians per unit (Su et al., 2021, §3.2.2).

    Raises
    ------
    EncodingError
        If D is odd.
    """
    if head_dim % 2:
        raise EncodingError(f"a rotary encoding needs an even head width; got {head_dim} channels per head")
    return tuple(Plane(clock, base ** (-2 * j / head_dim) / (2 * math.pi)) for j in range(head_dim // 2))


class RotaryEncoding(Encoding):
    """Planes that turn steadily, each on its own clock, alike in every head and layer.

    Frequencies are kept as Python floats and become float64 tensors in `prepare`, so no cast of the module touches
    them.

    Parameters
    ----------
    planes : tuple of Plane
    n_layers : int
    """

    def __init__(self, planes: tuple[Plane, ...], n_layers: int) -> None:
        super().__init__(n_layers)
        self.planes = planes

    def _in_short(self) -> str:
        return periods_in_short(self.planes)

    def frequencies(self, device: torch.device) -> torch.Tensor:
        """Return the frequency of every plane in turns per unit of its clock, shape (P,), float64."""
        return torch.tensor([plane.frequency for plane in self.planes], dtype=torch.float64, device=device)

    def turns(self, at: TimeAxis) -> torch.Tensor:
        """Return the phase of every plane at every place.

        Returns
        -------
        Tensor, shape (B or 1, T, P), float64
            In turns.
        """
        columns = []
        for clock in dict.fromkeys(plane.clock for plane in self.planes):
            places = at.clock(clock)
            own = [i for i, plane in enumerate(self.planes) if plane.clock == clock]
            columns.append(places[..., None] * self.frequencies(places.device)[own])
        rows = max(len(c) for c in columns)
        grouped = torch.cat([c.expand(rows, -1, -1) for c in columns], dim=-1)
        return grouped[..., self._order()]

    def _order(self) -> list[int]:
        """Positions of the planes within the columns grouped by clock."""
        clocks = list(dict.fromkeys(plane.clock for plane in self.planes))
        grouped = sorted(range(len(self.planes)), key=lambda i: clocks.index(self.planes[i].clock))
        return sorted(range(len(grouped)), key=lambda i: grouped[i])

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute one pair of tables, shared by all layers."""
        q_table = rotation_table(self.turns(q_at))[:, None]
        k_table = q_table if k_at is q_at else rotation_table(self.turns(k_at))[:, None]
        return Terms((Rotation(q_table, k_table),) * self.n_layers)
