"""How good earlier forecasts were, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.verification.verification import TargetVerification

WORDS = {
    "scored": "scored",
    "afterwards": "scored, but made when their bar was over",
    "pending": "still to come",
    "missing": "of sessions without a bar of the series",
    "void": "void, their session was cancelled",
    "unplaced": "left out, on a basis that is not on record",
    "unreadable": "left out, for what was promised of them cannot be read",
    "unpromised": "left out, for no promise of them is on record",
}
"""What becomes of forecasts, as people say it."""


def counted_outcomes(counts: Mapping[str, int]) -> str:
    """Count forecasts by what became of them: ``40 scored, 2 void, their session was cancelled``."""
    return "; ".join(f"{counts[state]} {said}" for state, said in WORDS.items() if counts.get(state))


def in_short(target: TargetVerification) -> tuple[str, ...]:
    """Say in three sentences at most what became of the forecasts of a target."""
    if not target.counts:
        return (f"{target.target}: no earlier forecast has come due.",)
    counted = f"{target.target}: of earlier forecasts {counted_outcomes(target.counts)}."
    if not target.scored:
        return (counted,)
    line = lookback(target)
    return (counted, f"{_who(target, line)}: {_error(line)}; {_coverage(line)}.")


def lookback(target: TargetVerification) -> pd.Series:
    """Return the line of the table that sums a target up: the whole horizon over 60 nights, or over all of fewer."""
    table = target.table
    whole = table[table["steps"] == table["steps"].iloc[-1]]
    asked = whole[whole["nights"] == 60]
    line: pd.Series = (asked if len(asked) else whole).iloc[-1]
    return line


def _who(target: TargetVerification, line: pd.Series) -> str:
    """Say over which nights: a live forecast of a night that was made late is one of a bar still to come then."""
    count, late = int(line["n_nights"]), int(line["n_late"])
    kind = "with live forecasts" if target.live else f"that {'was' if count == 1 else 'were'} run afterwards"
    what = f"1 night {kind}" if count == 1 else f"last {count} nights {kind}"
    if not target.live or not late:
        return f"{target.target}, {what}"
    return f"{target.target}, {what} ({_late(late, count)} made late; only bars still to come then count)"


def _late(late: int, count: int) -> str:
    if late == count:
        return "it was" if count == 1 else "all were"
    return f"{late} of them {'was' if late == 1 else 'were'}"


def _error(line: pd.Series) -> str:
    said = f"mean absolute error {line['MAE']:.3f}"
    promised = line["MAE_promised"]
    if np.isfinite(promised) and promised > 0:
        said += f" against {promised:.3f} promised ({compared(line)})"
    return f"{said}, bias {line['bias']:+.3f}"


def compared(line: pd.Series) -> str:
    """Say how a mean absolute error stands to the one that was promised, and whether it can be told from it."""
    ratio = line["MAE"] / line["MAE_promised"] - 1
    inside = line["MAE_low"] <= line["MAE_promised"] <= line["MAE_high"]
    share = f"{abs(ratio):.0%} {'above' if ratio > 0 else 'below'}"
    if pd.isna(line["MAE_low"]):
        return f"{share}; too few nights to say more"
    return f"{share}, not distinguishable" if inside else share


def _coverage(line: pd.Series) -> str:
    parts = []
    for name, band in (("cov80", "80 %"), ("cov95", "95 %")):
        promised = line[f"{name}_promised"]
        told = f" ({promised:.1%} on the hold-out)" if np.isfinite(promised) else ""
        parts.append(f"the {band} band held {line[name]:.1%}{told}")
    return ", ".join(parts)
