"""Transformers of a backtest that come to the same forecast, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fints.forecast import QUANTILE_COLUMNS
from fints.settings import TransformerEntry

if TYPE_CHECKING:
    from fints.backtest import CrossValidation
    from fints.settings import BacktestSettings


def told_alike(found: CrossValidation, settings: BacktestSettings) -> tuple[str, ...]:
    """Say which transformers forecast the same to the last bit, as those do whose networks learned nothing.

    Parameters
    ----------
    found : CrossValidation
    settings : BacktestSettings
        Of that comparison.
    """
    groups: dict[tuple[bool, bytes], list[str]] = {}
    for entry in settings.models:
        if not isinstance(entry, TransformerEntry):
            continue
        rows = found.frame[found.frame["model"] == entry.label]
        numbers = rows[["mean", *QUANTILE_COLUMNS]].astype("float64")
        key = pd.util.hash_pandas_object(numbers, index=False).to_numpy().tobytes()
        if len(rows):
            groups.setdefault((settings.network_of(entry).linear_skip, key), []).append(entry.label)
    return tuple(_said(names, linear) for (linear, _), names in groups.items() if len(names) > 1)


def _said(names: list[str], linear: bool) -> str:
    same = f"{', '.join(names[:-1])} and {names[-1]} forecast the same to the last bit: "
    more = "More training may change that (training.max_steps, --budget full)"
    if not linear:
        return f"{same}training never bettered the weights that it began with. {more}"
    return (
        f"{same}what their networks added to the linear start could not be told from chance and was dropped. {more}; "
        "to see what an encoding does alone, set network.linear_skip=false and network.covariates=false"
    )
