"""A comparison of two models in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf, isnan, nan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fints.backtest.significance import DieboldMariano

UNDECIDED = "is not distinguishable from"
"""What stands between two models of which neither is shown to be better."""


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Two models and what a test says of them.

    Parameters
    ----------
    model, against : str
    test : DieboldMariano
        Negative where `model` loses less.
    change : float
        Of the RMSE: −0.02 is 2 % lower than that of `against`.
    p_holm : float
        p-value held against all comparisons made together; that of the test where it stands alone.
    together : int
        Comparisons made together.
    overlapping : int
        Windows that the sample of the test was made of, where those overlap and fewer are counted; else 0.
    named : bool, optional
        Whether the test of all models against `against` says that `model` is better; None where it says nothing.
    """

    model: str
    against: str
    test: DieboldMariano
    change: float
    p_holm: float
    together: int = 1
    overlapping: int = 0
    named: bool | None = None

    def sentence(self, alpha: float = 0.05) -> str:
        """Say whether the model is better, with the difference, the p-value and the number of windows.

        Parameters
        ----------
        alpha : float
            Chance of a single false find among the comparisons made together.
        """
        test = self.test
        if test.windows == 0:
            return f"{self.model} cannot be compared with {self.against}: {test.reason}."
        size, counted = in_words(self.change), counted_as(self.overlapping, test.windows)
        if test.reason:
            why = f"there are {counted}, and {test.reason}" if counted else test.reason
            return f"{self.model} {UNDECIDED} {self.against}: {size}, but {why}."
        together = f"; Holm p {_p_value(self.p_holm)} for {self.together} comparisons" if self.together > 1 else ""
        over = counted or f"{test.windows} windows"
        numbers = f"{size} over {over} (Diebold–Mariano p {_p_value(test.p_value)}{together})"
        # losses pool the series, RMSE averages over them: where they disagree on the direction, nothing is claimed
        if self.p_holm < alpha and self.change * test.statistic > 0:
            better = test.statistic < 0
            but = (
                f"; the test of all models against {self.against} does not name it"
                if better and self.named is False
                else ""
            )
            return f"{self.model} is {'better' if better else 'worse'} than {self.against}: {numbers}{but}."
        if self.named:
            return (
                f"As one of {self.together} pairs, {self.model} {UNDECIDED} {self.against}: {numbers}; "
                f"the test of all models against {self.against}, which asks less at once, names it as better."
            )
        return f"{self.model} {UNDECIDED} {self.against}: {numbers}."


def counted_as(windows: int, counted: int) -> str:
    """Say as how many windows side by side overlapping ones count; empty where none overlap."""
    return f"{windows} windows, which overlap and count as {counted}" if windows > counted else ""


def relative(rmse: float | None, other: float | None) -> float:
    """Return the change from one RMSE to another: −0.02 is 2 % lower; NaN where one is not known."""
    if rmse is None or other is None:
        return nan
    if other == 0:
        return inf if rmse > 0 else 0.0
    return float(rmse) / float(other) - 1


def in_words(change: float) -> str:
    """Write a relative change of the RMSE."""
    if isnan(change):
        return "RMSE unknown"
    if isinf(change):
        return "RMSE above one of zero"
    percent = abs(change) * 100
    if percent < 0.05:  # noqa: PLR2004 — what would print as 0.0 %
        return "the same RMSE to within 0.1 %"
    return f"RMSE {percent:.1f} % {'lower' if change < 0 else 'higher'}"


def _p_value(p: float) -> str:
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"  # noqa: PLR2004 — three digits are enough
