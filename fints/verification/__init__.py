"""Verification: earlier forecasts held against what happened and against what was promised; rules that raise alerts."""

from fints.verification.alert import Alert, resolved_in_words
from fints.verification.basis import shifts
from fints.verification.happened import Happened
from fints.verification.interval import Mean, mean_of
from fints.verification.outcomes import STATES, outcomes, unpromised
from fints.verification.promise import ANCHORS, LEVELS, Promise, joined
from fints.verification.rules import Count, Limit, Rules, absent, broken, missed
from fints.verification.scorecard import WINDOWS, Scorecard
from fints.verification.verification import TargetVerification, Verification
from fints.verification.wording import counted_outcomes

__all__ = [
    "ANCHORS",
    "LEVELS",
    "STATES",
    "WINDOWS",
    "Alert",
    "Count",
    "Happened",
    "Limit",
    "Mean",
    "Promise",
    "Rules",
    "Scorecard",
    "TargetVerification",
    "Verification",
    "absent",
    "broken",
    "counted_outcomes",
    "joined",
    "mean_of",
    "missed",
    "outcomes",
    "resolved_in_words",
    "shifts",
    "unpromised",
]
