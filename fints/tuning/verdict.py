"""The test period, looked at once: the chosen candidate against the untuned one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.metrics import losses
from fints.backtest.skill import LEVEL, Skill
from fints.tuning.evaluation import run_fold
from fints.tuning.finals import interval, same, than_untuned
from fints.tuning.result import TestVerdict
from fints.tuning.saving import saved

if TYPE_CHECKING:
    from fints.backtest import Folds
    from fints.transformer import CycleTransformer
    from fints.tuning.candidate import Candidate
    from fints.tuning.evaluation import FoldRun
    from fints.tuning.tuner import Tuner


def look_once(
    tuner: Tuner, untuned: Candidate, chosen: Candidate, tuned: Candidate
) -> tuple[TestVerdict | None, CycleTransformer]:
    """Fit on all rows before the test period, and look at the test windows.

    Parameters
    ----------
    tuner : Tuner
    untuned, chosen, tuned : Candidate
        Where the untuned one was chosen, the tuned one is tested beside it all the same, so that it is seen what was
        turned down.

    Returns
    -------
    TestVerdict, optional
        None where no test period was set apart.
    CycleTransformer
        The chosen one, fitted.

    Raises
    ------
    TuningError
        If a model does not finish.
    """
    stages = tuner.stages
    if stages.test is None:
        return None, chosen.model(tuner.base).fit(stages.known)
    windows = tuple(range(len(stages.test)))
    kept = chosen is untuned
    runs = {"untuned": run_fold(untuned, tuner.base, stages.panel, stages.test, windows)}
    if same(tuned, untuned):
        rows = [_row("untuned", runs["untuned"], stages.test)]
        none = Skill(0.0, np.nan, np.nan, LEVEL, len(windows), "nothing was tuned")
        said = f"On the test windows the untuned plan has an RMSE of {rows[0]['RMSE']:.4g}; nothing else is compared."
        return TestVerdict(pd.DataFrame(rows), none, none, said), runs["untuned"].model
    runs["tuned"] = run_fold(tuned, tuner.base, stages.panel, stages.test, windows)
    rows = [_row(name, run, stages.test) for name, run in runs.items()]
    rmse, crps = (_saved(runs, stages.test, column, root=root) for column, root in (("squared", True), ("crps", False)))
    sentence = _sentence(rmse, turned_down=kept)
    return TestVerdict(pd.DataFrame(rows), rmse, crps, sentence), runs["untuned" if kept else "tuned"].model


def _row(name: str, run: FoldRun, folds: Folds) -> dict[str, object]:
    found = losses(run.rows)
    return {
        "candidate": name,
        "RMSE": float(found["squared"].mean() ** 0.5),
        "CRPS": float(found["crps"].mean()),
        "beyond": run.scored.rmse,
        "windows": len(folds),
    }


def _saved(runs: dict[str, FoldRun], folds: Folds, column: str, *, root: bool) -> Skill:
    means = {}
    for name, run in runs.items():
        means[name] = run.rows.assign(loss=losses(run.rows)[column]).groupby("cutoff")["loss"].mean()
    return saved(means["tuned"], means["untuned"], folds, root=root)


def _sentence(rmse: Skill, *, turned_down: bool) -> str:
    change = than_untuned(rmse.value)
    which = "the tuned candidate, which was turned down, has" if turned_down else "tuning has"
    if rmse.reason:
        why = f"whether by chance was not tested: {rmse.reason}"
        return f"On the test windows {which} an RMSE {change}; {why}."
    sure = "more than chance" if rmse.low > 0 or rmse.high < 0 else "not distinguishable from none"
    return f"On {rmse.windows} test windows {which} an RMSE {change} ({interval(rmse)}): {sure}."
