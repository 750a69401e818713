"""Whether a frequency is worth learning: how far training moved it, against how well it is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fints.tuning.candidate import Candidate
    from fints.tuning.summary import TrialSummary


def diagnose(
    summaries: Sequence[TrialSummary],
    tuned: Candidate,
    untuned: Candidate,
    period_se: Mapping[str, float],
    *,
    accepted: bool,
) -> tuple[str, ...]:
    """Say of every cycle how far it moved, and whether that is more than its standard error.

    Parameters
    ----------
    summaries : sequence of TrialSummary
    tuned, untuned : Candidate
    period_se : mapping of str to float
        Standard errors of detected periods by name of the cycle, in units of its clock. Where none is known, the spread
        of the ends over the folds of the best trial that learned takes its place.
    accepted : bool
        Whether a gain was confirmed; without one nothing is worth tuning, however far it moved.

    Returns
    -------
    tuple of str
        A sentence for each cycle that both hold.
    """
    learned = [each for each in summaries if each.finished and each.trajectory]
    best = min(learned, key=lambda each: (each.value, each.number), default=None)
    before, after = untuned.periods, tuned.periods
    said = []
    for name in before:
        if name in after:
            spread = best.spread.get(name, math.nan) if best is not None and name in best.trajectory else math.nan
            known = period_se.get(name, math.nan)
            said.append(_said(name, before[name], after[name], (known, spread), accepted=accepted))
    return tuple(said)


def _said(name: str, before: float, after: float, errors: tuple[float, float], *, accepted: bool) -> str:
    moved, (error, spread) = math.log(after / before), errors
    known, what = error / before, "its standard error"
    if not math.isfinite(known):
        known, what = spread, "the spread of its end over the folds"
    if abs(moved) < np.finfo(np.float32).eps:
        return f"{name}: it did not move; keep it fixed."
    change = f"{name}: tuned to {after:.6g}, moved by {_percent(moved)}"
    if not math.isfinite(known):
        return f"{change}; how well it is known is not known, as no trial learned it."
    if abs(moved) < known:
        return f"{change}, less than {what} ({_percent(known)}): keep it fixed."
    times = f"{abs(moved) / known:.1f} times" if known > 0 else "more than"
    end = "worth tuning" if accepted else "no gain by it was confirmed, keep it fixed"
    return f"{change}, {times} {what} ({_percent(known)}): {end}."


def _percent(share: float) -> str:
    return f"{100 * abs(share):.2g} %"
