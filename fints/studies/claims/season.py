"""Corollary 1 of T-RoPE: a plane may repeat with the target's date."""

from __future__ import annotations

import numpy as np
import torch

from fints.encodings.t_rope import TRope, TRopeConfig
from fints.plan import Cycle, FrequencyPlan
from fints.studies.claims.exact import CLOSE, DAY
from fints.studies.claims.shifts import HEAD, axis, scores
from fints.studies.findings import Line, LineChart

YEAR = 365
"""The period, in days."""


def yearly_plan(*harmonics: int) -> FrequencyPlan:
    """Return the plan of a cycle of 365 days with some harmonics."""
    return FrequencyPlan.from_periods([Cycle(YEAR, "calendar", harmonics=harmonics)])


def yearly() -> TRope:
    """Build T-RoPE whose planes all start at 365 days or a harmonic of it."""
    return TRope(TRopeConfig(plan_share=1.0), HEAD, 1, yearly_plan(1, 2, 3, 4))


def target_change(days: float) -> float:
    """Return the largest change of a score if the targets alone move by so many days (corollary 1)."""
    encoding = yearly()
    return float(np.abs(scores(encoding, days * DAY) - scores(encoding)).max())


def season_chart() -> LineChart:
    """Draw the score of one plane by the target's date, the key's being fixed."""
    days = np.arange(0.0, 3 * YEAR, 5)
    lines = []
    for r in (1, 2):
        encoding = TRope(TRopeConfig(plan_share=1.0), 2, 1, yearly_plan(r))
        unit = torch.zeros(1, 1, len(days), 2, dtype=torch.float64)
        unit[..., 0] = 1.0
        at, k_at = axis(CLOSE + DAY * days), axis(np.full(len(days), float(CLOSE)))
        turned = encoding.prepare(at, k_at).layer(0).rotate(unit, unit)
        lines.append(Line(f"r = {r}", days, (turned[0] * turned[1]).sum(-1)[0, 0].detach().numpy()))
    title = "Score by the target's date, the key's fixed: period 365 days over r"
    return LineChart("target_date", title, "target's date, days after the key's", "score", lines)
