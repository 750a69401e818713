"""Series: targets from bars, the panel, scaling fitted on the past only, and lag features."""

from fints.series.covariates import CALENDAR_PREFIX, PAST_PREFIX, add_features
from fints.series.future import future_frame
from fints.series.grid import Located, located, panel_bars
from fints.series.lags import HAR_SPANS, LONG_HAR_SPANS, har_features, lag_features
from fints.series.leading import LONGEST_CLOSURE, longest_going_on
from fints.series.panel import make_panel, panel_problems
from fints.series.problems import SeriesProblem, usable
from fints.series.reach import within_reach
from fints.series.recent import recent
from fints.series.scaling import (
    SCALERS,
    Scaling,
    expanding_scaling,
    get_scaler,
    identity_scaling,
    robust_scaling,
    standard_scaling,
)
from fints.series.schema import validate_panel
from fints.series.targets import TARGETS, Target, get_target

__all__ = [
    "CALENDAR_PREFIX",
    "HAR_SPANS",
    "LONGEST_CLOSURE",
    "LONG_HAR_SPANS",
    "PAST_PREFIX",
    "SCALERS",
    "TARGETS",
    "Located",
    "Scaling",
    "SeriesProblem",
    "Target",
    "add_features",
    "expanding_scaling",
    "future_frame",
    "get_scaler",
    "get_target",
    "har_features",
    "identity_scaling",
    "lag_features",
    "located",
    "longest_going_on",
    "make_panel",
    "panel_bars",
    "panel_problems",
    "recent",
    "robust_scaling",
    "standard_scaling",
    "usable",
    "validate_panel",
    "within_reach",
]
