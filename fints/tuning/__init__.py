"""Tuning: periods and encoding settings, found by the error of extrapolation.

The names are imported on first use: settings read `SpaceConfig` without loading what searches.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from fints.tuning.config import BankSpace, ClockSpace, Range, SpaceConfig, TRopeSpace

if TYPE_CHECKING:
    from fints.tuning.campaign import finish as finish
    from fints.tuning.campaign import search as search
    from fints.tuning.campaign import tune as tune
    from fints.tuning.candidate import Candidate as Candidate
    from fints.tuning.candidate import cycle_names as cycle_names
    from fints.tuning.detection import period_errors as period_errors
    from fints.tuning.detection import spans_of as spans_of
    from fints.tuning.folds import Stages as Stages
    from fints.tuning.folds import TuningFolds as TuningFolds
    from fints.tuning.identity import Identity as Identity
    from fints.tuning.result import Confirmation as Confirmation
    from fints.tuning.result import TestVerdict as TestVerdict
    from fints.tuning.result import TuningResult as TuningResult
    from fints.tuning.scoring import Objective as Objective
    from fints.tuning.space import SearchSpace as SearchSpace
    from fints.tuning.storage import StudyStore as StudyStore
    from fints.tuning.study import summaries as summaries
    from fints.tuning.summary import TrialSummary as TrialSummary
    from fints.tuning.tuner import Tuner as Tuner
    from fints.tuning.worker import Budget as Budget

_HOMES = {
    "Budget": "fints.tuning.worker",
    "Candidate": "fints.tuning.candidate",
    "Confirmation": "fints.tuning.result",
    "Identity": "fints.tuning.identity",
    "Objective": "fints.tuning.scoring",
    "SearchSpace": "fints.tuning.space",
    "Stages": "fints.tuning.folds",
    "StudyStore": "fints.tuning.storage",
    "TestVerdict": "fints.tuning.result",
    "TrialSummary": "fints.tuning.summary",
    "Tuner": "fints.tuning.tuner",
    "TuningFolds": "fints.tuning.folds",
    "TuningResult": "fints.tuning.result",
    "cycle_names": "fints.tuning.candidate",
    "finish": "fints.tuning.campaign",
    "period_errors": "fints.tuning.detection",
    "search": "fints.tuning.campaign",
    "spans_of": "fints.tuning.detection",
    "summaries": "fints.tuning.study",
    "tune": "fints.tuning.campaign",
}

__all__ = [
    "BankSpace",
    "Budget",
    "Candidate",
    "ClockSpace",
    "Confirmation",
    "Identity",
    "Objective",
    "Range",
    "SearchSpace",
    "SpaceConfig",
    "Stages",
    "StudyStore",
    "TRopeSpace",
    "TestVerdict",
    "TrialSummary",
    "Tuner",
    "TuningFolds",
    "TuningResult",
    "cycle_names",
    "finish",
    "period_errors",
    "search",
    "spans_of",
    "summaries",
    "tune",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'fints.tuning' has no attribute {name!r}")
    return getattr(import_module(home), name)
