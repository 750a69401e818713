"""A trial: a candidate through all inner folds, ended early where it cannot win."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.trial import TrialState

from fints.tuning.evaluation import run_fold
from fints.tuning.knobs import settled
from fints.tuning.owner import Owner
from fints.tuning.sampler import CoarseToFine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from optuna.trial import FrozenTrial, Trial

    from fints.backtest import Folds
    from fints.transformer import CycleTransformer
    from fints.tuning.candidate import Candidate
    from fints.tuning.periods import Moved
    from fints.tuning.scoring import Objective
    from fints.tuning.space import SearchSpace


class HaltedError(Exception):
    """A trial was ended between two folds because the search is to stop."""


@dataclass(frozen=True, slots=True, eq=False)
class InnerSearch:
    """What Optuna minimises.

    Parameters
    ----------
    space : SearchSpace
    base : CycleTransformer
    objective : Objective
    panel : pandas.DataFrame
        The rows that the search may see.
    folds : Folds
    blocks : sequence of tuple of int
        Windows of each fold.
    prune : bool
    halted : callable
        Asked between folds whether to stop.
    """

    space: SearchSpace
    base: CycleTransformer
    objective: Objective
    panel: pd.DataFrame
    folds: Folds
    blocks: Sequence[tuple[int, ...]]
    prune: bool
    halted: Callable[[], bool]

    def __call__(self, trial: Trial) -> float | tuple[float, float]:
        """Run a trial, and note at it whose it is, what it did and where its periods went."""
        trial.set_user_attr("owner", Owner.here().to_dict())
        sampler = trial.study.sampler
        if "origin" not in trial.user_attrs:
            fine = isinstance(sampler, CoarseToFine) and sampler.fine
            trial.set_user_attr("origin", "refined" if fine else "sampled")
            trial.set_user_attr("fixed", fine)
        try:
            return self._run(trial)
        except HaltedError:
            raise
        except Exception as error:
            trial.set_user_attr("failure", f"{type(error).__name__}: {error}"[:1000])
            raise

    def _run(self, trial: Trial) -> float | tuple[float, float]:
        candidate = self.space.suggest(trial, fixed=bool(trial.user_attrs.get("fixed")))
        trial.set_user_attr("start", candidate.periods)
        trial.set_user_attr("learns", settled(candidate.encoding) != candidate.encoding)
        known = _known(trial)
        if known is not None:
            return self._copied(trial, known)
        scores: list[float] = []
        moved: list[Moved] = []
        began = time.perf_counter()
        for fold, windows in enumerate(self.blocks):
            if fold and self.halted():
                raise HaltedError
            run = run_fold(candidate, self.base, self.panel, self.folds, windows)
            scores.append(run.scored.by(self.objective.score))
            moved.append(run.moved)
            if self._hopeless(trial, scores, fold):
                trial.set_user_attr("pruned", value=True)
                break
        seconds = time.perf_counter() - began
        note(trial, candidate, scores, moved, seconds)
        value = float(np.mean(scores))
        return (value, seconds) if self.objective.multi else value

    def _copied(self, trial: Trial, known: FrozenTrial) -> float | tuple[float, float]:
        """Answer with what the same point came to: it would come to it again."""
        for key in ("folds", "end", "spread", "trajectory", "seconds", "candidate"):
            trial.set_user_attr(key, known.user_attrs[key])
        trial.set_user_attr("same_as", known.number)
        if self.objective.multi:
            return known.values[0], known.values[1]
        for step, score in known.intermediate_values.items():
            trial.report(score, step=step)
        return float(known.values[0])

    def _hopeless(self, trial: Trial, scores: list[float], fold: int) -> bool:
        """Report a fold, and tell whether the trial cannot win any more."""
        if self.objective.multi:
            return False
        trial.report(scores[-1], step=fold)
        if not self.prune or fold == len(self.blocks) - 1:
            return False
        with warnings.catch_warnings():
            # The pruner warns of folds that the best trial lacks, which it then leaves out as it should.
            warnings.simplefilter("ignore", UserWarning)
            return trial.should_prune()


def _known(trial: Trial) -> FrozenTrial | None:
    """Return a finished trial of the same point, one that did every fold."""
    for each in trial.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        attrs = each.user_attrs
        alike = each.params == trial.params and attrs.get("learns") == trial.user_attrs["learns"]
        if alike and "candidate" in attrs and not attrs.get("pruned"):
            return each
    return None


def note(trial: Trial, candidate: Candidate, scores: list[float], moved: list[Moved], seconds: float) -> None:
    """Note at a trial what it came to; see `TrialSummary`."""
    logs = {name: np.log([each.end[name] for each in moved]) for name in candidate.names}
    stay = {name for name in candidate.names if all(each.end[name] == candidate.periods[name] for each in moved)}
    means = {name: float(np.exp(values.mean())) for name, values in logs.items()}
    end = {name: candidate.periods[name] if name in stay else mean for name, mean in means.items()}
    attrs: dict[str, Any] = {
        "folds": [round(score, 9) for score in scores],
        "end": end,
        "spread": {name: float(values.std(ddof=1)) if len(values) > 1 else 0.0 for name, values in logs.items()},
        "trajectory": {name: [list(point) for point in path] for name, path in moved[-1].path.items()},
        "seconds": round(seconds, 3),
        "candidate": replace(
            candidate.at(end, f"tuned in trial {trial.number}"), encoding=settled(candidate.encoding)
        ).to_dict(),
    }
    for key, value in attrs.items():
        trial.set_user_attr(key, value)
