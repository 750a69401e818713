"""Figures of a search: how it went, what mattered, and the valley around every cycle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fints.report.backtest_svg import WIDTH, Axes, Canvas, Picture, Scale, axes, spanning
from fints.report.tuning import called, in_minutes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fints.report.tuning import Mark, TuningReport
    from fints.tuning import TrialSummary

BLUE, ORANGE, INK, GREY, WHITE = "#0072b2", "#d55e00", "#1d2733", "#8a949e", "#ffffff"
TRACES = (ORANGE, BLUE, "#2da596", INK)
"""Of the best three trials and of the first."""

DASHES = {"tuned": "", "detected": "7 3", "configured": "7 3", "prior": "2 3"}
SHADES = {"tuned": ORANGE, "detected": INK, "configured": INK, "prior": "#5c6773"}

FAR = 2.0
"""Errors so many interquartile ranges above the upper quartile are drawn at the upper edge."""
MOST_BARS = 12
ROW = 24.0
_MOST_DIGITS = 12
_LEFT = 64.0
_LABELS = 15.0
"""Height of a line of labels."""


def history(report: TuningReport) -> Picture | None:
    """Draw the error of every trial in turn, and the lowest so far; None where no trial has one."""
    trials = report.drawn_trials()
    if not trials:
        return None
    top = _ceiling([_value(one) for one in trials])
    pair = axes([one.number for one in trials], np.clip([_value(one) for one in trials], None, top))
    pair = Axes(pair.canvas, spanning([one.number for one in trials], _LEFT, WIDTH - 10), pair.y)
    pair.frame("trial", _error_words(report), _writer(pair.y))
    complete = [one for one in trials if one.state == "complete"]
    lowest_yet = [float(value) for value in np.minimum.accumulate([_value(one) for one in complete])]
    steps = _stairs([one.number for one in complete], lowest_yet, pair.x.high)
    pair.line(steps[0], steps[1], ORANGE, width=2.0)
    for one in trials:
        _spot(pair, one.number, min(_value(one), top), one)
    lowest = min(complete or trials, key=_value)
    alt = (
        f"Error of {len(trials)} trials in turn. The lowest, {_value(lowest):.4g}, is that of trial {lowest.number}; "
        f"the first has {_value(trials[0]):.4g}."
    )
    return Picture(pair.canvas.drawn(alt), alt, f"{_KEY} The line: the lowest so far.{_cut(trials, top)}")


def importance(report: TuningReport) -> Picture | None:
    """Draw how much of the differences between trials each parameter explains; None where that is not known."""
    shares = sorted(report.result.importance.items(), key=lambda item: -item[1])
    if not shares:
        return None
    drawn = shares[:MOST_BARS]
    canvas = Canvas(WIDTH, 34 + ROW * len(drawn))
    scale = Scale(0.0, max(share for _, share in drawn) or 1.0, 170.0, WIDTH - 44)
    canvas.text(0, 12, "share of the differences explained, %", kind="title")
    for place, (name, share) in enumerate(drawn):
        at = 24 + ROW * place
        canvas.box((scale(0), max(scale(share), scale(0) + 1)), (at, at + ROW - 8), BLUE)
        canvas.text(0, at + 12, _shortened(called(name)), kind="name")
        canvas.text(scale(share) + 6, at + 12, f"{100 * share:.0f}")
    first, share = shares[0]
    alt = f"Importance of the parameters; {called(first)} explains most, {100 * share:.0f} % of the differences."
    more = f" {len(shares) - len(drawn)} more explain less." if len(shares) > len(drawn) else ""
    return Picture(canvas.drawn(alt), alt, f"With few trials these shares are rough.{more}")


def valleys(report: TuningReport) -> dict[str, Picture]:
    """Draw for every cycle the error over its period, with the periods it was detected at, usual and tuned to."""
    drawn = {cycle: _valley(report, cycle) for cycle in report.cycles()}
    return {cycle: picture for cycle, picture in drawn.items() if picture is not None}


def _valley(report: TuningReport, cycle: str) -> Picture | None:
    trials = [one for one in report.drawn_trials() if cycle in one.start]
    if not trials:
        return None
    marks, top = report.marks(cycle), _ceiling([_value(one) for one in trials])
    periods = [value for one in trials for value in (one.start[cycle], one.end.get(cycle, one.start[cycle]))]
    near = [mark for mark in marks if _within(mark.period, periods)]
    pair = axes([1.0], np.clip([_value(one) for one in trials], None, top))
    head = 26.0 + _LABELS * len(near)
    x = spanning([*periods, *(mark.period for mark in near)], _LEFT, WIDTH - 10)
    pair = Axes(pair.canvas, x, Scale(pair.y.low, pair.y.high, pair.y.start, head))
    unit = cycle.rpartition(" ")[2]
    pair.frame(f"period, {unit}", f"{cycle}: {_error_words(report)}", _writer(pair.y))
    for row, mark in enumerate(near):
        _point_at(pair, mark, 26.0 + _LABELS * row)
    for one in trials:
        start, end = one.start[cycle], one.end.get(cycle, one.start[cycle])
        at = pair.y(min(_value(one), top))
        pair.canvas.line([pair.x(start), pair.x(end)], [at, at], GREY, width=1.2)
        _spot(pair, end, min(_value(one), top), one)
    said = "; ".join(f"{mark.kind} at {mark.period:.5g}" for mark in marks)
    lowest = min(trials, key=_value)
    alt = (
        f"Error over the period of {cycle} in {len(trials)} trials; lowest at "
        f"{lowest.end.get(cycle, lowest.start[cycle]):.5g} {unit}. {said[:1].upper()}{said[1:]}."
    )
    out = [f"{mark.kind} {mark.period:.5g}" for mark in marks if mark not in near]
    beyond = f" Outside of what was tried: {', '.join(out)}." if out else ""
    caption = f"{_KEY} A grey line leads there from where training began.{beyond}{_cut(trials, top)}"
    return Picture(pair.canvas.drawn(alt), alt, caption)


def trajectories(report: TuningReport) -> dict[str, Picture]:
    """Draw for every cycle how its period moved in training, in the best trials and the first."""
    drawn = {cycle: _trajectory(report, cycle) for cycle in report.cycles()}
    return {cycle: picture for cycle, picture in drawn.items() if picture is not None}


def _trajectory(report: TuningReport, cycle: str) -> Picture | None:
    ranks = [one.number for one in report.result.top]
    traces = report.result.trajectories
    ordered = [*(number for number in ranks if number in traces), *(n for n in traces if n not in ranks)]
    told = {n: traces[n][cycle] for n in ordered if cycle in traces[n] and len(traces[n][cycle]) > 1}
    if not told:
        return None
    names = _ranks(report, told)
    steps = [step for points in told.values() for step, _ in points]
    pair = axes(steps, [period for points in told.values() for _, period in points], left=_LEFT)
    head = 26.0 + _LABELS * len(told)
    pair = Axes(pair.canvas, pair.x, Scale(pair.y.low, pair.y.high, pair.y.start, head))
    pair.frame("training step", f"period of {cycle}", _writer(pair.y))
    for row, (number, points) in enumerate(told.items()):
        colour = TRACES[row % len(TRACES)]
        pair.line([step for step, _ in points], [period for _, period in points], colour, width=2.0)
        at = 26.0 + _LABELS * row
        pair.canvas.line([_LEFT + 6, _LEFT + 26], [at, at], colour, width=2.4)
        pair.canvas.text(_LEFT + 32, at + 4, names[number], kind="name")
    first = next(iter(told))
    start, end = told[first][0][1], told[first][-1][1]
    moved = f"{100 * (end / start - 1):+.2g} %".replace("-", "−")
    alt = f"Period of {cycle} by training step. In {names[first]}, it goes from {start:.5g} to {end:.5g} ({moved})."
    return Picture(pair.canvas.drawn(alt), alt, f"In {names[first]}, it moves by {moved}.")


def cost(report: TuningReport) -> Picture | None:
    """Draw error against seconds where both were searched; None otherwise."""
    if not report.result.objective.multi:
        return None
    trials = [one for one in report.drawn_trials() if one.seconds is not None]
    if not trials:
        return None
    top = _ceiling([_value(one) for one in trials])
    pair = axes([1.0], np.clip([_value(one) for one in trials], None, top))
    pair = Axes(pair.canvas, spanning([one.seconds or 0.0 for one in trials], _LEFT, WIDTH - 10), pair.y)
    pair.frame("seconds", _error_words(report), _writer(pair.y))
    for one in trials:
        _spot(pair, one.seconds or 0.0, min(_value(one), top), one)
    best = [one for one in trials if not any(_dominates(other, one) for other in trials)]
    for one in best:
        _ring(pair.canvas, pair.x(one.seconds or 0.0), pair.y(min(_value(one), top)), ORANGE, 6.5)
    cheapest = min(best, key=lambda one: one.seconds or 0.0)
    alt = (
        f"Error against seconds of {len(trials)} trials. {len(best)} of them are not beaten in both; the cheapest "
        f"takes {in_minutes(cheapest.seconds or 0.0)} for {_value(cheapest):.4g}."
    )
    return Picture(pair.canvas.drawn(alt), alt, f"Circled: no other trial is better in both.{_cut(trials, top)}")


_KEY = "Dots: trials on all folds; rings: cut short."


def _dominates(one: TrialSummary, other: TrialSummary) -> bool:
    mine, theirs = (_value(one), one.seconds or 0.0), (_value(other), other.seconds or 0.0)
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


def _value(trial: TrialSummary) -> float:
    return math.nan if trial.value is None else trial.value


def _spot(pair: Axes, x: float, y: float, trial: TrialSummary) -> None:
    if trial.state == "complete":
        pair.canvas.dot(pair.x(x), pair.y(y), BLUE)
    else:
        _ring(pair.canvas, pair.x(x), pair.y(y), BLUE, 3.2)


def _ring(canvas: Canvas, x: float, y: float, colour: str, radius: float) -> None:
    fill = "none" if radius > 4 else WHITE
    canvas.marks.append(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'
    )


def _point_at(pair: Axes, mark: Mark, at: float) -> None:
    """Draw a line at a period, and its name beside it in a row of its own."""
    x = pair.x(mark.period)
    pair.canvas.line([x, x], [at - 8, pair.y.start], SHADES[mark.kind], DASHES[mark.kind], 1.6)
    beside, anchor = (5, "start") if x < (pair.x.start + pair.x.end) / 2 else (-5, "end")
    pair.canvas.text(x + beside, at, f"{mark.kind} {mark.period:.5g}", anchor, "name")


def _within(period: float, tried: Sequence[float]) -> bool:
    """Tell whether a mark lies so near what was tried that it does not press it together."""
    low, high = min(tried), max(tried)
    room = max(high - low, 0.01 * high)
    return low - room <= period <= high + room


def _ranks(report: TuningReport, numbers: Iterable[int]) -> dict[int, str]:
    best = [one.number for one in report.result.top]
    words = {number: f"trial {number}, {_RANK[place]}" for place, number in enumerate(best[: len(_RANK)])}
    return {number: words.get(number, f"trial {number}") for number in numbers}


_RANK = ("the best", "second", "third")


def _stairs(x: Sequence[int], y: Sequence[float], end: float) -> tuple[list[float], list[float]]:
    """Return the corners of a line that keeps each value until the next place."""
    across: list[float] = []
    heights: list[float] = []
    for i, value in enumerate(y):
        across += [float(x[i]), float(x[i + 1]) if i + 1 < len(x) else end]
        heights += [float(value)] * 2
    return across, heights


def _ceiling(values: Sequence[float]) -> float:
    low, high = np.quantile(values, [0.25, 0.75])
    return float(min(max(values), high + FAR * max(high - low, 0.02 * abs(high))))


def _cut(trials: Sequence[TrialSummary], top: float) -> str:
    above = sum(_value(one) > top for one in trials)
    if not above:
        return ""
    return f" {above} {'lies' if above == 1 else 'lie'} above, drawn at the upper edge."


def _error_words(report: TuningReport) -> str:
    return f"{report.result.objective.score.upper()} in inner folds"


def _shortened(name: str, most: int = 26) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _writer(scale: Scale) -> Callable[[float], str]:
    """Return how the ticks of an axis are written: with as many digits as tell them apart."""
    ticks = scale.ticks()
    digits = next((d for d in range(4, _MOST_DIGITS) if len({f"{t:.{d}g}" for t in ticks}) == len(ticks)), _MOST_DIGITS)
    return lambda value: f"{value:.{digits}g}"
