"""ClockRoPE: Random Fourier Rotations whose kernel repeats with a market cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from fints.encodings.base import AxisClock  # noqa: TC001  (pydantic reads it)
from fints.encodings.config import EncodingConfig
from fints.encodings.kernels import CosineKernel, Kernel, PeriodicGaussianKernel
from fints.encodings.places import check_period
from fints.encodings.rfr import HeadPlanes, head_rotary, rest_planes
from fints.encodings.rope import Plane
from fints.errors import EncodingError

if TYPE_CHECKING:
    from fints.encodings.base import Encoding
    from fints.plan import FrequencyPlan

Law = Literal["cosine-sym", "cosine-fold", "gaussian-sym", "gaussian-fold"]


class ClockConfig(EncodingConfig):
    """ClockRoPE.

    Attributes
    ----------
    law : {"cosine-sym", "cosine-fold", "gaussian-sym", "gaussian-fold"}
        Kernel, and whether negative frequencies are folded onto positive ones, which tells before from after.
    sigma_over_period : float
        Width σ of the Gaussian; a cycle of the plan that carries its own width keeps it.
    truncation : int
        Largest harmonic s.
    period : float, optional
        T in units of `clock`, for all planes; by default the periods are those of the plan's cycles, on their clocks.
    clock : {"index", "session", "calendar", "seconds"}
        Of `period`.
    mixture : bool
        Of a plan's cycles each plane draws one, as often as it is strong; else all turn with the strongest. Means
        nothing beside `period`.
    share : float
        Share of the planes that draw their frequency; the others keep the fast end of the rope schedule.
    base : float
        Of that schedule, on the index clock.
    seed_base : int, optional
        Layer ℓ, counted from 1, draws with seed ``seed_base + ℓ``. By default the seed that `build` is given.
    learn : bool
        Train the drawn frequencies, from the drawn ones on.
    unit : float
        The learned departure is in radians per so many units of the clock: the length of a window.
    """

    kind: Literal["clock"] = "clock"
    law: Law = "gaussian-fold"
    sigma_over_period: float = Field(default=1 / 12, gt=0)
    truncation: int = Field(default=6, ge=1)
    period: float | None = Field(default=None, gt=0)
    clock: AxisClock = "session"
    mixture: bool = True
    share: float = Field(default=0.5, gt=0, le=1)
    base: float = Field(default=10_000.0, gt=1)
    seed_base: int | None = Field(default=None, ge=0)
    learn: bool = False
    unit: float = Field(default=100.0, gt=0, allow_inf_nan=False)


def clock_planes(
    config: ClockConfig, head_dim: int, n_heads: int, n_layers: int, plan: FrequencyPlan | None = None, seed: int = 0
) -> HeadPlanes:
    """Draw the planes of every head and layer; `HeadRotary` turns them.

    Parameters
    ----------
    config : ClockConfig
    head_dim : int
        Channels D of a head; even.
    n_heads, n_layers : int
    plan : FrequencyPlan, optional
        Required unless the settings give a period.
    seed : int
        Taken where the settings hold none.

    Returns
    -------
    tuple, lengths n_layers, n_heads, D / 2

    Raises
    ------
    EncodingError
        If the head width is odd, the share leaves no plane to the cycle, there is no period, it is below two bars
        of the index clock or two seconds, or σ is too wide for it.
    """
    rest = rest_planes(head_dim, config.share, config.base)
    parts = _parts(config, plan)
    weights = np.array([weight for _, _, weight in parts])
    first = seed if config.seed_base is None else config.seed_base
    shape = (n_heads, head_dim // 2 - len(rest))
    layers = []
    for layer in range(1, n_layers + 1):
        rng = np.random.default_rng(first + layer)
        drawn = [kernel.draw(rng, shape) for _, kernel, _ in parts]
        chosen = rng.choice(len(parts), size=shape, p=weights / weights.sum())
        layers.append(
            tuple(
                rest + tuple(Plane(parts[i][0], float(drawn[i][head, j])) for j, i in enumerate(row))
                for head, row in enumerate(chosen)
            )
        )
    return tuple(layers)


def clock(
    config: ClockConfig, head_dim: int, n_heads: int, n_layers: int, plan: FrequencyPlan | None = None, seed: int = 0
) -> Encoding:
    """Build ClockRoPE; the parameters and errors are those of `clock_planes`."""
    planes = clock_planes(config, head_dim, n_heads, n_layers, plan, seed)
    n_fixed = len(rest_planes(head_dim, config.share, config.base))
    return head_rotary(planes, learn=config.learn, n_fixed=n_fixed, unit=config.unit)


def _parts(config: ClockConfig, plan: FrequencyPlan | None) -> list[tuple[AxisClock, Kernel, float]]:
    """Return clock, kernel and weight of every cycle to draw from."""
    if config.period is not None:
        check_period(config.clock, config.period)
        return [(config.clock, _kernel(config, config.period, None), 1.0)]
    if plan is None:
        raise EncodingError("the encoding 'clock' takes its period from a frequency plan; pass plan= or set period")
    cycles = plan.cycles if config.mixture else plan.strongest(1).cycles
    return [(c.clock, _kernel(config, c.period, c.width), c.strength) for c in cycles]


def _kernel(config: ClockConfig, period: float, width: float | None) -> Kernel:
    fold = config.law.endswith("fold")
    if config.law.startswith("cosine"):
        return CosineKernel(period=period, fold=fold)
    sigma = config.sigma_over_period * period if width is None else width
    return PeriodicGaussianKernel(period=period, sigma=sigma, truncation=config.truncation, fold=fold)
