"""Whether differences in accuracy are more than chance: of two models, of each against one, of all at once.

In every test the sample is the windows: losses are averaged within a window, whose series and steps share its news.
"""

from fints.backtest.significance.bootstrap import (
    ConfidenceSet,
    SuperiorAbility,
    confidence_set,
    superior_ability,
)
from fints.backtest.significance.diebold_mariano import (
    LEAST_WINDOWS,
    DieboldMariano,
    diebold_mariano,
    overlap_lag,
)
from fints.backtest.significance.family import Family, family, holm
from fints.backtest.significance.letters import compact_letters

__all__ = [
    "LEAST_WINDOWS",
    "ConfidenceSet",
    "DieboldMariano",
    "Family",
    "SuperiorAbility",
    "compact_letters",
    "confidence_set",
    "diebold_mariano",
    "family",
    "holm",
    "overlap_lag",
    "superior_ability",
]
