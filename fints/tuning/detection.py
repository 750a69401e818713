"""What a detection says about how far the period of each cycle is to be searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.plan.pooling import close
from fints.tuning.candidate import cycle_names

if TYPE_CHECKING:
    from fints.periods import Periods
    from fints.plan import FrequencyPlan


def period_errors(found: Periods | pd.DataFrame, plan: FrequencyPlan, alpha: float = 0.05) -> dict[str, float]:
    """Return the standard errors of the detected periods of a plan.

    Parameters
    ----------
    found : Periods or pandas.DataFrame
        What `fints.detect_periods` found, or a frame of the schema ``periods``.
    plan : FrequencyPlan
        Made of it; cycles that were not detected have no standard error.
    alpha : float
        Largest q-value that counts as detected, as in `FrequencyPlan.from_detection`.

    Returns
    -------
    dict of str to float
        By name of the cycle, in units of its clock. Where several series show it, that of their weighted mean.
    """
    frame = found if isinstance(found, pd.DataFrame) else found.to_frame()
    lines = frame[(frame["q_value"] <= alpha) & frame["stable"] & (frame["period_se"] > 0)]
    errors = {}
    for name, cycle in zip(cycle_names(plan), plan, strict=True):
        if cycle.origin != "detected":
            continue
        near = [
            float(error)
            for period, clock, error in zip(lines["period"], lines["clock"], lines["period_se"], strict=True)
            if clock == cycle.clock and close(float(period), cycle.period)
        ]
        if near:
            errors[name] = float(1 / np.sqrt(np.sum(1 / np.square(near))))
    return errors


def spans_of(panel: pd.DataFrame) -> dict[str, float]:
    """Return how many units of each clock the longest series of a panel spans.

    Parameters
    ----------
    panel : pandas.DataFrame
        Schema ``panel``.
    """
    from fints.series.windows import clock_places

    longest = panel.groupby("unique_id")["ds"].size().idxmax()
    at = clock_places(panel[panel["unique_id"] == longest])
    return {clock: float(np.ptp(at[clock])) for clock in ("session", "calendar")}
