"""The answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.comparison.wording import needed, percent, times
from fints.studies.exact_phases.noise import instants, noisy_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.comparison import Contrast, Results

PLANES = 12
"""Planes of a head of the product's default width."""


def verdict(results: Results) -> list[str]:
    """Answer the question: first the arithmetic, then what was trained."""
    same = [c for c in results.contrasts if c.second.startswith("exact")]
    empty = [c for c in results.contrasts if c.second == "none"]
    said = [share_sentence(), _effect(same, results)]
    if empty:
        said.append(_fast(empty))
    return said


def share_sentence() -> str:
    """Say how many planes have noise for a phase."""
    parts = []
    for kind in ("any second, 2020 to 2030", "closes of New York sessions from 2008 on"):
        share = noisy_share(instants()[kind], PLANES)
        parts.append(
            f"{100 * share.above_one:.0f} % above 1 rad and {100 * share.above_tenth:.0f} % above 0.1 ({kind})"
        )
    return (
        f"Of a bank of {PLANES} planes from β_min = 100 s float32 leaves the phases of these with an error: "
        f"{'; '.join(parts)}. In fints phases are exact to 1e-6 rad."
    )


def _effect(contrasts: Sequence[Contrast], results: Results) -> str:
    """Say what the noise does to forecasts."""
    if not contrasts:
        return "Float32 and exact phases were not trained side by side."
    worse, better = ([c for c in contrasts if c.ruling == ruling] for ruling in ("higher", "lower"))
    ratios = [c.times.mean for c in contrasts]
    spread = f"{len(contrasts)} comparisons, ratios from {min(ratios):.2f} to {max(ratios):.2f}"
    if worse and better:
        return (
            f"The noise cuts both ways: of {spread}, float32 is worse in {len(worse)} ({_listed(worse)}) and better in "
            f"{len(better)} ({_listed(better)})."
        )
    if worse:
        return (
            f"The noise costs accuracy: float32 has the larger error in {len(worse)} of {spread} ({_listed(worse)})"
            f"{_rest(contrasts, results)}."
        )
    if better:
        return (
            f"The noise does not cost accuracy, it helps: float32 has the smaller error in {len(better)} of {spread} "
            f"({_listed(better)}): phases that mean nothing cannot be learned by heart."
        )
    return f"An effect of the noise on forecasts could not be shown in any of {spread}{_rest(contrasts, results)}."


def _rest(contrasts: Sequence[Contrast], results: Results) -> str:
    """Say what else there is: what is equal, and the seeds that the widest of what is open would need."""
    equal = sum(c.ruling == "equal" for c in contrasts)
    open_ = [c for c in contrasts if c.ruling == "undecided"]
    said = f"; {equal} are equal within {percent(results.margin)}"
    if not open_:
        return said
    widest = max(open_, key=lambda c: c.needs(c.smallest) or 0)
    return f"{said}; the widest of {len(open_)} others, {_listed([widest])}, would need, in seeds, {needed(widest)}"


def _listed(contrasts: Sequence[Contrast]) -> str:
    return "; ".join(f"{c.first} on {c.place.task}, {c.place.mode}, {c.place.band}: {times(c)}" for c in contrasts)


def _fast(contrasts: Sequence[Contrast]) -> str:
    """Say what planes at β = 100 s alone are worth in float32."""
    better = [c for c in contrasts if c.ruling == "lower"]
    ratios = ", ".join(f"{c.times.mean:.2f} ({c.place.task} {c.place.band})" for c in contrasts)
    said = f"With every plane at β = 100 s, float32 T-RoPE has so many times the error of no position at all: {ratios}"
    if better:
        return f"{said}: better in {len(better)} of {len(contrasts)}, so even there phases are not noise alone."
    if any(c.ruling == "undecided" for c in contrasts):
        return f"{said}: whether it is better cannot be told from {contrasts[0].seeds} seeds."
    return f"{said}: better nowhere, so what it knows of time is noise."
