"""The answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.comparison.wording import needed, sentence, times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.studies.comparison import Contrast, Results

T_ROPE = ("t_rope", "t_rope + rope", "t_rope, 4 × steps")

RIVALS = {"rope": "index RoPE", "to_rope, planes": "TO-RoPE"}


def verdict(results: Results) -> list[str]:
    """Answer the question rival by rival, then say where time helps over order."""
    bare = [c for c in results.contrasts if c.place.mode == "bare"]
    said = [_against(rival, bare) for rival in RIVALS]
    said.append(_clocks(bare))
    beside = [c for c in results.contrasts if c.place.mode != "bare"]
    if beside:
        said.append(_whole(beside))
    return [*(s for s in said if s), *(sentence(c, results) for c in results.contrasts if c.differs)]


def _against(rival: str, contrasts: Sequence[Contrast]) -> str:
    """Say where T-RoPE is better and worse than a rival."""
    found = [c for c in contrasts if c.first in T_ROPE and c.second == rival]
    if not found:
        return ""
    wins, losses = ([c for c in found if c.ruling == ruling] for ruling in ("lower", "higher"))
    name = RIVALS[rival]
    if wins and not losses:
        return f"Against {name} T-RoPE wins {_places(wins)}, and loses nowhere ({len(found)} comparisons)."
    if losses and not wins:
        return f"Against {name} T-RoPE wins nowhere and loses {_places(losses)} ({len(found)} comparisons)."
    if wins:
        return f"Against {name} T-RoPE wins {_places(wins)}, and loses {_places(losses)}."
    return f"Against {name} no difference of T-RoPE could be shown in {len(found)} comparisons{_open(found)}."


def _places(contrasts: Sequence[Contrast]) -> str:
    return ", ".join(f"on {c.place.task} {c.place.band} ({c.first}: {times(c)})" for c in contrasts)


def _open(contrasts: Sequence[Contrast]) -> str:
    undecided = [c for c in contrasts if c.ruling == "undecided"]
    if not undecided:
        return ": all are equal within the margin"
    widest = max(undecided, key=lambda c: c.needs(c.smallest) or 0)
    return (
        f"; the widest ({widest.first} on {widest.place.task} {widest.place.band}, {times(widest)}) would need, in "
        f"seeds, {needed(widest)}"
    )


def _clocks(contrasts: Sequence[Contrast]) -> str:
    """Say where knowing the time beside the order helps."""
    found = [c for c in contrasts if (c.first, c.second) == ("to_rope, planes", "rope")]
    if not found:
        return ""
    by = {kind: [c for c in found if c.ruling == kind] for kind in ("lower", "higher", "equal", "undecided")}
    words = {"lower": "helps", "higher": "hurts", "equal": "makes no difference", "undecided": "cannot be judged"}
    parts = [
        f"{words[kind]} on {', '.join(f'{c.place.task} {c.place.band} ({times(c)})' for c in some)}"
        for kind, some in by.items()
        if some
    ]
    return f"Time beside order, in a TO-RoPE that splits the planes, against order alone: it {'; it '.join(parts)}."


def _whole(contrasts: Sequence[Contrast]) -> str:
    """Say what is left with covariates and the linear start."""
    found = [c for c in contrasts if c.differs]
    if not found:
        return (
            f"With calendar covariates and the linear start none of {len(contrasts)} comparisons shows a difference; "
            f"{sum(c.ruling == 'equal' for c in contrasts)} are equal within the margin."
        )
    return f"With calendar covariates and the linear start {len(found)} of {len(contrasts)} comparisons differ."
