"""Typed settings of every encoding, the same in Python and YAML."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from fints.errors import EncodingError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping


class EncodingConfig(BaseModel):
    """Base of the settings: immutable, and an unknown option is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str


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
    """

    kind: Literal["rope"] = "rope"
    base: float = Field(default=10_000.0, gt=1)
    clock: Literal["index", "session"] = "index"


class CycleConfig(EncodingConfig):
    """Rotary planes whose period is a market cycle: plane θ = 2πr/P for the lines of the frequency plan.

    Attributes
    ----------
    share : float
        Share of the planes given to the plan's cycles. They take the slow end of the rope schedule, whose planes
        barely turn within a window; the others keep it.
    base : float
        Of the planes that keep the rope schedule, on the index clock.
    """

    kind: Literal["cycle"] = "cycle"
    share: float = Field(default=0.5, gt=0, le=1)
    base: float = Field(default=10_000.0, gt=1)


AnyEncodingConfig = Annotated[NoneConfig | RopeConfig | CycleConfig, Field(discriminator="kind")]

ENCODINGS: Mapping[str, type[EncodingConfig]] = MappingProxyType(
    {"none": NoneConfig, "rope": RopeConfig, "cycle": CycleConfig}
)
"""Every kind of encoding, by its key."""

_ADAPTER: TypeAdapter[NoneConfig | RopeConfig | CycleConfig] = TypeAdapter(AnyEncodingConfig)


def encoding_config(encoding: str | Mapping[str, object] | EncodingConfig) -> EncodingConfig:
    """Read an encoding from its key, from plain values, or as it is.

    Parameters
    ----------
    encoding : str, mapping or EncodingConfig
        ``"cycle"`` stands for its defaults; a mapping has the key under ``kind``.

    Raises
    ------
    UnknownNameError
        If the kind does not exist.
    EncodingError
        If an option is unknown or out of range.
    """
    if isinstance(encoding, EncodingConfig):
        return encoding
    value = {"kind": encoding} if isinstance(encoding, str) else dict(encoding)
    kind = value.get("kind")
    if kind not in ENCODINGS:
        raise UnknownNameError("encoding", str(kind), ENCODINGS)
    try:
        return _ADAPTER.validate_python(value)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors())
        raise EncodingError(f"the encoding {kind!r} has options that do not fit: {faults}") from error
