"""Tests of all models at once, by resampling the windows in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.backtest.significance.diebold_mariano import too_few
from fints.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

LEAST_RESAMPLED = 15
"""Windows below which a bootstrap test is withheld: with fewer, sets that should hold 90 % hold visibly less."""

REPETITIONS = 1000

_SEED = 0


@dataclass(frozen=True, slots=True)
class ConfidenceSet:
    """Models among which the best one is, with a given confidence.

    Parameters
    ----------
    models : tuple of str
        Those in the set, the lowest loss first. All, where the test is withheld.
    left_out : tuple of str
        Those of which it can be said that another is better.
    p_values : mapping of str to float
        Smallest level at which each model would be left out; empty where the test is withheld.
    confidence : float
        Chance that the set holds the best model.
    windows : int
    reason : str
        Why the test is withheld; empty where it is not.
    """

    models: tuple[str, ...]
    left_out: tuple[str, ...]
    p_values: Mapping[str, float]
    confidence: float
    windows: int
    reason: str = ""

    def sentence(self) -> str:
        """Say in words which models may be the best."""
        if self.reason:
            return f"No model can be left out as worse than the best: {self.reason}."
        over = f"over {self.windows} windows ({100 * self.confidence:g} % model confidence set)"
        if not self.left_out:
            return f"Any of the {len(self.models)} models may be the best one {over}."
        if len(self.models) == 1:
            return f"{self.models[0]} is the best of {1 + len(self.left_out)} models {over}."
        return f"The best model is one of {listed(self.models)}, and none of {listed(self.left_out)}, {over}."


@dataclass(frozen=True, slots=True)
class SuperiorAbility:
    """Whether any of several models is better than one that is to be beaten.

    Parameters
    ----------
    against : str
        The model to beat.
    better : tuple of str
        Models that are better, with at most `alpha` chance of naming a single one wrongly (Romano & Wolf 2005).
    p_value : float
        Of "none is better than the model to beat" (Hansen's consistent one). NaN where the test is withheld.
    windows : int
    alpha : float
    reason : str
        Why the test is withheld; empty where it is not.
    """

    against: str
    better: tuple[str, ...]
    p_value: float
    windows: int
    alpha: float
    reason: str = ""

    def sentence(self) -> str:
        """Say in words whether the model was beaten."""
        if self.reason:
            return f"Whether any model is better than {self.against} was not tested: {self.reason}."
        p = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"  # noqa: PLR2004 — three digits are enough
        numbers = f"over {self.windows} windows (superior predictive ability p {p})"
        if self.p_value >= self.alpha:
            return f"No model is shown to be better than {self.against} {numbers}."
        if self.better:
            verb = "is" if len(self.better) == 1 else "are"
            return f"{listed(self.better)} {verb} better than {self.against} {numbers}."
        return f"Some model is better than {self.against}, but it cannot be said which, {numbers}."


def confidence_set(
    losses: pd.DataFrame, *, lag: int, confidence: float = 0.9, least: int = LEAST_RESAMPLED, seed: int = _SEED
) -> ConfidenceSet:
    """Find the models among which the best one is.

    Parameters
    ----------
    losses : pandas.DataFrame, shape (windows, models)
        Mean loss of each model in each window, in order of time.
    lag : int
        Windows up to which losses may be correlated: blocks of ``lag + 1`` windows on average are resampled.
    confidence : float
    least : int
        Windows below which no test is made.
    seed : int
        Of the resampling.

    Returns
    -------
    ConfidenceSet

    Raises
    ------
    ConfigError
        If `confidence` is not between 0 and 1.

    Notes
    -----
    Model confidence set of Hansen, Lunde & Nason (2011, Econometrica 79, 453-497) with the statistic T_max: on a few
    dozen skewed losses that of the range, T_R, leaves out the best model two to four times as often as it should.
    Models that lose the same in every window stand or fall together.
    """
    if not 0 < confidence < 1:
        raise ConfigError(f"the confidence of a set of models lies between 0 and 1; got {confidence:g}")
    ranked = losses[losses.mean().sort_values(kind="stable").index]
    names = tuple(str(name) for name in ranked.columns)
    values, owner = np.unique(ranked.to_numpy(float), axis=1, return_inverse=True)
    reason = too_few(len(losses), least)
    if not reason and values.shape[1] < 2:
        reason = "all models lose the same in every window" if len(names) > 1 else "there is only one model"
    if reason:
        return ConfidenceSet(names, (), {}, confidence, len(losses), reason)
    from arch.bootstrap import MCS

    test = MCS(values, 1 - confidence, reps=REPETITIONS, block_size=lag + 1, method="max", seed=seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        test.compute()
    p = test.pvalues["Pvalue"].reindex(range(values.shape[1])).to_numpy(float)[owner.ravel()]
    kept = p > 1 - confidence
    return ConfidenceSet(
        tuple(name for name, stays in zip(names, kept, strict=True) if stays),
        tuple(name for name, stays in zip(names, kept, strict=True) if not stays),
        dict(zip(names, map(float, p), strict=True)),
        confidence,
        len(losses),
    )


def superior_ability(
    losses: pd.DataFrame, against: str, *, lag: int, alpha: float = 0.05, seed: int = _SEED
) -> SuperiorAbility:
    """Test whether any model is better than one, however many were tried.

    Parameters
    ----------
    losses : pandas.DataFrame, shape (windows, models)
        Mean loss of each model in each window, in order of time.
    against : str
        Column of the model to beat.
    lag : int
        See `confidence_set`.
    alpha : float
        Chance of naming any model wrongly.
    seed : int
        Of the resampling.

    Returns
    -------
    SuperiorAbility
        Withheld, with a reason, below `LEAST_RESAMPLED` windows or where no other model differs.

    Raises
    ------
    UnknownNameError
        If there is no such model.

    Notes
    -----
    Hansen (2005, Journal of Business & Economic Statistics 23, 365-380) for "any", the stepwise test of Romano & Wolf
    (2005, Econometrica 73, 1237-1282) for "which".
    """
    if against not in losses.columns:
        raise UnknownNameError("model", against, map(str, losses.columns))
    benchmark = losses[against].to_numpy(float)
    others = losses.drop(columns=against)
    others = others.loc[:, [not _alike(benchmark, others[name].to_numpy(float)) for name in others.columns]]
    reason = too_few(len(losses), LEAST_RESAMPLED)
    if not reason and others.shape[1] == 0:
        reason = "no other model has other losses" if losses.shape[1] > 1 else "there is no other model"
    if reason:
        return SuperiorAbility(against, (), np.nan, len(losses), alpha, reason)
    p, better = _against(benchmark, others.to_numpy(float), lag + 1, alpha, seed)
    names = tuple(str(others.columns[i]) for i in better) if p < alpha else ()
    return SuperiorAbility(against, names, p, len(losses), alpha)


def _against(
    benchmark: NDArray[np.float64], others: NDArray[np.float64], block: int, alpha: float, seed: int
) -> tuple[float, list[int]]:
    """Consistent p-value, and the models that the stepwise test names.

    The steps are ours: arch's own StepM fails where they end with every model named.
    """
    from arch.bootstrap import SPA

    test = SPA(benchmark, others, block_size=block, reps=REPETITIONS, seed=seed)
    test.compute()
    p, named = float(test.pvalues["consistent"]), np.zeros(others.shape[1], dtype=bool)
    while not named.all() and len(found := test.better_models(alpha)):
        named[found] = True
        if not named.all():
            test.subset(~named)
            test.compute()
    return p, np.flatnonzero(named).tolist()


def _alike(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether the difference is constant, up to rounding: nothing to resample."""
    spread = float(np.std(one - other))
    return bool(spread <= 1e-12 * float(np.mean(np.abs(one)) + np.mean(np.abs(other))))


def listed(names: Sequence[str]) -> str:
    """Write names one after the other, with `and` before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
