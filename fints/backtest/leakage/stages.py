"""Stages of the way from bars to a forecast, and which one a piece of a fitted model belongs to."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.series import CALENDAR_PREFIX, PAST_PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

STAGES: tuple[str, ...] = (
    "target", "companion", "calendar", "plan", "scaler", "start", "weights", "conformal", "state", "forecast",
)  # fmt: skip
"""In the order of the flow: the first one that moved is where a leak comes in, those after it follow."""

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "plan": r"plan|cycles?|periods?|frequenc\w*",
        "scaler": r"\w*scal(e|er|es|ing)\w*|cent(er|re)s?|spreads?",
        "start": r"start|skip",
        "weights": r"networks?|members?|weights?|coef\w*|params?|parameters|links|predictors|booster|theta",
        "conformal": r"bands?|conformal|residual\w*|offsets|drifts|correction\w*|calibrat\w*",
    }
)
_NAMES = re.compile(r"[A-Za-z]\w*")


def stage_of_column(column: str) -> str:
    """Name the stage that a column of a panel comes from."""
    if column.startswith(PAST_PREFIX):
        return "companion"
    return "calendar" if column.startswith(CALENDAR_PREFIX) else "target"


def stage_of_state(path: str) -> str:
    """Name the stage that a piece of a fitted model belongs to, by the words of its path.

    Parameters
    ----------
    path : str
        ``design.plan.cycles[0].period``; the first word that names a stage decides. Names of series, which stand in
        square brackets, do not count.
    """
    for name in _NAMES.findall(re.sub(r"\[[^\]]*\]", "", path)):
        for stage, words in _WORDS.items():
            if re.fullmatch(words, name.strip("_")):
                return stage
    return "state"
