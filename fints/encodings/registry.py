"""Every kind of encoding, and the way from a key or plain values to its settings."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from fints.encodings.absolute import AbsoluteLearnedConfig, AbsoluteLinearConfig, AbsoluteSinusoidalConfig
from fints.encodings.alibi import AlibiConfig
from fints.encodings.clock import ClockConfig
from fints.encodings.combine import SplitConfig, SplitPart, SumConfig
from fints.encodings.config import CycleConfig, EncodingConfig, NoneConfig, RopeConfig
from fints.encodings.features import CalendarFeaturesConfig, FourierFeaturesConfig
from fints.encodings.rfr import RfrConfig
from fints.encodings.rote import RoteConfig
from fints.encodings.t_rope import TRopeConfig
from fints.encodings.time_bias import IntervalBiasConfig, TimeRabConfig
from fints.encodings.to_rope import ToRopeConfig
from fints.encodings.xpos import XposConfig
from fints.errors import EncodingError, UnknownNameError

AnyEncodingConfig = Annotated[
    NoneConfig
    | AbsoluteLinearConfig
    | AbsoluteSinusoidalConfig
    | AbsoluteLearnedConfig
    | CalendarFeaturesConfig
    | FourierFeaturesConfig
    | AlibiConfig
    | RopeConfig
    | XposConfig
    | CycleConfig
    | RfrConfig
    | ClockConfig
    | TRopeConfig
    | ToRopeConfig
    | RoteConfig
    | TimeRabConfig
    | IntervalBiasConfig
    | SplitConfig
    | SumConfig,
    Field(discriminator="kind"),
]

for _nested in (SplitPart, SplitConfig, SumConfig):
    _nested.model_rebuild(_types_namespace={"AnyEncodingConfig": AnyEncodingConfig, "SplitPart": SplitPart})

ENCODINGS: Mapping[str, type[EncodingConfig]] = MappingProxyType(
    {
        "none": NoneConfig,
        "absolute_linear": AbsoluteLinearConfig,
        "absolute_sinusoidal": AbsoluteSinusoidalConfig,
        "absolute_learned": AbsoluteLearnedConfig,
        "calendar_features": CalendarFeaturesConfig,
        "fourier_features": FourierFeaturesConfig,
        "alibi": AlibiConfig,
        "rope": RopeConfig,
        "xpos": XposConfig,
        "cycle": CycleConfig,
        "rfr": RfrConfig,
        "clock": ClockConfig,
        "t_rope": TRopeConfig,
        "to_rope": ToRopeConfig,
        "rote": RoteConfig,
        "time_rab": TimeRabConfig,
        "interval_bias": IntervalBiasConfig,
    }
)
"""Every kind of encoding that stands alone, by its key."""

COMBINATIONS: Mapping[str, type[EncodingConfig]] = MappingProxyType({"split": SplitConfig, "sum": SumConfig})
"""Encodings made of encodings; they need their parts."""

_ADAPTER: TypeAdapter[Any] = TypeAdapter(AnyEncodingConfig)


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
        If it is none of these, or an option is unknown or out of range.
    """
    if isinstance(encoding, EncodingConfig):
        return encoding
    if not isinstance(encoding, str | Mapping):
        raise EncodingError(f"an encoding is given by its key, a mapping or settings; got {encoding!r}")
    value = {"kind": encoding} if isinstance(encoding, str) else dict(encoding)
    kind = value.get("kind")
    known = {**ENCODINGS, **COMBINATIONS}
    if kind not in known:
        raise UnknownNameError("encoding", str(kind), known)
    try:
        config: EncodingConfig = _ADAPTER.validate_python(value)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors())
        raise EncodingError(f"the encoding {kind!r} has options that do not fit: {faults}") from error
    return config
