"""TO-RoPE: the order of tokens and their timestamps, fused in one rotation (arXiv 2510.20455)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from pydantic import Field

from fints.encodings.bank import TimeBank, geometric_betas
from fints.encodings.bank_rotation import BankPhases, BankRotation, bank_phases
from fints.encodings.base import Encoding, Terms, TimeAxis
from fints.encodings.config import EncodingConfig
from fints.encodings.rope import RotaryEncoding, rope_planes
from fints.encodings.rotation import Rotation, rotation_table
from fints.errors import EncodingError

if TYPE_CHECKING:
    from torch import Tensor


class ToRopeConfig(EncodingConfig):
    """TO-RoPE.

    Attributes
    ----------
    fusion : {"early", "planes", "heads"}
        Add the angles of index and time in every plane; or give the first half of the planes, or of the heads, to the
        index and the others to time.
    base : float
        Of the rope schedule on the index clock.
    beta_min, beta_max : float
        Ends of the geometric bank of time scales, in seconds.
    sigma : float
        The time coefficient of every layer and plane, one for query and key, starts as N(0, sigma²).
    learnable : bool
    epoch : float
        Unix seconds at which the time phase is zero. Scores depend on distances only, so it moves none of them.
    unit : float
        Seconds; the learned departure is in radians per unit. See `TimeBank`.
    seed_base : int, optional
        Layer ℓ, counted from 1, draws with seed ``seed_base + ℓ``. By default the seed that `build` is given.
    """

    kind: Literal["to_rope"] = "to_rope"
    fusion: Literal["early", "planes", "heads"] = "early"
    base: float = Field(default=10_000.0, gt=1)
    beta_min: float = Field(default=1e2, gt=0, allow_inf_nan=False)
    beta_max: float = Field(default=1e8, gt=0, allow_inf_nan=False)
    sigma: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    learnable: bool = True
    epoch: float = Field(default=0.0, allow_inf_nan=False)
    unit: float = Field(default=1e9, gt=0, allow_inf_nan=False)
    seed_base: int | None = Field(default=None, ge=0)


class ToRope(Encoding):
    """Order and time in one rotation, with one coefficient for query and key.

    Parameters
    ----------
    config : ToRopeConfig
    head_dim : int
        Channels D of a head; even.
    n_heads, n_layers : int
    seed : int
        Taken where the settings hold none.

    Raises
    ------
    EncodingError
        If the head width is odd, or there are too few planes or heads to split.
    """

    def __init__(self, config: ToRopeConfig, head_dim: int, n_heads: int, n_layers: int, seed: int = 0) -> None:
        super().__init__(n_layers)
        planes = rope_planes(head_dim, config.base)
        n_time = len(planes)
        if config.fusion == "planes":
            n_time = len(planes) // 2
            planes = rope_planes(2 * (len(planes) - n_time), config.base)
        if n_time == 0 or (config.fusion == "heads" and n_heads < 2):
            raise EncodingError(
                f"{n_heads} heads of {head_dim} channels cannot be split by {config.fusion} between index and time"
            )
        self.config = config
        self.n_heads = n_heads
        self.order = RotaryEncoding(planes, n_layers)
        first = seed if config.seed_base is None else config.seed_base
        starts = [
            np.random.default_rng(first + layer).normal(0.0, config.sigma, n_time).tolist()
            for layer in range(1, n_layers + 1)
        ]
        betas = geometric_betas(config.beta_min, config.beta_max, n_time)
        self.time = TimeBank(starts, betas, config.epoch, config.unit, learnable=config.learnable)

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute what every layer needs from the index and seconds clocks."""
        queries = self._phases(q_at)
        keys = queries if k_at is q_at else self._phases(k_at)
        if self.config.fusion == "early":
            return Terms(tuple(BankRotation(q, k) for q, k in zip(queries, keys, strict=True)))
        q_order = self._order(q_at)
        k_order = q_order if k_at is q_at else self._order(k_at)
        return Terms(tuple(self._joined((q_order, k_order), pair) for pair in zip(queries, keys, strict=True)))

    def _phases(self, at: TimeAxis) -> list[BankPhases]:
        beside = self.order.turns(at) if self.config.fusion == "early" else None
        return bank_phases(self.time, at.clock("seconds"), beside=beside)

    def _order(self, at: TimeAxis) -> Tensor:
        return rotation_table(self.order.turns(at))[:, None]

    def _joined(self, orders: tuple[Tensor, Tensor], phases: tuple[BankPhases, BankPhases]) -> Rotation:
        """Join the tables of order and of time along planes or heads."""
        q_table, k_table = (partial(self._side_by_side, *pair) for pair in zip(orders, phases, strict=True))
        return Rotation(q_table, None if phases[0] is phases[1] else k_table)

    def _side_by_side(self, order: Tensor, phases: BankPhases) -> Tensor:
        time = phases.table()
        rows = max(len(order), len(time))
        order, time = order.expand(rows, -1, -1, -1), time.expand(rows, -1, -1, -1)
        if self.config.fusion == "planes":
            return torch.cat((order, time), dim=-1)
        n_time = self.n_heads // 2
        return torch.cat((order.expand(-1, self.n_heads - n_time, -1, -1), time.expand(-1, n_time, -1, -1)), dim=1)
