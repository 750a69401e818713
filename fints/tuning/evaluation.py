"""One fold of a trial: a fit, and forecasts from the origins after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.backtest import Entrant
from fints.backtest.jobs import Job
from fints.errors import TuningError
from fints.tuning.periods import moved
from fints.tuning.scoring import scaled, score_fold

if TYPE_CHECKING:
    import pandas as pd

    from fints.backtest import Folds
    from fints.transformer import CycleTransformer
    from fints.tuning.candidate import Candidate
    from fints.tuning.periods import Moved
    from fints.tuning.scoring import Scored


@dataclass(frozen=True, slots=True, eq=False)
class FoldRun:
    """What a fold of a trial left behind.

    Parameters
    ----------
    scored : Scored
    rows : pandas.DataFrame
        The forecasts; see `fints.backtest.jobs.COLUMNS`.
    moved : Moved
    model : CycleTransformer
        As fitted.
    seconds : float
    """

    scored: Scored
    rows: pd.DataFrame
    moved: Moved
    model: CycleTransformer
    seconds: float


def run_fold(
    candidate: Candidate, base: CycleTransformer, panel: pd.DataFrame, folds: Folds, windows: tuple[int, ...]
) -> FoldRun:
    """Fit a candidate at the first of some windows and forecast from all of them.

    Each fold of a stage has first weights and batches of its own, the same for all candidates: what one network makes
    of chance, such as a phase that is a little late everywhere, would otherwise favour one candidate in every fold.

    Parameters
    ----------
    candidate : Candidate
    base : CycleTransformer
        Its trained horizon decides which steps are beyond it.
    panel : pandas.DataFrame
        Nothing but the rows that may be seen.
    folds : Folds
    windows : tuple of int

    Raises
    ------
    TuningError
        If the model did not finish, with the cause.
    UsageError
        If the candidate makes no model.
    """
    model = candidate.model(base).with_seed(base.design.random_seed + windows[0])
    outcome = Job(Entrant(model), folds, windows, keep_model=True).run(panel)
    if outcome.failure:
        raise TuningError(f"{outcome.failure} (fitted at {folds.cutoffs[windows[0]]:%Y-%m-%d})")
    fitted: CycleTransformer = outcome.model  # type: ignore[assignment]
    losses = scaled(outcome.rows, folds, panel, base.design.input_size)
    return FoldRun(score_fold(losses, base.h), outcome.rows, moved(candidate, fitted), fitted, outcome.seconds)
