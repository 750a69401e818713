"""Reproducible studies: each asks one question and answers it in words, tables and charts."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.errors import UnknownNameError
from fints.studies.findings import Chapter, Chart, Findings, Forest, ForestRow, HeatMap, Line, LineChart, Table
from fints.studies.ledger import Ledger
from fints.studies.study import Bench, Budget, Study, StudyTracker, Untracked

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "STUDIES",
    "Bench",
    "Budget",
    "Chapter",
    "Chart",
    "Findings",
    "Forest",
    "ForestRow",
    "HeatMap",
    "Ledger",
    "Line",
    "LineChart",
    "Study",
    "StudyTracker",
    "Table",
    "Untracked",
    "get_study",
]

STUDIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "claims": ("fints.studies.claims", "Claims"),
        "cost": ("fints.studies.cost", "Cost"),
        "cross-asset": ("fints.studies.cross_asset", "cross_asset"),
        "exact-phases": ("fints.studies.exact_phases", "exact_phases"),
        "extrapolation": ("fints.studies.extrapolation", "Extrapolation"),
        "fold-or-symmetric": ("fints.studies.fold", "fold_or_symmetric"),
        "kernel-width": ("fints.studies.kernel_width", "kernel_width"),
        "learned-or-fixed": ("fints.studies.learned_or_fixed", "learned_or_fixed"),
        "looking-back": ("fints.studies.looking_back", "looking_back"),
        "order-or-time": ("fints.studies.order_or_time", "order_or_time"),
        "period-drift": ("fints.studies.period_drift", "period_drift"),
        "several-periods": ("fints.studies.several_periods", "several_periods"),
        "transposed-key": ("fints.studies.transposed_key", "transposed_key"),
        "unknown-period": ("fints.studies.unknown_period", "UnknownPeriod"),
        "valley": ("fints.studies.valley", "Valley"),
    }
)
"""Module and maker of every study, by its name; a study is imported when it is asked for."""


def get_study(name: str) -> Study:
    """Look a study up by name.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    if name not in STUDIES:
        raise UnknownNameError("study", name, STUDIES)
    module, attribute = STUDIES[name]
    study: Study = getattr(import_module(module), attribute)()
    return study
