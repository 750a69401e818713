"""The answer in words, and the chapter on mirror images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fints.studies.comparison.wording import percent, sentence
from fints.studies.findings import Chapter, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fints.studies.comparison import Contrast, Results

ROUNDING = 1e-3
"""Relative differences of losses that rounding explains after hundreds of steps."""

DIRECTED = ("directed", "off-phase")
"""Tasks with a direction."""

SOFTMAX = ("bare", "whole")
"""Modes in which queries and keys are linear projections, so that the argument of mirror images holds."""


def verdict(results: Results) -> list[str]:
    """Answer the question: what mirror images show first, then what was measured on both kinds of blocks."""
    linear = [contrast for contrast in results.contrasts if contrast.place.mode in SOFTMAX]
    other = [contrast for contrast in results.contrasts if contrast.place.mode not in SOFTMAX]
    said = [_mirrored(results.extra), _measured(linear, "on softmax attention", results)]
    if other:
        where = "on HSTU blocks, where a SiLU behind queries and keys breaks the argument"
        said.append(_measured(other, where, results))
    return [*said, *(sentence(contrast, results) for contrast in results.contrasts if contrast.differs)]


def mirror_chapter(results: Results) -> list[Chapter]:
    """Show the losses of laws and of their mirror images."""
    rows = [
        {
            "law": unit["law"],
            "planes that turned backwards": f"{100 * unit['folded']:.0f} %",
            "steps": str(unit["steps"]),
            "losses apart, mirrored weights": _apart(unit["apart"]),
            "losses apart, same weights": _apart(unit["unmirrored"]),
        }
        for unit in results.extra
    ]
    caption = "Largest difference of the loss of any step between a symmetric law and its folded image"
    return [Chapter("Why folding cannot matter to softmax attention", ARGUMENT, [Table(caption, pd.DataFrame(rows))])]


ARGUMENT = """\
A plane turns the pair (x₀, x₁) of a query and of a key by R(θ). With F = diag(1, −1), R(−θ) = F R(θ) F. So a plane that
turns backwards gives (Fq, Fk) the logits that the plane which turns forwards gives (q, k): turning backwards is the
same as changing the sign of the second of the plane's two rows in the projections of queries and of keys. Softmax
attention projects linearly, without bias, and nothing else reads these rows; AdamW, weight decay, clipping by the norm
and averaged weights all commute with a change of sign. Hence a symmetric law and the folded law of the same
frequencies span the same functions, and train alike from mirrored first weights. First weights are drawn from a
distribution that is symmetric in sign, row by row: mirrored ones are as likely as these. So over seeds both laws have
the same distribution of results on *every* series, directed or not; what differs for one seed is luck. Which way a
plane turns tells before from after only if something fixes the sign of the weights; nothing does.

The table trains symmetric laws and their folded images side by side on the same windows: with mirrored first weights
the losses of all steps are to agree but for rounding, with the same first weights they need not.
"""


def _mirrored(units: Sequence[Mapping[str, Any]]) -> str:
    if not units:
        return "Undecided: mirror images were not trained."
    apart, unmirrored = max(unit["apart"] for unit in units), max(unit["unmirrored"] for unit in units)
    if apart > ROUNDING:
        return (
            "Undecided: the argument that a folded law is the mirror image of a symmetric one fails in practice, where "
            f"losses of mirror images come to differ by {100 * apart:.2g} %."
        )
    exact = "to the last bit" if apart == 0 else f"to {100 * apart:.1g} %"
    steps, count = units[0]["steps"], len(units)
    return (
        "No: averaged over first weights, folding cannot win on softmax attention, whatever the routine, because a "
        "folded law is the mirror image of a symmetric one. From mirrored first weights it repeats the losses of "
        f"{steps} steps {exact} in {count} of {count} trainings; from the same first weights they come to differ by "
        f"up to {100 * unmirrored:.0f} %, which is luck."
    )


def _measured(contrasts: Sequence[Contrast], where: str, results: Results) -> str:
    if not contrasts:
        return f"Nothing was compared {where}."
    wins, losses = ([c for c in contrasts if c.ruling == ruling] for ruling in ("lower", "higher"))
    if wins or losses:
        directed = sum(contrast.place.task in DIRECTED for contrast in wins)
        return (
            f"Measured {where}, folding has the smaller error in {len(wins)} of {len(contrasts)} comparisons "
            f"({directed} of them on directed routines) and the larger in {len(losses)}."
        )
    ratios = [contrast.times.mean for contrast in contrasts]
    equal = sum(contrast.ruling == "equal" for contrast in contrasts)
    return (
        f"Measured {where}, none of {len(contrasts)} comparisons shows a difference (up to {results.seeds} seeds; "
        f"ratios from {min(ratios):.2f} to {max(ratios):.2f}); {equal} are equal within "
        f"{percent(results.margin)}{_power(contrasts)}."
    )


def _power(contrasts: Sequence[Contrast]) -> str:
    """Say how many seeds would find the smallest difference of interest where nothing could be shown."""
    undecided = [contrast for contrast in contrasts if contrast.ruling == "undecided"]
    counts = [needs for contrast in undecided if (needs := contrast.needs(contrast.smallest)) is not None]
    if not counts:
        return ""
    small = percent(undecided[0].smallest)
    return f", and the other {len(undecided)} would need {min(counts):,} to {max(counts):,} seeds each to find {small}"


def _apart(share: float) -> str:
    return "0 (to the last bit)" if share == 0 else f"{100 * share:.2g} %"
