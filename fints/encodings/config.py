"""Settings of the encodings, the same in Python and YAML; `registry` knows all of them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer


class Kinded(BaseModel):
    """Settings that their kind tells apart: immutable; an unknown option and a number that is not finite are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    kind: str

    @model_serializer(mode="wrap")
    def _with_its_kind(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keep the kind, which tells settings apart and is every kind's default, when defaults are left out."""
        return {"kind": self.kind, **dump(self)}


class EncodingConfig(Kinded):
    """Base of the settings of an encoding."""


class NoneConfig(EncodingConfig):
    """No position."""

    kind: Literal["none"] = "none"


class RopeConfig(EncodingConfig):
    """Rotary position embedding (Su et al., 2021): plane j turns by ``base^(−2j/D)`` radians per unit of the clock.

    Attributes
    ----------
    base : float
        Ratio between the fastest and the slowest plane, nearly; short windows want a smaller one.
    clock : {"index", "session"}
    learn : bool
        Train the frequency of every plane of every head and layer, from the schedule on.
    unit : float
        The learned departure is in radians per so many units of the clock: the length of a window.
    """

    kind: Literal["rope"] = "rope"
    base: float = Field(default=10_000.0, gt=1)
    clock: Literal["index", "session"] = "index"
    learn: bool = False
    unit: float = Field(default=100.0, gt=0, allow_inf_nan=False)


class CycleConfig(EncodingConfig):
    """Rotary planes whose period is a market cycle: plane θ = 2πr/P for the lines of the frequency plan.

    Attributes
    ----------
    share : float
        Share of the planes given to the plan's cycles. They take the slow end of the rope schedule, whose planes
        barely turn within a window; the others keep it.
    base : float
        Of the planes that keep the rope schedule, on the index clock.
    learn : bool
        Train the period of every cycle, from the plan's on. Its harmonics, all heads and all layers share it.
    unit : float
        The learned departure is in radians per so many units of the cycle's clock: the length of a window.
    """

    kind: Literal["cycle"] = "cycle"
    share: float = Field(default=0.5, gt=0, le=1)
    base: float = Field(default=10_000.0, gt=1)
    learn: bool = False
    unit: float = Field(default=100.0, gt=0, allow_inf_nan=False)
