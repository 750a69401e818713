"""From settings to a plan and an unfitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.encodings import fit_plan
from fints.periods import detect_periods
from fints.plan import FrequencyPlan
from fints.transformer import CycleTransformer
from fints.transformer.design import DEFAULT_NAME

if TYPE_CHECKING:
    import pandas as pd

    from fints.periods import Periods
    from fints.settings import NightlySettings, PeriodSettings


TRANSFORMER = DEFAULT_NAME
"""What the model of a night is called in tables."""


def find_plan(panel: pd.DataFrame, settings: NightlySettings) -> tuple[Periods | None, FrequencyPlan, tuple[str, ...]]:
    """Find the cycles of a panel and make a plan that fits the heads.

    Returns
    -------
    found : Periods or None
        None where none is looked for.
    plan : FrequencyPlan
    notes : tuple of str
        What found no room.
    """
    found, plan = detected_plan(panel, settings.periods)
    kept = fitting_plan(plan, settings)
    return found, kept, left_out(plan, kept)


def left_out(plan: FrequencyPlan, kept: FrequencyPlan) -> tuple[str, ...]:
    """Say what of a plan found no room in the encoding; nothing if all did."""
    lost = plan.lost(kept)
    if not lost:
        return ()
    lines = len(kept.lines)
    planes = "is 1 plane" if lines == 1 else f"are {lines} planes"
    return (f"There {planes} for cycles and their harmonics; left out of the plan: {', '.join(lost)}.",)


def fitting_plan(plan: FrequencyPlan, settings: NightlySettings) -> FrequencyPlan:
    """Leave of a plan what the model of a night has planes for."""
    return fit_plan(plan, settings.encoding, settings.network.dim // settings.network.n_heads)


def detected_plan(panel: pd.DataFrame, periods: PeriodSettings) -> tuple[Periods | None, FrequencyPlan]:
    """Find the cycles of a panel and make a plan of them; where detection is off, of what the settings state."""
    if not periods.detect:
        return None, periods.stated_plan()
    found = detect_periods(panel, alpha=periods.alpha)
    return found, FrequencyPlan.from_detection(found, periods.priors, periods.alpha, periods.most)


def make_model(settings: NightlySettings, plan: FrequencyPlan) -> CycleTransformer:
    """Build the model of a night, unfitted.

    Raises
    ------
    EncodingError
        If the encoding and the network do not fit together.
    """
    model = CycleTransformer(settings.h, settings.input_size, settings.encoding, plan, random_seed=settings.random_seed)
    return model.with_settings(settings.network, settings.training)
