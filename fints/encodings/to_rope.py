"""TO-RoPE: the order of tokens and their timestamps, fused in one rotation (arXiv 2510.20455)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from pydantic import Field

from fints.encodings.bank import TimeBank, geometric_betas
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

    def _tables(self, at: TimeAxis) -> list[Tensor]:
        """Return one table per layer, shape (B or 1, 1 or H, T, P)."""
        order = self.order.turns(at)
        return [self._fused(order, time) for time in self.time.turns(at.clock("seconds"))]

    def _fused(self, order: Tensor, time: Tensor) -> Tensor:
        match self.config.fusion:
            case "early":
                return rotation_table(order + time)[:, None]
            case "planes":
                rows = max(len(order), len(time))
                turns = torch.cat((order.expand(rows, -1, -1), time.expand(rows, -1, -1)), dim=-1)
                return rotation_table(turns)[:, None]
            case "heads":
                rows, n_order = max(len(order), len(time)), self.n_heads - self.n_heads // 2
                one, other = rotation_table(order)[:, None], rotation_table(time)[:, None]
                return torch.cat(
                    (one.expand(rows, n_order, -1, -1), other.expand(rows, self.n_heads - n_order, -1, -1)), dim=1
                )

    def prepare(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute the tables of every layer from the index and seconds clocks."""
        q_tables = self._tables(q_at)
        k_tables = q_tables if k_at is q_at else self._tables(k_at)
        return Terms(tuple(Rotation(q, k) for q, k in zip(q_tables, k_tables, strict=True)))
