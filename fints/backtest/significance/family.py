"""Many comparisons at once: how often a difference would be found somewhere if there were none."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.significance.diebold_mariano import diebold_mariano
from fints.backtest.significance.letters import compact_letters

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ALPHA = 0.05


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values so that the chance of a single false find among them stays at the level (Holm 1979).

    Parameters
    ----------
    p_values : array_like, shape (n,)
        NaN where a test was withheld: it is no part of the family.

    Returns
    -------
    ndarray, shape (n,)
        At least the p-values, at most 1; NaN where those are.
    """
    p = np.array(p_values, dtype=np.float64)
    made = np.isfinite(p)
    if made.any():
        from statsmodels.stats.multitest import multipletests

        p[made] = multipletests(p[made], method="holm")[1]
    return p


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Comparisons of every pair of models, held together by Holm's adjustment.

    Parameters
    ----------
    pairs : pandas.DataFrame
        ``model, against, statistic, p_value, p_holm, reason``, one row for each pair; `model` loses less where the
        statistic is negative.
    letters : dict of str to str
        See `compact_letters`. Empty where no pair could be tested.
    windows : int
    alpha : float
        Chance of a single false find among all pairs.
    """

    pairs: pd.DataFrame
    letters: dict[str, str]
    windows: int
    alpha: float

    def sentence(self) -> str:
        """Say in words how many pairs differ."""
        tested = int(self.pairs["p_holm"].notna().sum())
        if not tested:
            why = f": {self.pairs['reason'].iloc[0]}" if len(self.pairs) else ""
            return f"No two models were compared{why}."
        found = self.pairs[self.pairs["p_holm"] < self.alpha]
        held = f"over {self.windows} windows, with at most {100 * self.alpha:g} % chance of any false find (Holm)"
        if found.empty:
            return f"No two models can be told apart among {_pairs(tested)} {held}."
        return f"{len(found)} of {_pairs(tested)} of models differ {held}; models that share a letter do not."


def family(losses: pd.DataFrame, *, lag: int, alpha: float = ALPHA) -> Family:
    """Test every pair of models by Diebold–Mariano.

    Parameters
    ----------
    losses : pandas.DataFrame, shape (windows, models)
        Mean loss of each model in each window, in order of time; columns in the order of the table.
    lag : int
        See `diebold_mariano`.
    alpha : float

    Returns
    -------
    Family
    """
    models = [str(name) for name in losses.columns]
    values = losses.to_numpy(float)
    rows = []
    for i, j in combinations(range(len(models)), 2):
        test = diebold_mariano(values[:, i], values[:, j], lag=lag)
        rows.append((models[i], models[j], test.statistic, test.p_value, test.reason))
    pairs = pd.DataFrame(rows, columns=["model", "against", "statistic", "p_value", "reason"])
    pairs.insert(4, "p_holm", holm(pairs["p_value"].to_numpy(float)))
    different = pairs.loc[pairs["p_holm"] < alpha, ["model", "against"]]
    tested = bool(pairs["p_holm"].notna().any())
    letters = compact_letters(models, different.itertuples(index=False, name=None)) if tested else {}
    return Family(pairs, letters, len(losses), alpha)


def _pairs(number: int) -> str:
    return f"{number} pair{'' if number == 1 else 's'}"
