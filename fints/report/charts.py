"""Charts of studies as SVG, drawn by matplotlib: the same values make the same bytes."""

from __future__ import annotations

import io
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.report.forest import INK, MUTED, RULE, draw_forest, forest_size
from fints.studies import Forest, HeatMap, LineChart

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fints.studies import Chart, Line

# Okabe and Ito's colours, which readers with any colour vision tell apart; yellow is darkened to show on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b27d00", "#56b4e9", "#1d2733", "#8a949e")
DASHES = ("-", (0, (5, 1.6)), (0, (1.4, 1.4)), (0, (6, 1.5, 1.4, 1.5)))

REFERENCE: dict[str, Any] = {"color": "#c3cad2", "linewidth": 4.5, "zorder": 1.5}

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "lines.linewidth": 1.8,
    "svg.fonttype": "path",
    "svg.hashsalt": "fints",
}
SIZE = (8.0, 4.2)
SQUARE = (5.2, 4.6)
TITLE_WIDTH = 84
DECADE = 10
LABEL_GAP = 0.052
"""Least distance of two labels, as a share of the height of the axes."""


@dataclass(frozen=True, slots=True)
class Palette:
    """A colour and a dash for every name, the same in all charts of a page.

    Parameters
    ----------
    names : tuple of str
    """

    names: tuple[str, ...]

    @classmethod
    def over(cls, charts: Sequence[Chart]) -> Self:
        """Give the names of all lines a place, in the order in which they appear."""
        lines = [line for chart in charts if isinstance(chart, LineChart) for line in chart.lines]
        return cls(tuple(dict.fromkeys(line.name for line in lines if not line.reference)))

    def look(self, line: Line) -> dict[str, Any]:
        """Return matplotlib's settings for a line."""
        if line.reference:
            return REFERENCE
        place = self.names.index(line.name)
        return {"color": COLOURS[place % len(COLOURS)], "linestyle": DASHES[place // len(COLOURS) % len(DASHES)]}


def draw(chart: Chart, palette: Palette) -> str:
    """Draw a chart.

    Parameters
    ----------
    chart : LineChart, HeatMap or Forest
    palette : Palette
        That knows the names of its lines.

    Returns
    -------
    str
        SVG, without a date.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()  # the figure depends on nobody's settings
        mpl.rcParams.update(STYLE)  # type: ignore[arg-type]  # its keys are literals
        figure = Figure(figsize=_size(chart), layout="constrained")
        FigureCanvasSVG(figure)
        match chart:
            case LineChart():
                _lines(figure, chart, palette)
            case HeatMap():
                _heat(figure, chart)
            case Forest():
                draw_forest(figure, chart)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _size(chart: Chart) -> tuple[float, float]:
    match chart:
        case LineChart():
            return SIZE
        case HeatMap():
            return SQUARE
        case Forest():
            return forest_size(chart)


def _lines(figure: Figure, chart: LineChart, palette: Palette) -> None:
    axes = figure.add_subplot()
    _name_axes(axes, chart)
    axes.set_xscale("log" if chart.log_x else "linear")
    axes.set_yscale("log" if chart.log_y else "linear")
    for line in chart.lines:
        look = palette.look(line)
        if line.marks:
            axes.plot(line.x, line.y, marker="o", markersize=4, linestyle="none", color=look["color"])
        else:
            axes.plot(line.x, line.y, **look)
        if line.low is not None and line.high is not None:
            axes.fill_between(line.x, line.low, line.high, color=look["color"], alpha=0.14, linewidth=0)
    axes.margins(x=0.02)
    axes.autoscale_view()  # the limits are needed now, not when it is drawn
    _decimal(axes, chart)
    _label(axes, chart.lines, palette)


def _decimal(axes: Axes, chart: LineChart) -> None:
    """Write the ticks of logarithmic axes as decimals, those between powers of ten only where there is little else."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:g}")
    for axis, logarithmic in ((axes.xaxis, chart.log_x), (axes.yaxis, chart.log_y)):
        if logarithmic:
            low, high = axis.get_view_interval()
            axis.set_major_formatter(plain)
            axis.set_minor_formatter(plain if high / low < DECADE else NullFormatter())


def _label(axes: Axes, lines: Sequence[Line], palette: Palette) -> None:
    """Write every name at the end of its line, and keep the names apart."""
    heights = []
    for line in lines:
        drawn = np.flatnonzero(np.isfinite(line.y))
        if len(drawn):
            end = (float(line.x[drawn[-1]]), float(line.y[drawn[-1]]))
            height = float(axes.transAxes.inverted().transform(axes.transData.transform(end))[1])
            heights.append((height, line))
    heights.sort(key=lambda end: end[0])
    wanted = np.clip([height for height, _ in heights], 0.0, 1.0)
    for (height, line), place in zip(heights, spread(wanted, LABEL_GAP), strict=True):
        colour = MUTED if line.reference else palette.look(line)["color"]
        axes.annotate(
            line.name,
            xy=(1.0, min(max(height, 0.0), 1.0)),
            xytext=(1.05, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            color=colour,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.6,
                "shrinkA": 2,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def spread(places: Sequence[float] | np.ndarray, gap: float) -> list[float]:
    """Move sorted places as little as needed to be `gap` apart: runs that are too close spread around their middle.

    Parameters
    ----------
    places : sequence of float
        In increasing order.
    gap : float

    Returns
    -------
    list of float
    """
    groups: list[list[float]] = []
    for place in places:
        groups.append([float(place)])
        while len(groups) > 1 and _start(groups[-1], gap) - _end(groups[-2], gap) < gap:
            last = groups.pop()
            groups[-1] = groups[-1] + last
    return [_start(group, gap) + i * gap for group in groups for i in range(len(group))]


def _start(group: list[float], gap: float) -> float:
    return sum(group) / len(group) - gap * (len(group) - 1) / 2


def _end(group: list[float], gap: float) -> float:
    return _start(group, gap) + gap * (len(group) - 1)


def _heat(figure: Figure, chart: HeatMap) -> None:
    axes = figure.add_subplot()
    _name_axes(axes, chart)
    axes.grid(visible=False)
    image = axes.imshow(chart.values, cmap="cividis", interpolation="nearest", aspect="auto")
    bar = figure.colorbar(image, ax=axes, fraction=0.05, pad=0.03)
    bar.outline.set_visible(False)


def _name_axes(axes: Axes, chart: LineChart | HeatMap) -> None:
    axes.set_title(fill(chart.title, TITLE_WIDTH))
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    axes.tick_params(length=0)
