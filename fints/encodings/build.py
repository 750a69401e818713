"""From settings to an encoding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fints.encodings import clock as clock_rope
from fints.encodings.absolute import (
    AbsoluteLearned,
    AbsoluteLearnedConfig,
    AbsoluteLinear,
    AbsoluteLinearConfig,
    AbsoluteSinusoidal,
    AbsoluteSinusoidalConfig,
)
from fints.encodings.alibi import AlibiConfig, AlibiEncoding
from fints.encodings.base import Encoding, NoEncoding
from fints.encodings.clock import ClockConfig
from fints.encodings.combine import FeatureSplit, HeadSplit, SplitConfig, SumConfig, SumEncoding, allot
from fints.encodings.config import CycleConfig, EncodingConfig, NoneConfig, RopeConfig
from fints.encodings.cycle import cycle
from fints.encodings.features import (
    CalendarFeatures,
    CalendarFeaturesConfig,
    FourierFeatures,
    FourierFeaturesConfig,
)
from fints.encodings.fit import Built
from fints.encodings.registry import encoding_config
from fints.encodings.rfr import LearnedHeadRotary, RfrConfig, rfr
from fints.encodings.rope import RotaryEncoding, rope_planes
from fints.encodings.rote import Rote, RoteConfig
from fints.encodings.t_rope import TRope, TRopeConfig
from fints.encodings.time_bias import IntervalBiasConfig, IntervalBiasEncoding, TimeRabConfig, TimeRabEncoding
from fints.encodings.to_rope import ToRope, ToRopeConfig
from fints.encodings.xpos import XposConfig, XposEncoding
from fints.errors import EncodingError
from fints.plan import FrequencyPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Place:
    """Where an encoding is to work.

    Parameters
    ----------
    dim, n_heads, n_layers : int
        Of the transformer, or of the part of it that the encoding is given.
    plan : FrequencyPlan, optional
    seed : int
    """

    dim: int
    n_heads: int
    n_layers: int
    plan: FrequencyPlan | None
    seed: int

    @property
    def head_dim(self) -> int:
        """Channels of a head."""
        return self.dim // self.n_heads

    def periods(self, kind: str) -> FrequencyPlan:
        """Return the plan, or say which encoding misses it."""
        if self.plan is None:
            raise EncodingError(f"the encoding {kind!r} takes its periods from a frequency plan; pass plan=")
        return self.plan

    def part(self, number: int, dim: int, n_heads: int) -> Place:
        """Return the place of a part of a combination, with a seed of its own."""
        return replace(self, dim=dim, n_heads=n_heads, seed=self.seed + 1_000_003 * number)


def build(
    encoding: str | Mapping[str, object] | EncodingConfig,
    *,
    dim: int,
    n_heads: int,
    n_layers: int,
    plan: FrequencyPlan | None = None,
    seed: int = 0,
) -> Encoding:
    """Build an encoding for a transformer.

    Parameters
    ----------
    encoding : str, mapping or EncodingConfig
        A key of `ENCODINGS`, or settings.
    dim : int
        Width of the model; ``dim // n_heads`` channels per head.
    n_heads, n_layers : int
    plan : FrequencyPlan, optional
        Required by the encodings that take their periods from it.
    seed : int
        Of the encodings that draw frequencies.

    Raises
    ------
    UnknownNameError
        If the kind does not exist.
    EncodingError
        If an option or a size does not fit, the heads do not divide the width, or a plan is missing or none.

    Warns
    -----
    UserWarning
        If the plan has more lines than the encoding has planes for them; it names those that are left out.
    """
    if plan is not None and not isinstance(plan, FrequencyPlan):
        raise EncodingError(
            f"plan= takes a FrequencyPlan; got {plan!r}; make one with FrequencyPlan.from_periods([5, 20])"
        )
    if min(dim, n_heads, n_layers) < 1:
        raise EncodingError(f"a transformer has a width, heads and layers; got {dim}, {n_heads} and {n_layers} of them")
    if dim % n_heads:
        raise EncodingError(f"{n_heads} heads do not divide a model of width {dim}; choose a multiple")
    return _built(encoding_config(encoding), Place(dim, n_heads, n_layers, plan, seed))


def _built(config: EncodingConfig, at: Place) -> Encoding:
    encoding = BUILDERS[type(config)](config, at)
    chosen = config.model_dump(exclude_defaults=True, exclude={"kind", "parts"})
    options = ", ".join(f"{name}={value!r}" for name, value in chosen.items() if name not in ("kind", "parts"))
    encoding.built = Built(config.kind, at.dim, at.n_heads, options)
    return encoding


def _rope(config: RopeConfig, at: Place) -> Encoding:
    planes = rope_planes(at.head_dim, config.base, config.clock)
    if config.learn:
        return LearnedHeadRotary(((planes,) * at.n_heads,) * at.n_layers, 0, config.unit)
    return RotaryEncoding(planes, at.n_layers)


def _split(config: SplitConfig, at: Place) -> Encoding:
    shares = [part.share for part in config.parts]
    if config.by == "head":
        counts = allot(shares, at.n_heads, "heads")
        places = [at.part(i, n * at.head_dim, n) for i, n in enumerate(counts)]
        parts = [_built(p.encoding, place) for p, place in zip(config.parts, places, strict=True)]
        return HeadSplit(parts, counts, at.n_layers)
    if at.head_dim % 2:
        raise EncodingError(f"planes are pairs of channels; a head of {at.head_dim} channels cannot be split")
    widths = [2 * n for n in allot(shares, at.head_dim // 2, "planes")]
    places = [at.part(i, n * at.n_heads, at.n_heads) for i, n in enumerate(widths)]
    parts = [_built(p.encoding, place) for p, place in zip(config.parts, places, strict=True)]
    return FeatureSplit(parts, widths, at.n_layers)


def _sum(config: SumConfig, at: Place) -> Encoding:
    parts = [_built(part, at.part(i, at.dim, at.n_heads)) for i, part in enumerate(config.parts)]
    return SumEncoding(parts, at.n_layers)


BUILDERS: Mapping[type[EncodingConfig], Callable[[Any, Place], Encoding]] = MappingProxyType(
    {
        NoneConfig: lambda _, at: NoEncoding(at.n_layers),
        AbsoluteLinearConfig: lambda c, at: AbsoluteLinear(c, at.dim, at.n_layers),
        AbsoluteSinusoidalConfig: lambda c, at: AbsoluteSinusoidal(c, at.dim, at.n_layers),
        AbsoluteLearnedConfig: lambda c, at: AbsoluteLearned(c, at.dim, at.n_layers),
        CalendarFeaturesConfig: lambda c, at: CalendarFeatures(c, at.dim, at.n_layers),
        FourierFeaturesConfig: lambda c, at: FourierFeatures(at.periods(c.kind), at.dim, at.n_layers),
        AlibiConfig: lambda c, at: AlibiEncoding(c, at.n_heads, at.n_layers),
        RopeConfig: _rope,
        XposConfig: lambda c, at: XposEncoding(c, at.head_dim, at.n_layers),
        CycleConfig: lambda c, at: cycle(c, at.head_dim, at.n_layers, at.periods(c.kind)),
        RfrConfig: lambda c, at: rfr(c, at.head_dim, at.n_heads, at.n_layers, at.seed),
        ClockConfig: lambda c, at: clock_rope.clock(c, at.head_dim, at.n_heads, at.n_layers, at.plan, at.seed),
        TRopeConfig: lambda c, at: TRope(c, at.head_dim, at.n_layers, at.plan, at.seed),
        ToRopeConfig: lambda c, at: ToRope(c, at.head_dim, at.n_heads, at.n_layers, at.seed),
        RoteConfig: lambda c, at: Rote(c, at.head_dim, at.n_heads, at.n_layers),
        TimeRabConfig: lambda c, at: TimeRabEncoding(c, at.n_heads, at.n_layers),
        IntervalBiasConfig: lambda c, at: IntervalBiasEncoding(c, at.n_heads, at.n_layers),
        SplitConfig: _split,
        SumConfig: _sum,
    }
)
"""How each kind is built."""
