"""The answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.comparison.wording import sentence
from fints.studies.intervals import t_interval
from fints.studies.period_drift.drift import approach
from fints.studies.period_drift.drift_chapter import FAR, drifts, span
from fints.studies.sources import Cycles

if TYPE_CHECKING:
    from fints.studies.comparison import Results, Task
    from fints.studies.intervals import Interval
    from fints.studies.period_drift.drift import Drift

    Found = tuple[str, Task, str, Drift]

REPORTED = 50.0
"""How many times longer than nominal [TR]'s figure shows the shortest of its effective periods, at least."""

NOTICED = 0.1
"""Turns over what training saw below which a changed period cannot be noticed."""


def verdict(results: Results) -> list[str]:
    """Answer the question: how far periods went, whether towards the cycle, and what that did to the error."""
    found = list(drifts(results))
    if not found:
        return ["Nothing was learned, so nothing could drift."]
    said = [_answer(found), *(_moved(one) for one in found if one[1:3] == found[0][1:3]), _towards(found)]
    differing = [c for c in results.contrasts if c.differs]
    said += [sentence(c, results) for c in differing]
    return [sentence_ for sentence_ in said if sentence_]


def grown(periods: Drift) -> Interval:
    """Return the mean over seeds of the log-ratio of periods after to before, all planes together."""
    return t_interval(periods.logs.mean(axis=1))


def _answer(found: list[Found]) -> str:
    """Say whether any arm's periods grew as reported."""
    most = max(found, key=lambda one: grown(one[3]).mean)
    times = np.exp(grown(most[3]).mean)
    reached = [one for one in found if np.exp(grown(one[3]).mean) >= REPORTED]
    if reached:
        return (
            f"Yes: effective periods grow {times:.0f} times with {most[0]} on {most[1].title}, as the figure suggests."
        )
    return (
        f"No: nowhere do training steps make effective periods {REPORTED:.0f} to 200 times longer, as [TR]'s figure "
        f"suggests; the largest growth is {times:.2f} times in the geometric mean over planes ({most[0]} on "
        f"{most[1].title})."
    )


def _moved(one: Found) -> str:
    """Say how far the periods of one arm went."""
    arm, task, _, periods = one
    interval, far = grown(periods), float((np.abs(periods.logs) > np.log(FAR)).mean())
    turns = float((periods.turns(span(task)) > NOTICED).mean())
    ends = "" if interval.n == 1 else f" ({np.exp(interval.low):.3f} to {np.exp(interval.high):.3f})"
    return (
        f"{arm} on {task.title}: periods are {np.exp(interval.mean):.3f} times{ends} those before training; "
        f"{100 * far:.0f} % of planes moved by more than {100 * (FAR - 1):.0f} %, and {100 * turns:.0f} % by more than "
        f"{NOTICED:g} turns over the bars that training saw."
    )


def _towards(found: list[Found]) -> str:
    """Say whose planes came closer to a planted period."""
    said: dict[str, list[str]] = {"come closer": [], "move away": [], "show no direction": []}
    for arm, task, mode, periods in found:
        if mode != "bare" or not isinstance(task.source, Cycles):
            continue
        for planted in task.source.periods:
            moved = approach(periods, planted).moved
            moved = moved[np.isfinite(moved)]
            if len(moved):
                said[_direction(t_interval(moved))].append(f"{arm} (of {planted:g} days)")
    parts = [f"{what} with {', '.join(names)}" for what, names in said.items() if names]
    return f"Planes within a factor of two of a planted period {'; '.join(parts)}." if parts else ""


def _direction(moved: Interval) -> str:
    if not moved.excludes(0.0):
        return "show no direction"
    return "come closer" if moved.mean > 0 else "move away"
