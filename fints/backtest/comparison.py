"""All models of a backtest side by side: which differ, which may be the best, which beat a baseline and by how much."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.significance import ConfidenceSet, SuperiorAbility, confidence_set, family, superior_ability
from fints.backtest.significance.bootstrap import listed
from fints.backtest.skill import Skill, skill
from fints.backtest.verdict import counted_as

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.backtest.significance import Family

ALPHA = 0.05
MOST_NAMED = 2


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What the windows say of all models at once.

    Parameters
    ----------
    order : tuple of str
        Models that finished, the lowest RMSE first.
    family : Family
        Every pair, with at most 5 % chance of a single false find among them.
    best : ConfidenceSet
        Models among which the best one is.
    superior : SuperiorAbility, optional
        Whether any model beats the baseline; None where no baseline was chosen.
    skills : mapping of str to Skill
        Share of the baseline's RMSE that each other model saves; empty where no baseline was chosen.
    overlapping : int
        Windows that there are, where those overlap and the tests count fewer; else 0.
    """

    order: tuple[str, ...]
    family: Family
    best: ConfidenceSet
    superior: SuperiorAbility | None = None
    skills: Mapping[str, Skill] = field(default_factory=dict)
    overlapping: int = 0

    @property
    def against(self) -> str | None:
        """The baseline."""
        return None if self.superior is None else self.superior.against

    def sentences(self) -> tuple[str, ...]:
        """Say in words what was found: about the baseline first, then about the best, then about all pairs.

        Each sentence answers a question of its own. Where the one about pairs seems to take back what the first one
        says of the baseline, or to go beyond it, that is explained.
        """
        said = [] if self.superior is None else [self._headline(self.superior)]
        counted = counted_as(self.overlapping, self.best.windows)
        said += [f"There are {counted} in every test."] if counted else []
        return (*said, self.best.sentence(), " ".join([self.family.sentence(), *self._beside_the_pairs()]))

    def named(self, model: str) -> bool | None:
        """Tell whether the test against the baseline names a model as better; None where it was not made."""
        return None if self.superior is None or self.superior.reason else model in self.superior.better

    def in_brief(self) -> str:
        """Say the verdict in a few words, without figures."""
        if self.superior is None:
            return f"{self.order[0]} has the lowest RMSE" if self.order else "No model has scores"
        against, better = self.superior.against, self.superior.better
        if self.superior.reason:
            return f"Not tested against {against}: {self.superior.reason}"
        if not better:
            return f"No model is shown to beat {against}"
        if len(better) > MOST_NAMED:
            return f"{len(better)} models beat {against}"
        return f"{' and '.join(better)} {'beats' if len(better) == 1 else 'beat'} {against}"

    def table(self) -> pd.DataFrame:
        """Return what belongs into a leaderboard.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``model``: ``letters`` (empty where no pair could be tested), ``in_set`` (None where the test of
            the set was withheld), and with a baseline ``skill``, ``skill_low``, ``skill_high``.
        """
        inside = [None if self.best.reason else name in self.best.models for name in self.order]
        table = pd.DataFrame(
            {"letters": pd.array([self.family.letters.get(name, "") for name in self.order], dtype=object)},
            index=pd.Index(self.order, name="model", dtype=object),
        ).assign(in_set=pd.array(inside, dtype=object))
        if self.superior is not None:
            for column, attribute in (("skill", "value"), ("skill_low", "low"), ("skill_high", "high")):
                values = [getattr(self.skills[n], attribute) if n in self.skills else np.nan for n in self.order]
                table[column] = np.array(values, dtype=float)
        return table

    def _beside_the_pairs(self) -> list[str]:
        """Say where the tests of pairs and that of all models against the baseline differ, and why they may."""
        if self.superior is None or self.superior.reason:
            return []
        against, pairs = self.superior.against, self.family.pairs
        apart = pairs[pairs["p_holm"] < self.family.alpha]
        # a statistic is negative where the first of the pair loses less
        less = {*apart["model"][(apart["against"] == against) & (apart["statistic"] < 0)]}
        less |= {*apart["against"][(apart["model"] == against) & (apart["statistic"] > 0)]}
        missing = [name for name in self.superior.better if name not in less]
        beyond = [name for name in self.order if name in less and name not in self.superior.better]
        said = []
        if missing:
            said.append(
                f"The difference of {listed(missing)} from {against} is not among them: so many pairs at once ask for "
                f"more evidence than the one question whether anything is better than {against}."
            )
        if beyond:
            said.append(
                f"{listed(beyond)} and {against} are among them, though the test of all models against {against} does "
                "not name what is better there: it goes by the size of differences, this one by how steady they are."
            )
        return said

    def _headline(self, superior: SuperiorAbility) -> str:
        """Say whether anything beats the baseline, and how the best model did beside it."""
        said, against = superior.sentence(), superior.against
        first = self.order[0] if self.order else against
        if first == against:
            return f"{said} {against} itself has the lowest RMSE." if self.order else said
        if first not in self.skills:
            return said
        found = self.skills[first]
        size = f"{100 * abs(found.value):.1f} % {'less' if found.value >= 0 else 'more'} than {against}"
        doubt = (
            "which may be chance"
            if found.reason
            else f"{100 * found.level:g} % interval {_signed(found.low)} to {_signed(found.high)} %"
        )
        return f"{said} {first} has the lowest RMSE: {size} ({doubt})."


def compare_all(
    pooled: pd.DataFrame, by_series: pd.DataFrame, *, lag: int, against: str | None = None, overlapping: int = 0
) -> Comparison:
    """Compare all models.

    Parameters
    ----------
    pooled : pandas.DataFrame, shape (windows, models)
        Mean loss of each model in each window, in order of time; columns in the order of the table.
    by_series : pandas.DataFrame, shape (windows, models × series × seeds)
        Squared error, whose mean over windows is the mean squared error; the first level of the columns is the model.
        NaN where a window has no forecast of a series.
    lag : int
        Windows up to which losses may be correlated.
    against : str, optional
        The baseline; the tests against it are left out without one, and withheld where it is none of the models.
    overlapping : int
        Windows that the rows were made of, where there are more of them because they overlap.

    Returns
    -------
    Comparison
    """
    order = tuple(map(str, pooled.columns))
    superior, skills = None, {}
    if against is not None and against not in order:
        superior = SuperiorAbility(against, (), np.nan, len(pooled), ALPHA, f"{against} has no scores")
    elif against is not None:
        superior = superior_ability(pooled, against, lag=lag, alpha=ALPHA)
        theirs = by_series[against].to_numpy(float)
        skills = {
            name: skill(by_series[name].to_numpy(float), theirs, lag=lag, root=True)
            for name in order
            if name != against
        }
    pairs, best = family(pooled, lag=lag, alpha=ALPHA), confidence_set(pooled, lag=lag)
    return Comparison(order, pairs, best, superior, skills, overlapping)


def _signed(share: float) -> str:
    return f"{'−' if share < 0 else ''}{100 * abs(share):.1f}"
