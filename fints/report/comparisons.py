"""What the hold-out says of the model, in few words: what is decided in full, what is not in one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fints.backtest.verdict import UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNDECIDED = re.compile(rf"(?!As one of )(?P<model>.+?) {UNDECIDED} (?P<other>.+?): ")


def in_few_words(verdicts: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences that decide something, and one line that counts the comparisons which do not.

    Parameters
    ----------
    verdicts : sequence of str
        As `fints.backtest.CrossValidation.verdict` gives, and whatever else there is to say of the hold-out.
    """
    open_ones = undecided(verdicts)
    if len(open_ones) < 2:
        return tuple(verdicts)
    pairs: dict[str, list[str]] = {}
    for found in map(_UNDECIDED.match, open_ones):
        if found is not None:
            pairs.setdefault(found["model"], []).append(found["other"])
    said = "; ".join(f"{model} {UNDECIDED} {_listed(others)}" for model, others in pairs.items())
    rest = tuple(verdict for verdict in verdicts if verdict not in open_ones)
    return (*rest, f"{len(open_ones)} comparisons are undecided: {said}.")


def undecided(verdicts: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences of comparisons that decide nothing."""
    return tuple(verdict for verdict in verdicts if _UNDECIDED.match(verdict))


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
