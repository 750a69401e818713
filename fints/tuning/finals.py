"""After the search: the best three against the untuned candidate, on folds that nothing was chosen by."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.skill import LEVEL, Skill
from fints.errors import TuningError
from fints.tuning.evaluation import run_fold
from fints.tuning.result import Confirmation
from fints.tuning.saving import saved
from fints.tuning.summary import best_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from fints.backtest import Folds
    from fints.transformer import CycleTransformer
    from fints.tuning.candidate import Candidate
    from fints.tuning.folds import TuningFolds
    from fints.tuning.scoring import Scored
    from fints.tuning.summary import TrialSummary
    from fints.tuning.tuner import Tuner

LOG = logging.getLogger(__name__)

FINALISTS = 3

UNTUNED = "untuned"
"""Name of the candidate that nothing was changed of."""

SAME_PERIODS = 1e-4
"""Finalists whose periods all differ by less, in logarithm, and that share everything else are one."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """A candidate on the inner and on the confirming folds.

    Parameters
    ----------
    inner, confirm : float
        Mean over folds of the score that the search minimises.
    origins : pandas.DataFrame
        By confirming cutoff: ``squared`` and ``crps`` beyond the trained horizon.
    """

    inner: float
    confirm: float
    origins: pd.DataFrame


def finalists(summaries: Sequence[TrialSummary]) -> tuple[TrialSummary, ...]:
    """Return the best trials of different candidates, three at most.

    Parameters
    ----------
    summaries : sequence of TrialSummary
    """
    found: list[TrialSummary] = []
    for each in best_first(summaries):
        if each.candidate is not None and not any(_alike(each, other) for other in found):
            found.append(each)
        if len(found) == FINALISTS:
            break
    return tuple(found)


def confirm(
    tuner: Tuner, found: Sequence[TrialSummary], workers: int = 1, told: Callable[[], None] | None = None
) -> tuple[Confirmation, tuple[TrialSummary, ...]]:
    """Score the finalists on all inner folds as they came out of the search, choose, and confirm on untouched folds.

    A score that the search has found already, of a trial that was what its finalist is, is not computed again.

    Parameters
    ----------
    tuner : Tuner
    found : sequence of TrialSummary
        All trials.
    workers : int
        Processes at a time.
    told : callable, optional
        Called after each fit.

    Returns
    -------
    Confirmation
    tuple of TrialSummary
        The finalists, the best by the inner folds first.

    Raises
    ------
    TuningError
        If no finalist's model finishes, or the untuned one's does not.
    """
    untuned, top = tuner.space.untuned, finalists(found)
    known = {} if (inner := _found(untuned, found, tuner)) is None else {UNTUNED: inner}
    contestants = {UNTUNED: untuned}
    for each in top:
        assert each.candidate is not None
        if not same(each.candidate, untuned):
            contestants[_name(each)] = each.candidate
            if (inner := _found(each.candidate, [each], tuner)) is not None:
                known[_name(each)] = inner
    scores = _scores(tuner, contestants, known, workers, told or (lambda: None))
    columns = ["candidate", "inner", "confirm", "origins"]
    table = pd.DataFrame([(n, s.inner, s.confirm, len(s.origins)) for n, s in scores.items()], columns=columns)
    table = pd.concat([table[:1], table[1:].sort_values("inner", kind="stable")]).reset_index(drop=True)
    ranked = sorted((each for each in top if _of(each, untuned) in scores), key=lambda e: scores[_of(e, untuned)].inner)
    if not ranked:
        raise TuningError("no finalist's model finished; see the log for why")
    best = _of(ranked[0], untuned)
    if best == UNTUNED or scores[best].inner >= scores[UNTUNED].inner:
        why = "no trial did better than the untuned plan"
        gain = Skill(0.0, np.nan, np.nan, LEVEL, len(scores[UNTUNED].origins), why)
        said = "Gain: none. No trial did better on the inner folds than the untuned plan, which is kept."
        return Confirmation(table, gain, accepted=False, sentence=said), tuple(ranked)
    gain = _saved(tuner, scores[best].origins, scores[UNTUNED].origins)
    return Confirmation(table, gain, gain.low > 0, _sentence(tuner, best, gain)), tuple(ranked)


def _scores(
    tuner: Tuner,
    contestants: Mapping[str, Candidate],
    known: Mapping[str, float],
    workers: int,
    told: Callable[[], None],
) -> dict[str, Scores]:
    """Take contestants through all folds; those whose model does not finish are left out, the untuned one excepted."""
    stages = tuner.stages
    parts = {"inner": (stages.search, stages.inner), "confirm": (stages.known, stages.confirm)}
    blocks = {"inner": tuner.folds.inner_blocks(), "confirm": tuner.folds.confirm_blocks()}
    tasks = [
        (name, part, windows)
        for name in contestants
        for part in parts
        if part == "confirm" or name not in known
        for windows in blocks[part]
    ]
    done: dict[tuple[str, str], list[Scored]] = {}
    failed: dict[str, str] = {}
    calls = [_Fit(contestants[name], tuner.base, *parts[part], windows) for name, part, windows in tasks]
    for (name, part, _), scored in zip(tasks, _fitted(calls, workers), strict=True):
        told()
        if isinstance(scored, str):
            failed[name] = scored
        else:
            done.setdefault((name, part), []).append(scored)
    if UNTUNED in failed:
        raise TuningError(f"the untuned candidate did not finish: {failed[UNTUNED]}")
    for name, why in failed.items():
        LOG.warning("%s left the finals: %s", name, why)
    score = tuner.objective.score
    means = {key: float(np.mean([each.by(score) for each in folds])) for key, folds in done.items()}
    return {
        name: Scores(
            known[name] if name in known else means[name, "inner"],
            means[name, "confirm"],
            pd.concat([each.origins for each in done[name, "confirm"]]),
        )
        for name in contestants
        if name not in failed
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """A fold of a finalist, which may run in another process."""

    candidate: Candidate
    base: CycleTransformer
    panel: pd.DataFrame
    folds: Folds
    windows: tuple[int, ...]

    def __call__(self) -> Scored | str:
        try:
            return run_fold(self.candidate, self.base, self.panel, self.folds, self.windows).scored
        except TuningError as error:
            return str(error)


def _fitted(calls: Sequence[_Fit], workers: int) -> Iterator[Scored | str]:
    """Run fits in order, several at a time."""
    if workers == 1:
        yield from (call() for call in calls)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config("loky", n_jobs=workers, inner_max_num_threads=1):
        yield from Parallel(return_as="generator", batch_size=1)(delayed(call)() for call in calls)


def _found(candidate: Candidate, trials: Sequence[TrialSummary], tuner: Tuner) -> float | None:
    """Return the score that the search has found of a candidate, if a trial was the same and did every fold."""
    for each in trials:
        whole = each.state == "complete" and len(each.folds) == tuner.folds.n_folds
        if whole and not each.learns and each.candidate is not None and same(each.candidate, candidate):
            return each.value
    return None


def _name(trial: TrialSummary) -> str:
    return f"trial {trial.number}"


def _of(trial: TrialSummary, untuned: Candidate) -> str:
    """Return the name under which a finalist stands in the table."""
    assert trial.candidate is not None
    return UNTUNED if same(trial.candidate, untuned) else _name(trial)


def _saved(tuner: Tuner, tuned: pd.DataFrame, untuned: pd.DataFrame) -> Skill:
    column, root = ("squared", True) if tuner.objective.score == "rmse" else ("crps", False)
    return saved(tuned[column], untuned[column], tuner.stages.confirm, root=root)


def _sentence(tuner: Tuner, best: str, gain: Skill) -> str:
    what = tuner.objective.score.upper() + _reach(tuner.folds, tuner.base.h)
    over = f"over {gain.windows} windows that the search never saw"
    change = than_untuned(gain.value)
    if gain.reason:
        return (
            f"Whether {best} gains anything was not tested: {gain.reason}. Its {what} is {change}; the "
            "untuned plan is kept."
        )
    span = interval(gain)
    if gain.low > 0:
        return f"Tuned as in {best} the {what} is {change} ({span}), {over}."
    if gain.high < 0:
        return (
            f"Tuned as in {best} the {what} is {change} ({span}), {over}: the search has found what was "
            "there by chance; the untuned plan is kept."
        )
    return (
        f"Gain: none. Tuned as in {best} the {what} is {change} ({span}), which chance explains, {over}; "
        "the untuned plan is kept."
    )


def _reach(folds: TuningFolds, trained_h: int) -> str:
    """Say which steps ahead the confirmation is about."""
    if folds.h <= trained_h:
        return ""
    if folds.confirming == folds.h:
        return " beyond the trained horizon"
    return f" {trained_h + 1} to {folds.confirming} bars ahead"


def percent(share: float) -> str:
    """Write a share in percent with one decimal; what rounds to zero has no sign."""
    text = f"{100 * share:.1f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def than_untuned(saved_share: float) -> str:
    """Compare a loss with that of the untuned plan; what would print as 0.0 % is no difference."""
    size = percent(abs(saved_share))
    if float(size) == 0:
        return "no different from untuned at this precision"
    return f"{size} % {'lower' if saved_share > 0 else 'higher'} than untuned"


def interval(gain: Skill) -> str:
    """Write the interval of a gain: what is saved is positive."""
    return f"{100 * gain.level:g} % interval of the saving {percent(gain.low)} to {percent(gain.high)} %"


def same(one: Candidate, other: Candidate, within: float = 1e-12) -> bool:
    """Tell whether two candidates make the same model, but for periods that differ by very little.

    Parameters
    ----------
    one, other : Candidate
    within : float
        Largest difference of the logarithms of periods.
    """
    settings = [(each.encoding, dict(each.network), dict(each.training)) for each in (one, other)]
    if settings[0] != settings[1] or len(one.plan) != len(other.plan):
        return False
    return all(
        (a.clock, a.harmonics) == (b.clock, b.harmonics) and abs(np.log(a.period / b.period)) <= within
        for a, b in zip(one.plan, other.plan, strict=True)
    )


def _alike(one: TrialSummary, other: TrialSummary) -> bool:
    assert one.candidate is not None
    assert other.candidate is not None
    return same(one.candidate, other.candidate, SAME_PERIODS)
