"""RoTE (of ReST): heads that count whole days, weeks, quarters or years since the first token."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import torch
from pydantic import Field
from torch.nn import functional

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
        If the head width is odd. In `prepare`: if the settings give no interval and the keys show none, which is not
        checked while compiling, nor on the meta device.
    """

    def __init__(self, config: RoteConfig, head_dim: int, n_heads: int, n_layers: int) -> None:
        super().__init__(n_layers)
        self.config = config
        self.n_heads = n_heads
        self.frequencies = tuple(plane.frequency for plane in rope_planes(head_dim, config.base))

    def scales(self, k_at: TimeAxis) -> tuple[str, ...]:
        """Name the scale of every head after the first."""
        names = tuple(SCALES)
        return tuple(names[row - 1] for row in self._rows(k_at).tolist()[1:])

    def _rows(self, k_at: TimeAxis) -> Tensor:
        """Return the row of every head: 0 for the index, 1 and on for the scales; shape (H,), int64.

        Found without looking at a value, so that it compiles into the graph.
        """
        seconds = k_at.clock("seconds")
        if self.n_heads == 1:
            return torch.zeros(1, dtype=torch.int64, device=seconds.device)
        interval = _interval(seconds) if self.config.interval is None else self.config.interval
        taus = torch.tensor(tuple(SCALES.values()), dtype=torch.float64, device=seconds.device)
        resolved = (taus >= interval).sum().clamp(min=1)
        after_first = torch.arange(self.n_heads - 1, device=seconds.device) % resolved + 1
        return torch.cat((after_first.new_zeros(1), after_first))

    def _table(self, at: TimeAxis, first: Tensor, rows: Tensor) -> Tensor:
        """Return the table of all heads, shape (B or 1, H, T, P)."""
        index = at.clock("index")[:, None]
        used = tuple(SCALES.values())[: self.n_heads - 1]
        taus = torch.tensor(used, dtype=torch.float64, device=index.device)
        counts = ((at.clock("seconds") - first)[:, None] / taus[:, None]).floor()
        batch = max(len(index), len(counts))
        places = torch.cat((index.expand(batch, -1, -1), counts.expand(batch, -1, -1)), dim=1)
        frequencies = torch.tensor(self.frequencies, dtype=torch.float64, device=index.device)
        return rotation_table(places[..., None] * frequencies).index_select(1, rows)

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute one pair of tables, shared by all layers."""
        rows = self._rows(k_at)
        first = k_at.clock("seconds").amin(dim=1, keepdim=True)
        q_table = self._table(q_at, first, rows)
        k_table = q_table if k_at is q_at else self._table(k_at, first, rows)
        return Terms((Rotation(q_table, k_table),) * self.n_layers)


def _interval(seconds: Tensor) -> Tensor:
    """Return the smallest positive difference between places of one row, in seconds."""
    steps = seconds.sort(dim=1).values.diff(dim=1)
    interval = functional.pad(torch.where(steps > 0, steps, math.inf), (0, 1), value=math.inf).amin()
    if not (interval.is_meta or torch.compiler.is_compiling()) and torch.isinf(interval):
        raise EncodingError("the keys show no bar interval, for no two differ in seconds; set interval= of 'rote'")
    return interval
