"""The answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.studies.comparison import Place
from fints.studies.comparison.sample import SAMPLE
from fints.studies.comparison.wording import needed, p_value, ruled, sentence, times
from fints.studies.cross_asset.gains import BAND, CYCLE, ENCODINGS, alone, interactions, said, split, together
from fints.studies.cross_asset.tasks import APART, LED
from fints.studies.intervals import t_interval

if TYPE_CHECKING:
    from fints.studies.comparison import Contrast, Results

MAIN = "bare"


def verdict(results: Results) -> list[str]:
    """Answer the question: the interaction first, then the gains that it compares."""
    found = interactions(results)
    main = [c for c in found if (c.place.task, c.place.mode) == (LED.name, MAIN)]
    lines = [_answer(main, results)]
    lines += [_gains(task, results) for task in (LED.name, APART.name) if results.has(together(CYCLE), task, MAIN)]
    lines += [_parts(task, results) for task in (LED.name,) if split(results, task, MAIN)]
    lines += [_other(contrast, results) for contrast in found if contrast not in main]
    whole = [c for c in results.contrasts if c.place.task == SAMPLE.name or c.place.mode != MAIN]
    return lines + [sentence(contrast, results) for contrast in whole if contrast.place.band == BAND]


def _answer(main: list[Contrast], results: Results) -> str:
    if not main:
        return "The interaction was not measured without covariates and linear start."
    rulings = {contrast.ruling for contrast in main}
    if rulings == {"lower"}:
        word = "Yes: attention across series gains more with the cycle in the encoding"
    elif "lower" in rulings and "higher" not in rulings:
        word = "In part: attention across series gains more with the cycle in the encoding than with some others"
    elif "higher" in rulings:
        word = "No: attention across series gains less with the cycle in the encoding than with some others"
    elif rulings == {"equal"}:
        word = "No: attention across series gains as much without the cycle in the encoding"
    else:
        word = "Cannot be told: whether attention across series gains more with the cycle in the encoding"
    parts = "; ".join(
        f"the ratio of errors with and without the others is {times(c)} with {c.first} of what it is with {c.second} "
        f"({ruled(c)}, Holm p = {p_value(c)}{_needs(c)})"
        for c in main
    )
    return f"{word}, on {results.tasks[LED.name].title}, {results.seeds} seeds: {parts}."


def _needs(contrast: Contrast) -> str:
    return f"; seeds needed: {needed(contrast)}" if contrast.ruling == "undecided" and contrast.seeds > 1 else ""


def _gains(task: str, results: Results) -> str:
    contrasts = {
        kind: results.contrast(together(kind), alone(kind), Place(task, MAIN, BAND))
        for kind in ENCODINGS
        if results.has(together(kind), task, MAIN)
    }
    parts = ", ".join(f"{times(c)} with {kind} ({ruled(c)}, p = {p_value(c)})" for kind, c in contrasts.items())
    return f"On {results.tasks[task].title}, attending to the others leaves of the error: {parts}."


def _parts(task: str, results: Results) -> str:
    """Say how much of cycle and residual forecasts say."""
    parts = []
    for arm in split(results, task, MAIN):
        cycle, residual = (t_interval(said(results, arm, task, MAIN, part)) for part in ("cycle", "residual"))
        parts.append(f"{arm} {100 * cycle.mean:.0f} % and {100 * residual.mean:.0f} %")
    shares = ", ".join(parts)
    return f"Of cycle and residual of the followers, forecasts up to the trained horizon say on average: {shares}."


def _other(contrast: Contrast, results: Results) -> str:
    task = results.tasks[contrast.place.task].title
    return (
        f"Interaction on {task} ({contrast.place.mode}): the ratio of errors with and without the others is "
        f"{times(contrast)} with {contrast.first} of what it is with {contrast.second}: {ruled(contrast)} (Holm p = "
        f"{p_value(contrast)}{_needs(contrast)})."
    )
