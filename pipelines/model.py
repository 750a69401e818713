"""From settings to a plan and an unfitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.encodings import cycle_room
from fints.periods import detect_periods
from fints.plan import FrequencyPlan
from fints.transformer import CycleTransformer

if TYPE_CHECKING:
    import pandas as pd

    from fints.periods import Periods
    from fints.settings import NightlySettings, PeriodSettings


def find_plan(panel: pd.DataFrame, settings: NightlySettings) -> tuple[Periods | None, FrequencyPlan, tuple[str, ...]]:
    """Find the cycles of a panel and make a plan that fits the heads.

    Returns
    -------
    found : Periods or None
        None where detection is switched off.
    plan : FrequencyPlan
    notes : tuple of str
        Which cycles found no room.
    """
    capacity = plan_room(settings)
    found, plan = detected_plan(panel, settings.periods)
    return found, plan.strongest(capacity), left_out(plan, capacity)


def left_out(plan: FrequencyPlan, capacity: int) -> tuple[str, ...]:
    """Say which cycles of a plan find no room in so many planes; nothing if all do."""
    fitting = plan.strongest(capacity)
    dropped = [str(cycle) for cycle in plan if cycle not in fitting.cycles]
    if not dropped:
        return ()
    return (f"There are {capacity} planes for cycles and their harmonics; left out of the plan: {', '.join(dropped)}.",)


def plan_room(settings: NightlySettings) -> int:
    """Count the planes that the model of a night has for the lines of a plan."""
    return cycle_room(settings.encoding, settings.network.dim // settings.network.n_heads)


def detected_plan(panel: pd.DataFrame, periods: PeriodSettings) -> tuple[Periods | None, FrequencyPlan]:
    """Find the cycles of a panel and make a plan of them, or of the priors where detection is switched off."""
    if not periods.detect:
        return None, FrequencyPlan.from_periods(periods.priors)
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
