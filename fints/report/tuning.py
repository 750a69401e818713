"""A search for frequencies and encoding settings as its page and its Markdown need it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fints.plan import Cycle
    from fints.tuning import TrialSummary, TuningResult

SESSIONS_PER_DAY = 252 / 365.25
"""Of a usual year: what a prior in sessions is on the calendar, about."""

_CYCLE = re.compile(r"^delta\[(?P<cycle>.+)\]$")


@dataclass(frozen=True, slots=True)
class Mark:
    """A period that a figure points at.

    Parameters
    ----------
    kind : {"detected", "prior", "tuned", "configured"}
    period : float
        In units of the cycle's clock.
    """

    kind: str
    period: float


@dataclass(frozen=True, slots=True, eq=False)
class TuningReport:
    """A search.

    Parameters
    ----------
    dataset, target, as_of : str
    created_at : pandas.Timestamp
        UTC.
    result : TuningResult
    priors : tuple of float
        In sessions.
    how : str
        Folds, fits and origins in a sentence.
    facts : mapping of str to mapping of str to str
        Groups of things to know about the run.
    settings, best : str
        YAML: of the search, and what it ended in.
    command : str
        That uses it.
    left_out : tuple of (str, str, bool)
        Series, why, and whether it was left out altogether.
    warnings : tuple of str
    """

    dataset: str
    target: str
    as_of: str
    created_at: pd.Timestamp
    result: TuningResult
    priors: tuple[float, ...]
    how: str
    facts: Mapping[str, Mapping[str, str]]
    settings: str
    best: str
    command: str
    left_out: tuple[tuple[str, str, bool], ...] = ()
    warnings: tuple[str, ...] = field(default=())

    @property
    def accepted(self) -> bool:
        """Whether the gain was confirmed, so that the tuned candidate is the outcome."""
        return self.result.confirmation.accepted

    def in_brief(self) -> str:
        """Return the verdict in a few words."""
        gain = self.result.confirmation.gain
        if not self.accepted:
            return "No gain beyond chance: the untuned plan is kept"
        return f"Tuning saves {100 * gain.value:.1f} % of the error beyond the trained horizon"

    def headlines(self) -> tuple[str, ...]:
        """Return the verdict: sentences in the order of their weight."""
        test = self.result.test
        judged = (
            test.sentence
            if test is not None
            else "The test windows were not looked at, so nothing is known about how it does on them."
        )
        return (self.result.confirmation.sentence, judged, self.counted())

    def counted(self) -> str:
        """Count the trials by what became of them."""
        fates = [fate(one) for one in self.result.summaries]
        said = [f"{fates.count(word)} {word}" for word in FATES if word in fates]
        done = sum(one.seconds or 0.0 for one in self.result.summaries)
        plural = "trial" if len(fates) == 1 else "trials"
        return f"{len(fates)} {plural}: {', '.join(said)}; {in_minutes(done)} of computing."

    def cycles(self) -> tuple[str, ...]:
        """Return the names of the cycles whose periods were tried, in the order of the plan."""
        tried = {name for one in self.result.summaries for name in one.start}
        ordered = [name for name in self.anchors() if name in tried]
        return (*ordered, *sorted(tried - set(ordered)))

    def anchors(self) -> dict[str, Cycle]:
        """Return the cycles that the search began with, by name."""
        untuned = self.result.untuned
        return dict(zip(untuned.names, untuned.plan, strict=True))

    def marks(self, cycle: str) -> tuple[Mark, ...]:
        """Return where a cycle was before, where the usual priors lie near it, and where the best trial has it."""
        found = []
        anchor = self.anchors().get(cycle)
        if anchor is not None:
            near = [self._on(anchor.clock, prior) for prior in self.priors]
            close = [prior for prior in near if abs(math.log(prior / anchor.period)) <= GUARD]
            found.append(Mark(anchor.origin, anchor.period))
            nearest = min(close, key=lambda prior: abs(math.log(prior / anchor.period)), default=None)
            if nearest is not None and anchor.origin != "prior":
                found.append(Mark("prior", nearest))
        tuned = self.result.tuned.periods.get(cycle)
        return (*found, *([] if tuned is None else [Mark("tuned", tuned)]))

    def drawn_trials(self) -> tuple[TrialSummary, ...]:
        """Return the trials that were judged and have a value."""
        return tuple(one for one in self.result.summaries if one.value is not None and math.isfinite(one.value))

    @staticmethod
    def _on(clock: str, prior: float) -> float:
        return prior if clock == "session" else prior / SESSIONS_PER_DAY


FATES = ("complete", "cut short", "failed", "stopped and tried again", "not finished", "waiting")
"""What may become of a trial."""

GUARD = 0.35
"""Log-distance within which a prior is taken for one of a cycle."""


def fate(one: TrialSummary) -> str:
    """Say what became of a trial; one that failed without a cause lost its worker, and its point was tried again."""
    match one.state:
        case "pruned":
            return "cut short"
        case "failed":
            return "failed" if one.failure else "stopped and tried again"
        case "running":
            return "not finished"
        case _:
            return one.state


def in_minutes(seconds: float) -> str:
    """Write a span of time: ``40 s``, ``12 min``, ``3.5 h``.

    Examples
    --------
    >>> in_minutes(40), in_minutes(725), in_minutes(12600)
    ('40 s', '12 min', '3.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def called(parameter: str) -> str:
    """Return what a parameter of the search is called.

    Examples
    --------
    >>> called("delta[20 sessions]"), called("training.learning_rate")
    ('period, 20 sessions', 'training: learning rate')
    """
    period = _CYCLE.match(parameter)
    if period is not None:
        return f"period, {period['cycle']}"
    group, dot, name = parameter.rpartition(".")
    return f"{group}{': ' if dot else ''}{name}".replace("_", " ")
