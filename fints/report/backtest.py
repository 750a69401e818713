"""A backtest as its page and its Markdown need it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fints.backtest import Comparison, CrossValidation, Extrapolation
    from fints.report.colours import Look

TRANSFORMER = "CycleTransformer["


@dataclass(frozen=True, slots=True, eq=False)
class ComparedTarget:
    """What was found out about one target.

    Parameters
    ----------
    target : str
    result : CrossValidation
    looks : mapping of str to Look
        How each model is drawn, in the order of the settings.
    comparison : Comparison
        Against the baseline, where there is one.
    plan : pandas.DataFrame
        As `FrequencyPlan.to_frame` gives it.
    verdicts : tuple of str
        Sentences on pairs of models.
    left_out : tuple of (str, str, bool)
        Series, why, and whether it was left out altogether.
    extrapolation : Extrapolation, optional
    brief : bool
        Whether transformers are called by their encoding, which is all that tells them apart.
    """

    target: str
    result: CrossValidation
    looks: Mapping[str, Look]
    comparison: Comparison
    plan: pd.DataFrame
    verdicts: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str, bool], ...] = ()
    extrapolation: Extrapolation | None = None
    brief: bool = False

    def headlines(self) -> tuple[str, ...]:
        """Return the verdict: sentences in the order of their weight."""
        return tuple(self.named(sentence) for sentence in self.comparison.sentences())

    def in_brief(self) -> str:
        """Return the verdict in a few words."""
        return self.named(self.comparison.in_brief())

    def board(self) -> pd.DataFrame:
        """Return the leaderboard, with the skill over the baseline."""
        against = self.comparison.against
        return self.result.leaderboard(against=None if against in self.result.failures else against)

    def call(self, name: str) -> str:
        """Return what a model is called: by its encoding where names are brief."""
        return short(name) if self.brief else name

    def named(self, text: str) -> str:
        """Call the models in a text as they are called here."""
        for name in sorted(self.looks, key=len, reverse=True):
            text = text.replace(name, self.call(name))
        return text


@dataclass(frozen=True, slots=True, eq=False)
class BacktestReport:
    """A backtest.

    Parameters
    ----------
    dataset : str
    as_of : str
    created_at : pandas.Timestamp
        UTC.
    h : int
        Bars ahead.
    bar_word : str
        ``session`` or ``bar``.
    targets : tuple of ComparedTarget
    how : str
        Windows and fits in a sentence.
    facts : mapping of str to mapping of str to str
        Groups of things to know about the run.
    settings : str
        YAML.
    failed : mapping of str to str
        Symbols and targets without a result, with the cause.
    warnings : tuple of str
    trained_h : int, optional
        Bars ahead that transformers were trained for, where those are fewer.
    stated : str
        Where the cycles come from, if they were not looked for.
    """

    dataset: str
    as_of: str
    created_at: pd.Timestamp
    h: int
    bar_word: str
    targets: tuple[ComparedTarget, ...]
    how: str
    facts: Mapping[str, Mapping[str, str]]
    settings: str
    failed: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    trained_h: int | None = None
    stated: str = ""


def short(name: str) -> str:
    """Call a transformer by its encoding.

    Examples
    --------
    >>> short("CycleTransformer[rope]"), short("HAR")
    ('rope', 'HAR')
    """
    return name.removeprefix(TRANSFORMER).removesuffix("]") if name.startswith(TRANSFORMER) else name
