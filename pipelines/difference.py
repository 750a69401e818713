"""In what two sets of forecasts of one night differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fints.forecast import QUANTILE_COLUMNS
from pipelines.terminal import counted

if TYPE_CHECKING:
    import pandas as pd

_KEY: Final = ("unique_id", "target", "step")
_COMPARED: Final = ("ds", "model", "mean", *QUANTILE_COLUMNS)


def first_difference(now: pd.DataFrame, stored: pd.DataFrame) -> str:
    """Say in which row and column two sets of forecasts differ first; empty where they are equal bit for bit."""
    if stored.empty:
        return "the stored ones are gone"
    mine, theirs = (frame.set_index(list(_KEY)).sort_index()[list(_COMPARED)] for frame in (now, stored))
    for here, there, word in ((mine, theirs, "not stored"), (theirs, mine, "stored, and not made now")):
        alone = here.index.difference(there.index)
        if len(alone):
            return f"{_named(alone[0])} is {word} ({counted(len(alone), 'such row')})"
    for name in _COMPARED:
        left, right = mine[name], theirs[name]
        apart = (left != right) & ~(left.isna() & right.isna())
        if apart.any():
            at = int(apart.to_numpy().argmax())
            told = f"{left.iloc[at]!r} now, {right.iloc[at]!r} stored"
            return f"{_named(mine.index[at])}, {name}: {told} ({counted(int(apart.sum()), 'such row')})"
    return ""


def _named(key: tuple[object, ...]) -> str:
    unique_id, target, step = key
    return f"{unique_id}, {target}, step {step}"
