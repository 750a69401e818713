"""The answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.comparison import BARE, sentence
from fints.studies.comparison.wording import needed, percent, times, widest_undecided
from fints.studies.several_periods.arms import ALONE, CYCLE, MIXTURE, WAYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.comparison import Contrast, Results


def among_ways(results: Results) -> list[Contrast]:
    """Return the comparisons of the ways to share planes out."""
    return [c for c in results.contrasts if c.first in WAYS and c.second in WAYS]


def matters(contrast: Contrast) -> bool:
    """Tell whether a difference stands that is not within the margin as a whole."""
    return contrast.differs and not contrast.equal


def losers(results: Results) -> list[str]:
    """Return the ways that are somewhere shown to be worse than another, by more than the margin."""
    lost = {
        contrast.second if contrast.ruling == "lower" else contrast.first
        for contrast in among_ways(results)
        if contrast.place.mode == BARE.name and matters(contrast)
    }
    return [way for way in WAYS if way in lost]


def verdict(results: Results) -> list[str]:
    """Answer the question; then every difference, and what one period alone and plain cycle planes come to."""
    ways = among_ways(results)
    bare = [contrast for contrast in ways if contrast.place.mode == BARE.name]
    said = [_answer(bare, results)]
    said += [sentence(contrast, results) for contrast in bare if contrast.differs]
    other = [contrast for contrast in ways if contrast.place.mode != BARE.name]
    if other:
        said.append(_whole(other, results))
    said += [line for line in (_against(results, ALONE), _against(results, CYCLE)) if line]
    return said


def _answer(contrasts: Sequence[Contrast], results: Results) -> str:
    if not contrasts:
        return "The ways were not compared."
    found = [contrast for contrast in contrasts if matters(contrast)]
    equal = sum(contrast.equal for contrast in contrasts)
    ratios = [contrast.times.mean for contrast in contrasts]
    span = f"ratios lie between {min(ratios):.2f} and {max(ratios):.2f}"
    lost = losers(results)
    kept = [way for way in WAYS if way not in lost]
    if found and kept:
        return (
            f"Not {' nor '.join(lost)}: that is shown to be worse than another way somewhere, "
            f"{' and '.join(kept)} nowhere. {len(found)} of {len(contrasts)} comparisons without covariates differ by "
            f"more than {percent(results.margin)} allows for ({span})."
        )
    if found:
        return (
            f"It depends: {len(found)} of {len(contrasts)} comparisons without covariates differ, and every way loses "
            f"somewhere ({span})."
        )
    if equal == len(contrasts):
        return f"It makes no difference: all {len(contrasts)} comparisons are equal within {percent(results.margin)}."
    return (
        f"No way is shown to be better: none of {len(contrasts)} comparisons without covariates with {results.seeds} "
        f"seeds shows one beyond the margin ({span}); {equal} are equal within {percent(results.margin)}"
        f"{_open(contrasts)}."
    )


def _open(contrasts: Sequence[Contrast]) -> str:
    """Say of the widest open comparison how many seeds it would need."""
    widest = widest_undecided(contrasts)
    if widest is None:
        return ""
    return (
        f", and of the others the widest, {widest.first} over {widest.second} on {widest.place.task}, is "
        f"{times(widest)} and would need, in seeds, {needed(widest)}"
    )


def _whole(contrasts: Sequence[Contrast], results: Results) -> str:
    found = [contrast for contrast in contrasts if contrast.differs]
    if found:
        return "With covariates and the linear start: " + " ".join(sentence(c, results) for c in found)
    return (
        f"With covariates and the linear start none of {len(contrasts)} comparisons shows a difference"
        f"{_open(contrasts)}."
    )


def _against(results: Results, arm: str) -> str:
    """Say what an arm that shares nothing out has against the mixture."""
    contrasts = [c for c in results.contrasts if (c.first, c.second) == (arm, MIXTURE)]
    if not contrasts:
        return ""
    what = {
        ALONE: "Planes for the strongest period alone, `mixture: false` of `clock`",
        CYCLE: "Plain cycle planes, one line a period and nothing drawn",
    }[arm]
    parts = [f"{times(contrast)} on {contrast.place.task} ({_short(contrast)})" for contrast in contrasts]
    return f"{what}, against the mixture, beyond the trained horizon: {'; '.join(parts)}."


def _short(contrast: Contrast) -> str:
    return {"lower": "less", "higher": "more", "equal": "equal", "undecided": "not distinguishable"}[contrast.ruling]
