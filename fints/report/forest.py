"""A forest plot: estimates with their intervals, one under the other."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fints.studies import Forest, ForestRow

INK, MUTED, RULE = "#1d2733", "#5c6773", "#e3e7ec"

STANDS, OPEN, SHADE = "#d55e00", "#0072b2", "#f0f2f5"
"""Orange and blue of Okabe and Ito, told apart by filled and hollow marks as well."""

WIDTH, ROW, EDGES = 8.0, 0.27, 1.35
"""Inches."""

TITLE_WIDTH, LABEL_WIDTH = 84, 76

WIDEST = 3.0
"""Times the reference, or part of it, beyond which an interval is cut off with an arrow."""

FARTHEST = 20.0
"""Times the reference, or part of it, beyond which an estimate is named by an arrow at the edge alone."""


def forest_size(chart: Forest) -> tuple[float, float]:
    """Return width and height in inches."""
    return WIDTH, EDGES + ROW * len(_places(chart.rows)[1])


def draw_forest(figure: Figure, chart: Forest) -> None:
    """Draw a forest.

    Parameters
    ----------
    figure : Figure
        Empty, of `forest_size`.
    chart : Forest
    """
    axes = figure.add_subplot()
    places, labels = _places(chart.rows)
    axes.set_title(fill(chart.title, TITLE_WIDTH))
    axes.set_xlabel(fill(chart.x_label, LABEL_WIDTH))
    low, high = _limits(chart)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    if chart.margin:
        axes.axvspan(chart.reference / (1 + chart.margin), chart.reference * (1 + chart.margin), color=SHADE, zorder=0)
    axes.axvline(chart.reference, color=MUTED, linewidth=1.0, zorder=1)
    for place, row in zip(places, chart.rows, strict=True):
        _row(axes, place, row, (low, high))
    axes.set_yticks(range(len(labels)), [label for label, _ in labels])
    for tick, (_, group) in zip(axes.get_yticklabels(), labels, strict=True):
        tick.set_color(INK if group else MUTED)
        tick.set_fontsize(8.5)
        tick.set_fontweight("bold" if group else "normal")
    axes.grid(visible=False, axis="y")
    axes.tick_params(length=0)
    _decimal(axes)


def _places(rows: Sequence[ForestRow]) -> tuple[list[int], list[tuple[str, bool]]]:
    """Return the line that each row stands on, and every line's label and whether it names a group."""
    places: list[int] = []
    labels: list[tuple[str, bool]] = []
    group = None
    for row in rows:
        if row.group != group:
            labels.append((row.group, True))
            group = row.group
        places.append(len(labels))
        labels.append((row.name, False))
    return places, labels


def _limits(chart: Forest) -> tuple[float, float]:
    """Return limits that hold the margin, and every estimate and interval but for those that are wild."""
    margin = (chart.reference / (1 + chart.margin), chart.reference * (1 + chart.margin))
    held = [
        end
        for widest, ends in (
            (WIDEST, [end for row in chart.rows for end in (row.low, row.high)]),
            (FARTHEST, [row.value for row in chart.rows]),
        )
        for end in np.clip(_positive(ends), chart.reference / widest, chart.reference * widest)
    ]
    low, high = min(*margin, *held), max(*margin, *held)
    room = (high / low) ** 0.06
    return low / room, high * room


def _positive(ends: Sequence[float]) -> list[float]:
    return [end for end in ends if np.isfinite(end) and end > 0]


def _row(axes: Axes, place: int, row: ForestRow, limits: tuple[float, float]) -> None:
    colour = STANDS if row.stands else OPEN
    if np.isfinite(row.low) and np.isfinite(row.high):
        axes.plot([row.low, row.high], [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
    low, high = limits
    for end, cut, marker in ((low, row.low < low, "<"), (high, row.high > high, ">")):
        if cut:
            axes.plot(end, place, marker=marker, markersize=5.5, color=colour, clip_on=False)
    if low <= row.value <= high:
        axes.plot(
            row.value,
            place,
            marker="o",
            markersize=5.5,
            color=colour,
            markerfacecolor=colour if row.stands else "white",
        )
    elif not (row.low < low or row.high > high):
        end, marker = (low, "<") if row.value < low else (high, ">")
        axes.plot(end, place, marker=marker, markersize=5.5, color=colour, clip_on=False)


def _decimal(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    axes.xaxis.set_major_locator(MaxNLocator(7))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
