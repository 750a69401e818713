"""Forecasts of market series by a transformer whose attention knows the market's cycles.

The flow, in the order of the packages::

    bars → sessions → series → periods → plan → encodings → model → backtest → report / tracking

Names below are imported on first use, so that ``import fints`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from fints.backtest import cross_validation as cross_validation
    from fints.bars.sources.sample import sample_bars as sample_bars
    from fints.baselines import HAR as HAR
    from fints.baselines import Naive as Naive
    from fints.baselines import SeasonalNaive as SeasonalNaive
    from fints.combination import Combination as Combination
    from fints.combination import ConformalForecaster as ConformalForecaster
    from fints.periods import detect_periods as detect_periods
    from fints.plan import Cycle as Cycle
    from fints.plan import FrequencyPlan as FrequencyPlan
    from fints.series import make_panel as make_panel
    from fints.transformer import CycleTransformer as CycleTransformer

_HOMES = {
    "Combination": "fints.combination",
    "ConformalForecaster": "fints.combination",
    "CycleTransformer": "fints.transformer",
    "Cycle": "fints.plan",
    "FrequencyPlan": "fints.plan",
    "HAR": "fints.baselines",
    "Naive": "fints.baselines",
    "SeasonalNaive": "fints.baselines",
    "cross_validation": "fints.backtest",
    "detect_periods": "fints.periods",
    "make_panel": "fints.series",
    "sample_bars": "fints.bars.sources.sample",
}

__all__ = [
    "HAR",
    "Combination",
    "ConformalForecaster",
    "Cycle",
    "CycleTransformer",
    "FrequencyPlan",
    "Naive",
    "SeasonalNaive",
    "__version__",
    "cross_validation",
    "detect_periods",
    "make_panel",
    "sample_bars",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'fints' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return list(__all__)
