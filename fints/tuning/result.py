"""What a tuning found: values that hold numbers and sentences, and print nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fints.backtest.skill import Skill
    from fints.transformer import CycleTransformer
    from fints.tuning.candidate import Candidate
    from fints.tuning.periods import Path
    from fints.tuning.scoring import Objective
    from fints.tuning.summary import TrialSummary


@dataclass(frozen=True, slots=True, eq=False)
class Confirmation:
    """The best trials and the untuned candidate on folds that the search never saw.

    Parameters
    ----------
    rows : pandas.DataFrame
        ``candidate`` (``untuned``, ``trial 12`` …), ``inner`` and ``confirm`` (scores), ``origins``; the first row is
        the untuned one, then the best by the inner folds first.
    gain : Skill
        Share of the untuned one's RMSE (or CRPS) beyond the trained horizon that the best saves, with its interval.
    accepted : bool
        Whether all of the interval lies above 0.
    sentence : str
    """

    rows: pd.DataFrame
    gain: Skill
    accepted: bool
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class TestVerdict:
    """The chosen and the untuned candidate on the test windows, looked at once.

    Parameters
    ----------
    rows : pandas.DataFrame
        ``candidate, RMSE, CRPS`` (means over all steps, in the unit of y), ``beyond`` (RMSE beyond the trained horizon
        in standard deviations of the context), ``windows``.
    rmse, crps : Skill
        Share of the untuned one's that the chosen one saves over all steps, with its interval.
    sentence : str
    """

    __test__ = False  # not a test, whatever pytest thinks of its name

    rows: pd.DataFrame
    rmse: Skill
    crps: Skill
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class TuningResult:
    """What a tuning found.

    Parameters
    ----------
    name, location : str
        Of the study; the location without a password.
    objective : Objective
    trials : pandas.DataFrame
        See `fints.tuning.summary.trials_frame`.
    summaries : tuple of TrialSummary
    best : TrialSummary
        Of all that did every fold.
    top : tuple of TrialSummary
        The best three of different candidates, as they are confirmed.
    untuned, tuned, chosen : Candidate
        As it stood; the best of the finalists on the inner folds; and the latter, or the former where there is no gain.
    confirmation : Confirmation
    test : TestVerdict, optional
        None where no test period was set apart.
    diagnostics : tuple of str
        A sentence for each cycle: whether it is worth learning.
    importance : mapping of str to float
        Share of the variance of the score that each parameter explains (fANOVA); empty with too few trials.
    model : CycleTransformer, optional
        The chosen one, fitted on all rows before the test period.
    """

    name: str
    location: str
    objective: Objective
    trials: pd.DataFrame
    summaries: tuple[TrialSummary, ...]
    best: TrialSummary
    top: tuple[TrialSummary, ...]
    untuned: Candidate
    tuned: Candidate
    chosen: Candidate
    confirmation: Confirmation
    test: TestVerdict | None
    diagnostics: tuple[str, ...]
    importance: Mapping[str, float]
    model: CycleTransformer | None

    @property
    def trajectories(self) -> dict[int, Mapping[str, Path]]:
        """Periods by step of training of the best three and the first trial, by number and cycle; empty if unmoved."""
        shown = {each.number: each for each in (*self.summaries[:1], *self.top, self.best)}
        learned = {number: each.trajectory for number, each in shown.items()}
        first = next((each for each in self.summaries if each.trajectory), None)
        return {**({} if first is None else {first.number: first.trajectory}), **learned}

    def settings(self) -> dict[str, object]:
        """Return the chosen candidate as plain values for YAML: ``encoding, network, training, periods.cycles``."""
        cycles = [
            {
                "period": cycle.period,
                "clock": cycle.clock,
                "harmonics": list(cycle.harmonics),
                **({} if cycle.width is None else {"width": cycle.width}),
                "strength": cycle.strength,
                "origin": cycle.origin,
            }
            for cycle in self.chosen.plan
        ]
        return {
            "encoding": self.chosen.encoding.model_dump(mode="json"),
            "network": dict(self.chosen.network),
            "training": dict(self.chosen.training),
            "periods": {"cycles": cycles},
        }
