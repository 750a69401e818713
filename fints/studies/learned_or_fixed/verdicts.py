"""The answer in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from fints.studies.comparison.wording import needed, percent, seeds_in_words, sentence, times, widest_undecided
from fints.studies.learned_or_fixed import arms
from fints.studies.learned_or_fixed.moves import moves
from fints.studies.learned_or_fixed.reported import found_here

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.comparison import Contrast, Results

LEARNED = ((arms.PRIOR, arms.FIXED), (arms.FAST, arms.FIXED), (arms.COSINE_LEARNED, arms.COSINE))
"""The prior's frequencies as a start, against the same kept."""

STARTS = ((arms.ZERO_FAST, arms.FIXED), (arms.RANDOM_FAST, arms.FIXED), (arms.ZERO, arms.FIXED))
"""Other starts that are learned, against the fixed prior."""

GROUPS = (
    ("Frequencies learned from zero or at random have, against the fixed prior,", STARTS),
    ("T-RoPE as published has, against the fixed prior,", ((arms.T_ROPE, arms.FIXED),)),
    (
        "T-RoPE's bank, learned without dependence on the date, has, against it,",
        ((arms.BANK_FAST, arms.FIXED), (arms.BANK_FAST, arms.ALL_PLANES)),
    ),
    ("Learning has, against keeping that bank as drawn,", ((arms.BANK_FAST, arms.BANK),)),
    ("Learning has, against keeping frequencies drawn at random,", ((arms.RANDOM_FAST, arms.RANDOM),)),
    ("Told periods 5 % wrong, ClockRoPE that learns has, against the same kept,", ((arms.WRONG_FAST, arms.WRONG),)),
)
"""What further sentences speak of."""


HALF = 0.5
"""Share of planes that come nearer by chance."""


def verdict(results: Results) -> list[str]:
    """Answer the question; then other starts, banks, wrong periods, what was reported, and where learning goes."""
    said = [_learning(_of(results, LEARNED), results)]
    for what, pairs in GROUPS:
        said += _group(what, pairs, results)
    return [*said, _signs(results), *_directions(results)]


def _learning(contrasts: Sequence[Contrast], results: Results) -> str:
    if not contrasts:
        return "Learning was not held against keeping."
    counted = f"learned from the prior's, they have {_counted(contrasts)}"
    gains = [contrast for contrast in contrasts if contrast.ruling == "lower"]
    if gains:
        return (
            f"Learning ClockRoPE's frequencies can gain over keeping them: {counted}. "
            f"{sentence(min(gains, key=lambda c: c.p), results)} This speaks against `learn=False` as the default."
        )
    if all(contrast.ruling != "undecided" for contrast in contrasts):
        head = "No: learning ClockRoPE's frequencies gains nothing over keeping them"
    elif any(contrast.ruling == "higher" for contrast in contrasts):
        head = "No: learning ClockRoPE's frequencies costs more than it gains over keeping them"
    else:
        head = "No gain from learning ClockRoPE's frequencies is found, and none is ruled out"
    return f"{head}: {counted}{_open(contrasts)}. `learn=False` stays the default."


def _group(what: str, pairs: Sequence[tuple[str, str]], results: Results) -> list[str]:
    contrasts = _of(results, pairs)
    if not contrasts:
        return []
    said = f"{what} {_counted(contrasts)}{_open(contrasts)}."
    differing = [contrast for contrast in contrasts if contrast.differs]
    if differing:
        said += " Farthest: " + sentence(max(differing, key=lambda c: abs(np.log(c.times.mean))), results)
    return [said]


def _counted(contrasts: Sequence[Contrast]) -> str:
    count = Counter(contrast.ruling for contrast in contrasts)
    means = [contrast.times.mean for contrast in contrasts]
    return (
        f"the smaller error in {count['lower']} of {len(contrasts)} comparisons over {seeds_in_words(contrasts)} "
        f"and the larger in {count['higher']}; {count['equal']} are equal within {percent(contrasts[0].margin)}, and "
        f"{count['undecided']} cannot be told apart (ratios between {min(means):.2f} and {max(means):.2f})"
    )


def _open(contrasts: Sequence[Contrast]) -> str:
    widest = widest_undecided(contrasts)
    if widest is None:
        return ""
    return (
        f"; the widest of these, {widest.first} over {widest.second} on {widest.place.task}, is {times(widest)} and "
        f"would need, in seeds, {needed(widest)}"
    )


def _signs(results: Results) -> str:
    """Say of every reported sign how often it is found."""
    by_claim: dict[str, list[str]] = {}
    for claim, contrast, sign in found_here(results):
        key = f"“{claim.text}” ({claim.figure})"
        by_claim.setdefault(key, []).append(f"{sign} on {contrast.place.task}{_mode(contrast, results)}")
    if not by_claim:
        return "Nothing here speaks of the signs that were reported."
    return (
        "Of what was reported for ClockRoPE, the sign here is: "
        + "; ".join(f"{key}: {', '.join(signs)}" for key, signs in by_claim.items())
        + "."
    )


def _directions(results: Results) -> list[str]:
    """Say where learning goes, arm by arm."""
    ways: dict[str, list[str]] = {"towards them": [], "away from them": [], "neither way": []}
    hits = []
    for move in moves(results):
        name, share = f"`{move.arm}` on {move.task}", move.nearer
        start, end = (100 * move.resolved(after=after) for after in (False, True))
        hits.append(f"{name} {start:.0f} to {end:.0f} %")
        if share is not None:
            decided = share.n > 1 and share.excludes(HALF)
            way = ("towards them" if share.mean > HALF else "away from them") if decided else "neither way"
            ways[way].append(f"{name} ({100 * share.mean:.0f} % of planes come nearer)")
    going = "; ".join(f"{way} {', '.join(names)}" for way, names in ways.items() if names)
    said = [f"Seen from the true frequencies, learning moves planes {going}."] if going else []
    if hits:
        said.append(
            f"Planes that are within half a turn per window of a true one, before and after: {', '.join(hits)}."
        )
    return said


def _mode(contrast: Contrast, results: Results) -> str:
    return f" ({contrast.place.mode})" if len(results.modes) > 1 else ""


def _of(results: Results, pairs: Sequence[tuple[str, str]]) -> list[Contrast]:
    return [contrast for contrast in results.contrasts if (contrast.first, contrast.second) in pairs]
