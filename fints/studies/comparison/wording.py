"""What contrasts say, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.wording import factor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fints.studies.comparison.contrast import Contrast
    from fints.studies.comparison.results import Results

BANDS = {"within": "up to the trained horizon", "beyond": "beyond the trained horizon", "all": "over all horizons"}


CLOSE = 2.0
"""Ratios up to this, and down to one over it, are written to three digits."""

SMALLEST_P = 0.001


def percent(share: float) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> percent(0.05), percent(0.025)
    ('5 %', '2.5 %')
    """
    return f"{100 * share:g} %"


def ruled(contrast: Contrast) -> str:
    """Say what may be said of a contrast, in a few words.

    A difference that stands may also lie within the margin: then both are said.
    """
    if contrast.identical:
        return "identical"
    within = f"within {percent(contrast.margin)}"
    match contrast.ruling:
        case "equal":
            return f"equal {within}"
        case "undecided":
            return "not distinguishable"
        case ruling:
            return f"{ruling}, but {within}" if contrast.equal else ruling


def needed(contrast: Contrast) -> str:
    """Say how many seeds would find the smallest difference of interest, and the observed one."""
    small, seen = contrast.needs(contrast.smallest), contrast.needs()
    return f"{_count(small)} for {percent(contrast.smallest)}, {_count(seen)} for the observed one"


def widest_undecided(contrasts: Iterable[Contrast]) -> Contrast | None:
    """Return the undecided comparison that needs most seeds; None where all are decided, or have one seed."""
    undecided = [contrast for contrast in contrasts if contrast.ruling == "undecided" and contrast.seeds > 1]
    return max(undecided, key=lambda contrast: contrast.needs(contrast.smallest) or 0, default=None)


def seeds_in_words(contrasts: Sequence[Contrast]) -> str:
    """Say over how many seeds comparisons were made: ``5 to 20 seeds``."""
    fewest, most = min(c.seeds for c in contrasts), max(c.seeds for c in contrasts)
    return f"{most} seed{'s' * (most > 1)}" if fewest == most else f"{fewest} to {most} seeds"


def _count(seeds: int | None) -> str:
    return "no number" if seeds is None else f"{seeds:,}"


def sentence(contrast: Contrast, results: Results) -> str:
    """Say in one sentence what a contrast came to; of an undecided one also how many seeds would decide it.

    Returns
    -------
    str
        Ends with a full stop.
    """
    task, mode = results.tasks[contrast.place.task], results.modes[contrast.place.mode]
    where = f"{BANDS[contrast.place.band]} on {task.title}"
    if len(results.modes) > 1:
        where += f" ({mode.name})"
    said = (
        f"{contrast.first} has {times(contrast)} the error of {contrast.second} {where}: {ruled(contrast)}"
        f" ({contrast.seeds} seeds, Holm p = {p_value(contrast)})"
    )
    if contrast.ruling == "undecided" and contrast.seeds > 1:
        return f"{said}; seeds needed for a power of 80 %: {needed(contrast)}."
    return f"{said}."


def times(contrast: Contrast) -> str:
    """Write the ratio with its interval, to three digits where it is close to one."""
    interval = contrast.times
    if interval.n == 1 or not all(1 / CLOSE < end < CLOSE for end in (interval.low, interval.high)):
        return factor(interval)
    return f"{interval.mean:.3f} times ({interval.low:.3f} to {interval.high:.3f})"


def p_value(contrast: Contrast) -> str:
    """Write the corrected p-value.

    Examples
    --------
    ``0.034``, ``< 0.001``.
    """
    p = contrast.p if contrast.p_holm is None else contrast.p_holm
    return "< 0.001" if p < SMALLEST_P else f"{p:.3f}"


def tally(results: Results) -> str:
    """Say how much of what was compared is decided, and, in the quick budget, that the rest cannot be told by it."""
    contrasts = results.contrasts
    counts = {kind: sum(c.ruling == kind for c in contrasts) for kind in ("lower", "higher", "equal", "undecided")}
    open_ = counts["undecided"]
    said = (
        f"Of {len(contrasts)} comparisons over {results.seeds} seeds {counts['lower'] + counts['higher']} show a "
        f"difference after Holm's correction, {counts['equal']} are equal within {percent(results.margin)}, and "
        f"{open_} cannot be told apart."
    )
    if results.budget == "quick" and open_:
        said += " The quick budget cannot tell these; run the full one."
    return said
