"""Simple models that every other model has to beat."""

from fints.baselines.arima import ARIMA
from fints.baselines.boosting import GradientBoosting, GradientBoostingConfig
from fints.baselines.drift import Drift
from fints.baselines.ets import ETS
from fints.baselines.ewma import EWMA
from fints.baselines.garch import GARCH
from fints.baselines.har import HAR
from fints.baselines.naive import Naive, SeasonalNaive
from fints.baselines.registry import BASELINES, baseline_config
from fints.baselines.time_of_day import TimeOfDay

__all__ = [
    "ARIMA",
    "BASELINES",
    "ETS",
    "EWMA",
    "GARCH",
    "HAR",
    "Drift",
    "GradientBoosting",
    "GradientBoostingConfig",
    "Naive",
    "SeasonalNaive",
    "TimeOfDay",
    "baseline_config",
]
