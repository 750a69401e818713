"""T-RoPE: timestamps rotate queries and keys by learned amounts, and keys the other way (arXiv 2609.30576)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import torch
from pydantic import Field, model_validator

from fints.encodings.bank import TimeBank, geometric_betas
from fints.encodings.bank_rotation import BankRotation, bank_phases
from fints.encodings.base import Encoding, Terms, TimeAxis
from fints.encodings.config import EncodingConfig
from fints.encodings.seeding import seeded_lines
from fints.errors import EncodingError

if TYPE_CHECKING:
    from torch import Tensor

    from fints.plan import FrequencyPlan, Line

SECONDS_PER_UNIT = {"calendar": 86_400.0, "session": 365.25 * 86_400 / 252}
"""Seconds in a unit of a plan's clock, on average: a plane starts at a plan's period, it is not held to it."""


SINCE_EPOCH, WINDOW = 1e9, 1e7
"""Seconds: what phases count since 1970, and about what a window of daily bars spans."""


class TRopeConfig(EncodingConfig):
    """T-RoPE, each of its parts a switch.

    Attributes
    ----------
    beta_min, beta_max : float
        Ends of the geometric bank of time scales β, in seconds.
    multiscale : bool
        False: all planes have the one β in the (geometric) middle.
    sigma : float
        α starts as N(0, sigma²), by layer and plane.
    shifted_query : bool
        Context queries carry the next bar's place, forecast queries their target's. False: context queries carry their
        own and forecast queries the last observed. The model reads it; the encoding takes the places it is given.
    non_stationary : bool
        Keys turn the other way, so scores depend on the sum of the phases and thereby on the date.
    learnable : bool
    shared : bool
        Queries and keys have the same α.
    epoch : float
        Unix seconds at which every phase is zero. With `non_stationary`, or without `shared`, another epoch gives
        other scores to the same weights.
    unit : float, optional
        Seconds; the learned departure of α is in radians per unit. See `TimeBank`. By default 1e9, as long as phases
        count; 1e7 where scores depend on the time between bars alone (`shared` with a standard key), so that a step of
        training moves a period by what a window of daily bars can tell.
    plan_share : float
        Share of the planes that start at a period of the frequency plan instead of a random one.
    seed_base : int, optional
        Layer ℓ, counted from 1, draws with seed ``seed_base + ℓ``. By default the seed that `build` is given.
    """

    kind: Literal["t_rope"] = "t_rope"
    beta_min: float = Field(default=1e2, gt=0, allow_inf_nan=False)
    beta_max: float = Field(default=1e8, gt=0, allow_inf_nan=False)
    multiscale: bool = True
    sigma: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    shifted_query: bool = True
    non_stationary: bool = True
    learnable: bool = True
    shared: bool = False
    epoch: float = Field(default=0.0, allow_inf_nan=False)
    unit: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    plan_share: float = Field(default=0.0, ge=0, le=1)
    seed_base: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.beta_min > self.beta_max:
            raise EncodingError(f"the bank runs from beta_min to beta_max; got {self.beta_min:g} and {self.beta_max:g}")
        return self

    def betas(self, planes: int) -> tuple[float, ...]:
        """Return the time scale of every plane, in seconds."""
        if self.multiscale:
            return geometric_betas(self.beta_min, self.beta_max, planes)
        return (math.sqrt(self.beta_min * self.beta_max),) * planes

    @property
    def of_distances(self) -> bool:
        """Whether scores depend on the time between bars alone."""
        return self.shared and not self.non_stationary

    @property
    def learned_per(self) -> float:
        """Seconds over which a learned departure of one turns a phase by a radian."""
        if self.unit is not None:
            return self.unit
        return WINDOW if self.of_distances else SINCE_EPOCH

    def seeded(self, planes: int) -> int:
        """Count the planes that start at a line of the plan."""
        return round(self.plan_share * planes)


class TRope(Encoding):
    """Timestamps rotate queries and keys.

    Plane d of a query turns by ``α^q_d t / β_d``; that of a key by ``−α^k_d t / β_d``, or ``+`` if the key is standard
    (eq. 6 and 8). Algorithm 3's gradients are what autograd makes of these rotations.

    Parameters
    ----------
    config : TRopeConfig
    head_dim : int
        Channels D of a head; even.
    n_layers : int
    plan : FrequencyPlan, optional
        Required if ``plan_share`` is not 0.
    seed : int
        Taken where the settings hold none.

    Attributes
    ----------
    shifted_query : bool
        Which places the model shall give to queries; see `TRopeConfig`.
    query, key : TimeBank
        Their coefficients; one object if shared.

    Raises
    ------
    EncodingError
        If the head width is odd, or a plan is missing.
    """

    def __init__(
        self, config: TRopeConfig, head_dim: int, n_layers: int, plan: FrequencyPlan | None = None, seed: int = 0
    ) -> None:
        super().__init__(n_layers)
        if head_dim % 2:
            raise EncodingError(f"a rotary encoding needs an even head width; got {head_dim} channels per head")
        self.config = config
        self.shifted_query = config.shifted_query
        betas = config.betas(head_dim // 2)
        starts = _starts(config, betas, n_layers, plan, seed)
        self.query, self.key = (
            TimeBank(alpha, betas, config.epoch, config.learned_per, learnable=config.learnable) for alpha in starts
        )
        if config.shared:
            self.key = self.query

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute the tables of every layer from the seconds clock."""
        sign = -1 if self.config.non_stationary else 1
        queries = bank_phases(self.query, q_at.clock("seconds"))
        alike = self.key is self.query and k_at is q_at and sign > 0
        keys = queries if alike else bank_phases(self.key, k_at.clock("seconds"), sign)
        return Terms(tuple(BankRotation(q, k) for q, k in zip(queries, keys, strict=True)))

    def periods(self) -> tuple[Tensor, Tensor]:
        """Return the effective periods ``2πβ / |α|`` of queries and keys in seconds, shape (L, P) each."""
        with torch.no_grad():
            betas = torch.tensor(self.query.betas, dtype=torch.float64)
            return tuple(2 * math.pi * betas / bank.alpha().abs() for bank in (self.query, self.key))  # type: ignore[return-value]


