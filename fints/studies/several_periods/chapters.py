"""The chapters of the study's own: what a draw may leave out, and what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fints.studies.comparison.wording import times
from fints.studies.findings import Chapter, Table
from fints.studies.several_periods.arms import ALONE, MIXTURE, WAYS, told
from fints.studies.several_periods.chances import Chances, fundamental
from fints.studies.several_periods.verdicts import losers

if TYPE_CHECKING:
    from fints.studies.comparison import Results


def chapters(results: Results) -> list[Chapter]:
    """Show the chances of the draw, and say what the results ask of the defaults."""
    text = f"""\
Each plane of ClockRoPE draws its harmonic: the fundamental with a probability of {100 * fundamental():.0f} % (σ = T/12,
s = 6, folded), none at all or a higher one otherwise. A mixture draws the period too, so that one of several periods
may go short; splits give each period its planes, and leave only the harmonic to chance. The table says how likely one
layer has no plane at all that turns once in a given period. That both layers of the networks here have none is the
square.
"""
    return [
        Chapter("What a draw leaves out", text, [_chances(results)]),
        Chapter("What follows for the defaults", _follows(results)),
    ]


def _chances(results: Results) -> Table:
    kinds = dict.fromkeys(Chances.of(task.recipe.network, len(told(task).cycles)) for task in results.tasks.values())
    rows = [
        {"periods": str(kind.periods), "heads": str(kind.heads), "planes of a head for them": str(kind.planes)}
        | {way: f"{100 * kind.without(way):.1f} %" for way in WAYS}
        for kind in kinds
    ]
    return Table("Probability that a layer has no plane at the fundamental of a given period", pd.DataFrame(rows))


def _follows(results: Results) -> str:
    lost = losers(results)
    kept = [way for way in WAYS if way not in lost]
    if not lost:
        first = (
            "- No way is shown to be better than another by more than the margin, so fints advises the one that is "
            "least to write: `clock` by default, a mixture, which needs neither as many heads as periods nor planes "
            "that divide evenly."
        )
    elif kept:
        first = f"- For several periods take {' or '.join(kept)}, not {' nor '.join(lost)}."
    else:
        first = "- Every way loses somewhere: which is better depends on the periods, so fints advises none of them."
    lines = [first]
    alone = [c for c in results.contrasts if (c.first, c.second) == (ALONE, MIXTURE)]
    worse = [c for c in alone if c.ruling == "higher"]
    if worse:
        top = max(worse, key=lambda contrast: contrast.times.mean)
        lines.append(
            "- To turn with the strongest cycle alone, whatever else the plan holds (`mixture: false`), costs in "
            f"{len(worse)} of {len(alone)} cases, up to {times(top)} the error, which supports that `clock` draws from "
            "all cycles of the plan by default."
        )
    elif alone:
        lines.append(
            "- To turn with the strongest cycle alone (`mixture: false`) is not shown to cost, so this gives no reason "
            "for the default of `clock`, which draws from all cycles of the plan."
        )
    return "\n".join(lines)
