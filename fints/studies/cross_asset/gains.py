"""What attention across series gains with one encoding over what it gains with another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from fints.studies.comparison import Contrast, Place
from fints.studies.comparison.contrast import holm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.studies.comparison import Results
    from fints.studies.comparison.contrast import Band

    FloatArray = NDArray[np.float64]

ENCODINGS = ("none", "rope", "cycle")

CYCLE = "cycle"

BAND: Band = "within"
"""The horizon at which another series has something to tell."""


def alone(kind: str) -> str:
    """Name the arm of an encoding without attention across series."""
    return kind


def together(kind: str) -> str:
    """Name the arm of an encoding with attention across series."""
    return f"{kind} + others"


def interactions(results: Results) -> tuple[Contrast, ...]:
    """Compare what attention across series gains with the cycle and with other encodings.

    Returns
    -------
    tuple of Contrast
        ``first`` and ``second`` are encodings. The logarithms are those of the ratio of errors with and without the
        other series with the first, less those with the second: below 0 the gain is larger with the first. Corrected
        after Holm for all of them.
    """
    found = []
    for task in results.tasks:
        for mode in results.modes:
            logs = {
                kind: results.contrast(together(kind), alone(kind), Place(task, mode, BAND)).logs
                for kind in ENCODINGS
                if results.has(together(kind), task, mode) and results.has(alone(kind), task, mode)
            }
            found += [
                Contrast(
                    CYCLE, kind, Place(task, mode, BAND), logs[CYCLE] - logs[kind], results.margin, results.smallest
                )
                for kind in ENCODINGS
                if kind != CYCLE and {kind, CYCLE} <= set(logs)
            ]
    return holm(found)


def said(results: Results, arm: str, task: str, mode: str, part: Literal["residual", "cycle"]) -> FloatArray:
    """Return how much of residual or cycle forecasts say up to the trained horizon, shape (seeds,)."""
    h = results.tasks[task].shape.h
    return np.array([np.mean(unit[part][:h]) for unit in results.units[task, mode, arm]])


def split(results: Results, task: str, mode: str) -> list[str]:
    """Return the arms of a task and mode whose forecasts are split into cycle and residual."""
    return [
        arm
        for arm in results.arms
        if results.has(arm, task, mode) and all(unit.get("residual") for unit in results.units[task, mode, arm])
    ]
