"""Cycles, and the plan that gives them to the encodings."""

from fints.plan.cycle import CLOCKS, NYQUIST_PERIOD, ORIGINS, Clock, Cycle, Line, Origin, period_text
from fints.plan.diff import CycleChange, plan_diff
from fints.plan.frequency_plan import PRIOR_PERIODS, FrequencyPlan
from fints.plan.pooling import SAME_CYCLE

__all__ = [
    "CLOCKS",
    "NYQUIST_PERIOD",
    "ORIGINS",
    "PRIOR_PERIODS",
    "SAME_CYCLE",
    "Clock",
    "Cycle",
    "CycleChange",
    "FrequencyPlan",
    "Line",
    "Origin",
    "period_text",
    "plan_diff",
]
