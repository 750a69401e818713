"""xPos: RoPE whose planes also fade with distance (Sun et al., 2022)."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from fints.encodings.base import Terms, TimeAxis
from fints.encodings.config import EncodingConfig
from fints.encodings.rope import RotaryEncoding, rope_planes
from fints.encodings.rotation import Rotation, rotation_table, table_dtype

GAMMA = 0.4
"""γ of the decay; the value of the paper."""

MAX_EXPONENT = 8.0
"""Largest |(p − centre) / s|. The steepest plane then scales by (1.4 / 0.4)^8 = 22,500, within float16."""


class XposConfig(EncodingConfig):
    """RoPE × decay.

    Attributes
    ----------
    base : float
        Of the rotation, as in RoPE.
    clock : {"index", "session"}
    scale : float
        s, in the clock's unit: the distance over which plane j fades by the factor ζ_j.
    """

    kind: Literal["xpos"] = "xpos"
    base: float = Field(default=10_000.0, gt=1)
    clock: Literal["index", "session"] = "index"
    scale: float = Field(default=512.0, gt=0)


class XposEncoding(RotaryEncoding):
    """Rotation by RoPE's angle, queries times ``ζ_j^(p/s)``, keys times ``ζ_j^(−p/s)``.

    ``ζ_j = (2j/D + γ) / (1 + γ)`` for plane j, so a score fades by ``ζ_j^((p_q − p_k)/s)``: fast planes first.

    Exponents are measured from the middle of the keys' places. That cancels in every score and keeps both factors
    near 1 whatever the origin of the clock. They are clamped to ±8: a place more than 8 s from the middle fades no
    further, and the score is no longer a function of distance alone there.

    Parameters
    ----------
    config : XposConfig
    head_dim : int
        Channels D of a head; even.
    n_layers : int

    Raises
    ------
    EncodingError
        If D is odd.
    """

    def __init__(self, config: XposConfig, head_dim: int, n_layers: int) -> None:
        super().__init__(rope_planes(head_dim, config.base, config.clock), n_layers)
        self.clock = config.clock
        self.scale = config.scale
        self.decay = tuple((2 * j / head_dim + GAMMA) / (1 + GAMMA) for j in range(head_dim // 2))

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute one pair of tables, rotation times decay, shared by all layers."""
        keys = k_at.clock(self.clock)
        centre = (keys.amin(-1, keepdim=True) + keys.amax(-1, keepdim=True)) / 2
        return Terms((Rotation(self._table(q_at, centre, 1), self._table(k_at, centre, -1)),) * self.n_layers)

    def _table(self, at: TimeAxis, centre: Tensor, sign: int) -> Tensor:
        exponent = sign * ((at.clock(self.clock) - centre) / self.scale).clamp(-MAX_EXPONENT, MAX_EXPONENT)
        decay = torch.tensor(self.decay, dtype=torch.float64, device=exponent.device)
        factor = decay ** exponent[..., None]
        return (rotation_table(self.turns(at)) * factor.to(table_dtype()))[:, None]
