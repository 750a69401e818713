"""Every baseline by name, and the way from a name or plain values to its settings."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from fints.baselines.arima import ARIMAConfig
from fints.baselines.boosting import GradientBoostingConfig
from fints.baselines.config import BaselineConfig
from fints.baselines.drift import DriftConfig
from fints.baselines.ets import ETSConfig
from fints.baselines.ewma import EWMAConfig
from fints.baselines.garch import GARCHConfig
from fints.baselines.har import HARConfig
from fints.baselines.naive import NaiveConfig, SeasonalNaiveConfig
from fints.baselines.time_of_day import TimeOfDayConfig
from fints.errors import ConfigError, UnknownNameError
from fints.series import LONG_HAR_SPANS

if TYPE_CHECKING:
    from collections.abc import Mapping

AnyBaselineConfig = Annotated[
    NaiveConfig
    | SeasonalNaiveConfig
    | DriftConfig
    | EWMAConfig
    | TimeOfDayConfig
    | HARConfig
    | ETSConfig
    | ARIMAConfig
    | GARCHConfig
    | GradientBoostingConfig,
    Field(discriminator="kind"),
]
"""Settings of any baseline, told apart by ``kind``."""

BASELINES: Mapping[str, BaselineConfig] = MappingProxyType(
    {
        "naive": NaiveConfig(),
        "seasonal_naive": SeasonalNaiveConfig(),
        "seasonal_naive_5": SeasonalNaiveConfig(season=5),
        "seasonal_naive_bar": SeasonalNaiveConfig(season="bar"),
        "drift": DriftConfig(),
        "ewma": EWMAConfig(),
        "time_of_day": TimeOfDayConfig(),
        "har": HARConfig(),
        "har_calendar": HARConfig(calendar=True),
        "har_long_calendar": HARConfig(calendar=True, spans=LONG_HAR_SPANS),
        "ets": ETSConfig(),
        "arima": ARIMAConfig(),
        "garch": GARCHConfig(),
        "gjr_garch": GARCHConfig(variance="gjr"),
        "egarch": GARCHConfig(variance="egarch"),
        "gradient_boosting": GradientBoostingConfig(),
    }
)
"""Every baseline as it is usually taken, by name; a mapping with ``kind`` and options makes any other."""

_ADAPTER: TypeAdapter[Any] = TypeAdapter(AnyBaselineConfig)
_KINDS = tuple(dict.fromkeys(config.kind for config in BASELINES.values()))


def baseline_config(baseline: str | Mapping[str, object] | BaselineConfig) -> BaselineConfig:
    """Read a baseline from its name, from plain values, or as it is.

    Parameters
    ----------
    baseline : str, mapping or BaselineConfig
        A key of `BASELINES`; or a mapping with a ``kind`` and options, ``{kind: har, calendar: true}``.

    Raises
    ------
    UnknownNameError
        If the name or the kind does not exist.
    ConfigError
        If an option is unknown or out of range.
    """
    if isinstance(baseline, BaselineConfig):
        return baseline
    if isinstance(baseline, str):
        if baseline not in BASELINES:
            raise UnknownNameError("baseline", baseline, BASELINES)
        return BASELINES[baseline]
    kind = baseline.get("kind")
    if kind not in _KINDS:
        raise UnknownNameError("kind of baseline", str(kind), _KINDS)
    try:
        config: BaselineConfig = _ADAPTER.validate_python(dict(baseline))
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"the baseline {kind!r} has options that do not fit: {faults}") from error
    return config
