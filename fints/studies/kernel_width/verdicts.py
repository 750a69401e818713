"""The answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.comparison import BARE, Place, sentence
from fints.studies.comparison.wording import needed, times
from fints.studies.kernel_width.board import expected, optima, reading
from fints.studies.kernel_width.grid import COSINE, DIVISORS, FULLEST, TRUNCATIONS, WIDTHS, arm_name, fraction
from fints.studies.kernel_width.optimum import slope
from fints.studies.kernel_width.theory import enough
from fints.studies.wording import factor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.comparison import Contrast, Results
    from fints.studies.intervals import Interval
    from fints.studies.kernel_width.optimum import Optimum

DEFAULT = (12.0, 6)
"""T/σ and s of `ClockConfig`."""


def verdict(results: Results) -> list[str]:
    """Answer the question, say how flat the optimum is, and what truncation, default and real bars come to."""
    found = optima(results)
    said = [_answer(results, found), *(_rise(results, name, one) for name, one in found.items())]
    said += [line for line in (_truncation(results), _default(results), _one_line(results)) if line]
    said += [
        sentence(contrast, results)
        for contrast in results.contrasts
        if contrast.place.mode != BARE.name or contrast.place.task not in WIDTHS
    ]
    return said


def moves(found: Mapping[str, Optimum]) -> Interval | None:
    """Return how the best width goes with the routine's; None where too few routines were run."""
    return slope(tuple(found.values())) if len(found) > 1 else None


def _answer(results: Results, found: Mapping[str, Optimum]) -> str:
    going = moves(found)
    if going is None:
        return "Nothing can be said: too few routines were run."
    where = "; ".join(
        f"for a routine of width {fraction(one.own)} at σ = {fraction(one.best)} "
        f"(resampled seeds: {fraction(one.ends[0])} to {fraction(one.ends[1])})"
        for one in found.values()
    )
    speed = f"the exponent with which it follows the routine is {going.mean:.2f} ({going.low:.2f} to {going.high:.2f})"
    follows, every = going.low > 0, list(found.values())
    off = [one for one in every if one.refuted]
    if off:
        lead = f"No: {len(off)} of {len(found)} optima are shown not to be where the theory of kernels puts them"
        lead += ", all of them at wider kernels" if all(one.best < one.own for one in off) else ""
        lead += ", though they move with the routine" if follows else ""
    elif follows and all(one.agrees and one.tells for one in every):
        lead = "Yes, as far as the grid resolves it: the best σ is the routine's own width"
    elif follows and all(one.agrees for one in every):
        lead = (
            "In part: the best σ grows with the routine's width, but not every optimum can be told from its neighbours"
        )
    else:
        lead = (
            f"{min(len(one.errors) for one in every)} seeds cannot tell: no σ is shown to be better than the theory's, "
            f"nor the best to be it{_open(results, found)}"
        )
    return f"{lead}. The error is least {where}; {speed}, where the theory has 1."


def _open(results: Results, found: Mapping[str, Optimum]) -> str:
    """Say how many seeds would tell the best σ from the theory's, for the routine that needs most."""
    contrasts = [
        results.contrast(arm_name(one.best, FULLEST), arm_name(one.own, FULLEST), Place(name, BARE.name, "all"))
        for name, one in found.items()
        if one.best != one.own
    ]
    if not contrasts or contrasts[0].seeds == 1:
        return ""
    widest = max(contrasts, key=lambda contrast: contrast.needs(contrast.smallest) or 0)
    return f" (seeds needed for {widest.first} over {widest.second}: {needed(widest)})"


def _rise(results: Results, name: str, one: Optimum) -> str:
    """Say what the ends of the grid cost."""
    theory = expected(results, name)
    own = DIVISORS.index(one.own)
    ends = (0, len(DIVISORS) - 1)
    parts = [
        f"{factor(one.rise(DIVISORS[i]))} at σ = {fraction(DIVISORS[i])} (theory {theory[i] / theory[own]:.2f})"
        for i in ends
        if i != own
    ]
    level = one.errors[:, own].mean()
    return (
        f"Off the optimum, on {results.tasks[name].title}: the error is {' and '.join(parts)} that at the routine's "
        f"own width, which is {level:.2f} (Gaussian-process regression of three days would have {theory[own]:.2f}, no "
        f"forecast at all 1)."
    )


def _truncation(results: Results) -> str:
    """Say whether too small a truncation costs where the theory says so, and nowhere else."""
    held: list[tuple[bool, Contrast, float]] = []
    for name, own in WIDTHS.items():
        needed = min(enough(reading(results, name).period, reading(results, name).width), FULLEST)
        for s in TRUNCATIONS[:-1]:
            first, second = arm_name(own, s), arm_name(own, FULLEST)
            if results.has(first, name, BARE.name) and results.has(second, name, BARE.name):
                contrast = results.contrast(first, second, Place(name, BARE.name, "all"))
                held.append((s < needed, contrast, needed))
    if not held:
        return ""
    short = [(contrast, needed) for is_short, contrast, needed in held if is_short]
    long = [(contrast, needed) for is_short, contrast, needed in held if not is_short]
    costs = sum(contrast.ruling == "higher" for contrast, _ in short)
    free = sum(contrast.ruling != "higher" for contrast, _ in long)
    listed = "; ".join(
        f"{contrast.first} has {times(contrast)} the error of s={FULLEST} (the theory asks for s ≥ {needed:.1f})"
        for _, contrast, needed in held
    )
    return (
        f"A truncation below 2σ* = T/πσ costs, after Holm's correction, in {costs} of {len(short)} cases in which it "
        f"is below, and not in {free} of {len(long)} in which it is not: {listed}."
    )


def default_contrasts(results: Results) -> list[Contrast]:
    """Return the default kernel against the one that matches, for every routine of another width than it expects."""
    return [contrast for contrast in _matched(results, arm_name(*DEFAULT)) if WIDTHS[contrast.place.task] != DEFAULT[0]]


def _matched(results: Results, first: str) -> list[Contrast]:
    """Hold an arm against the kernel that matches, wherever both were run."""
    return [
        results.contrast(first, arm_name(own, FULLEST), Place(name, BARE.name, "all"))
        for name, own in WIDTHS.items()
        if results.has(first, name, BARE.name) and results.has(arm_name(own, FULLEST), name, BARE.name)
    ]


def _default(results: Results) -> str:
    found = default_contrasts(results)
    if not found:
        return ""
    return "The default (σ = T/12, s = 6) where the routine is narrower: " + " ".join(
        sentence(contrast, results) for contrast in found
    )


def _one_line(results: Results) -> str:
    """Say what it costs to leave all harmonics out."""
    found = _matched(results, COSINE)
    if not found:
        return ""
    return "No harmonics at all (the cosine kernel): " + " ".join(sentence(contrast, results) for contrast in found)
