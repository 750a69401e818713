"""RoTE (of ReST): heads that count whole days, weeks, quarters or years since the first token."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import torch
from pydantic import Field

from fints.encodings.base import Encoding, Terms, TimeAxis
from fints.encodings.config import EncodingConfig
from fints.encodings.rope import rope_planes
from fints.encodings.rotation import Rotation, rotation_table
from fints.errors import EncodingError

if TYPE_CHECKING:
    from torch import Tensor

SCALES = {
    "year": 365.25 * 86_400,
    "quarter": 365.25 * 86_400 / 4,
    "week": 7 * 86_400.0,
    "day": 86_400.0,
    "hour": 3_600.0,
    "minute": 60.0,
    "second": 1.0,
}
"""Seconds in each scale, the coarsest first; years and quarters are mean ones."""


class RoteConfig(EncodingConfig):
    """RoTE.

    Attributes
    ----------
    base : float
        Of the rope schedule, which serves every head.
    interval : float, optional
        Seconds between bars. By default the smallest positive difference between places of the keys.
    """

    kind: Literal["rote"] = "rote"
    base: float = Field(default=10_000.0, gt=1)
    interval: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class Rote(Encoding):
    """Rotations by whole units of time, a unit per head.

    Plane j of head h turns by ``θ_j ⌊(t − t_first) / τ_h⌋`` radians, t_first being the earliest key of the window. Head
    0 is plain rope on the index clock; the others take the scales τ that the bar interval resolves (τ not below it),
    from the coarsest on, starting over if there are more heads.

    Parameters
    ----------
    config : RoteConfig
    head_dim : int
        Channels D of a head; even.
    n_heads, n_layers : int

    Raises
    ------
    EncodingError
        If the head width is odd. In `prepare`: if the settings give no interval and the keys show none.
    """

    def __init__(self, config: RoteConfig, head_dim: int, n_heads: int, n_layers: int) -> None:
        super().__init__(n_layers)
        self.config = config
        self.n_heads = n_heads
        self.frequencies = tuple(plane.frequency for plane in rope_planes(head_dim, config.base))

    def scales(self, k_at: TimeAxis) -> tuple[str, ...]:
        """Name the scale of every head after the first."""
        interval = self.config.interval or _interval(k_at.clock("seconds"))
        resolved = [name for name, tau in SCALES.items() if tau >= interval] or ["year"]
        return tuple(resolved[h % len(resolved)] for h in range(self.n_heads - 1))

    def _table(self, at: TimeAxis, first: Tensor, scales: tuple[str, ...]) -> Tensor:
        """Return the table of all heads, shape (B or 1, H, T, P)."""
        index = at.clock("index")[:, None]
        if scales:
            used = tuple(dict.fromkeys(scales))
            taus = torch.tensor([SCALES[name] for name in used], dtype=torch.float64, device=index.device)
            counts = ((at.clock("seconds") - first)[:, None] / taus[:, None]).floor()
            rows = max(len(index), len(counts))
            index = torch.cat((index.expand(rows, -1, -1), counts.expand(rows, -1, -1)), dim=1)
            heads = torch.tensor([0, *(1 + used.index(name) for name in scales)], device=index.device)
        else:
            heads = torch.zeros(1, dtype=torch.int64, device=index.device)
        frequencies = torch.tensor(self.frequencies, dtype=torch.float64, device=index.device)
        return rotation_table(index[..., None] * frequencies).index_select(1, heads)

    def prepare(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute one pair of tables, shared by all layers."""
        scales = self.scales(k_at) if self.n_heads > 1 else ()
        first = k_at.clock("seconds").amin(dim=1, keepdim=True) if scales else torch.zeros(1, 1, dtype=torch.float64)
        q_table = self._table(q_at, first, scales)
        k_table = q_table if k_at is q_at else self._table(k_at, first, scales)
        return Terms((Rotation(q_table, k_table),) * self.n_layers)


def _interval(seconds: Tensor) -> float:
    """Return the smallest positive difference between places of one row, in seconds."""
    steps = seconds.sort(dim=1).values.diff(dim=1)
    interval = float(torch.where(steps > 0, steps, math.inf).amin()) if steps.numel() else math.inf
    if math.isinf(interval):
        raise EncodingError("the keys show no bar interval, for no two differ in seconds; set interval= of 'rote'")
    return interval