def _starts(
    config: TRopeConfig, betas: tuple[float, ...], n_layers: int, plan: FrequencyPlan | None, seed: int
) -> list[list[list[float]]]:
    """Draw α of queries and of keys by layer and plane, and set the planes that the plan seeds."""
    first = seed if config.seed_base is None else config.seed_base
    draws = [
        np.random.default_rng(first + layer).normal(0.0, config.sigma, (2, len(betas)))
        for layer in range(1, n_layers + 1)
    ]
    seeded = _seeded(config, betas, plan)
    starts: list[list[list[float]]] = []
    for side in range(2):
        rows = [[float(a) for a in draw[0 if config.shared else side]] for draw in draws]
        starts.append([[seeded.get(j, a) for j, a in enumerate(row)] for row in rows])
    return starts


def _seeded(config: TRopeConfig, betas: tuple[float, ...], plan: FrequencyPlan | None) -> dict[int, float]:
    """Give each line of the plan the free plane whose scale is nearest, with the α that makes its period."""
    n_seeded = config.seeded(len(betas))
    if n_seeded == 0:
        return {}
    if plan is None:
        raise EncodingError("a plan_share above 0 starts planes at the periods of a frequency plan; pass plan=")
    seeded: dict[int, float] = {}
    for line in seeded_lines(plan, n_seeded, config.kind, "plan_share"):
        rate = _rate(line)
        free = [j for j in range(len(betas)) if j not in seeded]
        nearest = min(free, key=lambda j: abs(math.log(betas[j] * rate)))
        seeded[nearest] = betas[nearest] * rate
    return seeded


def _rate(line: Line) -> float:
    """Return the angular frequency of a line of a plan in radians per second."""
    return 2 * math.pi * line.frequency / SECONDS_PER_UNIT[line.clock]
