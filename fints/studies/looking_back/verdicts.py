"""The answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.comparison.sample import SAMPLE
from fints.studies.comparison.wording import p_value, percent, sentence, times
from fints.studies.looking_back.readings import read
from fints.studies.looking_back.tasks import ECHOES, RHYTHMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.comparison import Results
    from fints.studies.looking_back.readings import Height

ROPE, CYCLE = "rope", "cycle"
BOTH_FOLD, BOTH_SYM = "both (fold)", "both (sym)"
CLOCK_FOLD, CLOCK_SYM = "clock (fold)", "clock (sym)"

OVER_ROPE = ((BOTH_FOLD, ROPE), (CLOCK_FOLD, ROPE), (CYCLE, ROPE))
SIGNS = ((BOTH_SYM, BOTH_FOLD), (CLOCK_SYM, CLOCK_FOLD))
DIFFERENCES = OVER_ROPE + SIGNS

CALLED_FOR = {ECHOES.name: ("one day back", "one week back"), RHYTHMS.name: ("one week back",)}
"""What each routine has to be told of: of phases that repeat by the week, a week back tells more than a day back."""


def verdict(results: Results) -> list[str]:
    """Answer the question on routines without covariates, then tell what differs, and what real bars show."""
    found = read(results, DIFFERENCES)
    bare = [height for height in found if height.contrast.place.mode == "bare"]
    said = [_answer(bare, results)]
    said += [_task(task, bare, results) for task in CALLED_FOR if task in results.tasks]
    said += [_over_rope(bare), _signs(found, results)]
    if SAMPLE.name in results.tasks:
        said.append(_sample([height for height in found if height.contrast.place.task == SAMPLE.name]))
    if "whole" in results.modes:
        said.append(
            _whole([h for h in found if h.contrast.place.mode == "whole" and h.contrast.place.task in CALLED_FOR])
        )
    return said + [sentence(contrast, results) for contrast in results.contrasts if contrast.differs]


def own(found: Sequence[Height]) -> list[Height]:
    """Return the heights themselves, without comparisons of arms."""
    return [height for height in found if height.contrast.second == height.peak.name]


def _wanted(found: Sequence[Height]) -> list[Height]:
    """Return the heights of peaks that a routine calls for."""
    return [h for h in own(found) if h.peak.name in CALLED_FOR.get(h.contrast.place.task, ())]


def _answer(bare: Sequence[Height], results: Results) -> str:
    wanted = _wanted(bare)
    looked, open_ = [h for h in wanted if h.looked_at], [h for h in wanted if h.contrast.ruling == "undecided"]
    if 2 * len(open_) > len(wanted):
        word = f"{results.seeds} seeds cannot tell"
    else:
        word = "Yes" if len(looked) == len(wanted) else "Mostly" if 2 * len(looked) > len(wanted) else "Not shown"
    said = (
        f"{word}: trained models look back where the routine has something to tell in {len(looked)} of {len(wanted)} "
        f"readings (routine, encoding, distance; {results.seeds} seeds, Holm over all readings)"
    )
    if not open_:
        return f"{said}."
    worst = max(open_, key=lambda height: height.contrast.needs() or 0)
    needs = worst.contrast.needs()
    count = "no number of seeds would" if needs is None else f"about {needs:,} seeds would be needed to"
    return (
        f"{said}; {len(open_)} cannot be told, the widest being {worst.contrast.first} on {worst.contrast.place.task}, "
        f"{worst.peak.name} at {times(worst.contrast)}: {count} find that with a power of 80 % before correction."
    )


def _task(task: str, bare: Sequence[Height], results: Results) -> str:
    parts = []
    for name in CALLED_FOR[task]:
        of = [h for h in own(bare) if h.contrast.place.task == task and h.peak.name == name]
        told = ", ".join(
            f"{times(h.contrast)} with {h.contrast.first}{'' if h.looked_at else ' (not certain)'}" for h in of
        )
        parts.append(f"{name} a bar gets, of what {of[0].peak.beside} get, {told}")
    return f"On {results.tasks[task].title}, " + "; ".join(parts) + "."


def _over_rope(bare: Sequence[Height]) -> str:
    compared = [
        h for h in bare if (h.contrast.first, h.contrast.second) in OVER_ROPE and h.contrast.place.task in CALLED_FOR
    ]
    wanted = [h for h in compared if h.peak.name in CALLED_FOR[h.contrast.place.task]]
    higher = [h for h in wanted if h.contrast.ruling == "higher"]
    lower = [h for h in wanted if h.contrast.ruling == "lower"]
    said = (
        f"Against RoPE the peaks that the routines call for are higher with a cycle in the planes in {len(higher)} of "
        f"{len(wanted)} comparisons, lower in {len(lower)}"
    )
    return f"{said}{_listed(higher + lower)}."


def _signs(found: Sequence[Height], results: Results) -> str:
    compared = [h for h in found if (h.contrast.first, h.contrast.second) in SIGNS]
    differ = [h for h in compared if h.contrast.differs]
    if not compared:
        return "Symmetric and folded laws were not compared."
    equal = sum(h.contrast.equal for h in compared)
    if not differ:
        widest = max(float(np.exp(abs(h.contrast.logs.mean()))) for h in compared)
        return (
            f"Symmetric or folded makes no difference to where attention looks that is shown: none of {len(compared)} "
            f"comparisons of heights has one ({_seeds(compared)} seeds; {equal} equal within "
            f"{percent(results.margin)}; the largest mean ratio, or one over it, is {widest:.2f}), as the argument of "
            "mirror images in the study `fold-or-symmetric` says."
        )
    return (
        f"Symmetric and folded laws differ in {len(differ)} of {len(compared)} heights{_listed(differ)}, against the "
        "argument of mirror images in the study `fold-or-symmetric`."
    )


def _sample(found: Sequence[Height]) -> str:
    of = own(found)
    looked = [h for h in of if h.looked_at]
    lower = [h for h in of if h.contrast.ruling == "lower"]
    told = "; ".join(
        f"{h.contrast.first} ({h.contrast.place.mode}) {h.peak.name} {times(h.contrast)}" for h in looked + lower
    )
    undecided = len(of) - len(looked) - len(lower)
    return (
        f"On real daily volume attention stands out at one or two weeks in {len(looked)} of {len(of)} readings, below "
        f"its surroundings in {len(lower)}, and {undecided} show neither" + (f": {told}." if told else ".")
    )


def _whole(found: Sequence[Height]) -> str:
    wanted = _wanted(found)
    looked = [h for h in wanted if h.looked_at]
    return (
        f"Given calendar covariates and the linear start as well, attention still looks there in {len(looked)} of "
        f"{len(wanted)} readings ({_seeds(wanted)} seeds){_listed([h for h in wanted if not h.looked_at], 'not')}."
    )


def _seeds(found: Sequence[Height]) -> str:
    """Say over how many seeds, from fewest to most."""
    counts = sorted({len(height.contrast.logs) for height in found})
    return " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))


def _listed(found: Sequence[Height], before: str = "") -> str:
    if not found:
        return ""
    word = f"{before} " if before else ""
    parts = [
        f"{word}{h.contrast.first}"
        + ("" if h.contrast.second == h.peak.name else f" over {h.contrast.second}")
        + f" on {h.contrast.place.task}, {h.peak.name}: {times(h.contrast)}, p = {p_value(h.contrast)}"
        for h in found
    ]
    return " (" + "; ".join(parts) + ")"
