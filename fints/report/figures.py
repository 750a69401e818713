"""Figures as plotly specifications."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from fints.report.tables import Shown
from fints.report.units import unit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.report.nightly import NightlyReport, TargetReport

# Okabe and Ito's colours, which readers with any colour vision tell apart
INK, MUTED, FAINT, RULE = "#1d2733", "#5c6773", "#a9b3bf", "#e3e7ec"
BLUE, VERMILLION, GREEN, PURPLE, AMBER = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b27d00"
SERIES_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, AMBER, MUTED)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

HISTORY_BARS = 250
MOST_TICKS = 7
FEWEST_TICKS = 4
SPECTRUM_POINTS = 600
_TICKS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """A figure and what it says.

    Parameters
    ----------
    figure : dict
        Plotly specification: ``data`` and ``layout``.
    alt : str
        What a reader who cannot see it should know, in one or two sentences.
    caption : str
        What everybody reads below it.
    height : int
        In CSS pixels.
    """

    figure: dict[str, Any]
    alt: str
    caption: str
    height: int = 320


def fan(report: NightlyReport, target: TargetReport, unique_id: str) -> Drawing:
    """Draw the recent past of a series and its forecast with 80 and 95 % bands."""
    unit, shown = unit_of(target.target), Shown.of(target, unique_id)
    past = target.past(unique_id, HISTORY_BARS)
    values = unit.natural(past["y"].to_numpy(float))
    stamps = pd.DatetimeIndex(pd.DatetimeIndex(past["ds"]).append(shown.ds))
    before, after = np.arange(len(past)), len(past) + np.arange(len(shown.ds))
    days = [report.stamp(ds) for ds in stamps]
    said = [unit.write(v) for v in values]
    around = [f"{unit.write(m)} ({unit.write(a)} – {unit.write(b)})" for m, a, b in _rows(shown)]
    data = [
        ribbon_trace(after, shown.low95, shown.high95, "95 % band", "rgba(0,114,178,0.16)"),
        ribbon_trace(after, shown.low80, shown.high80, "80 % band", "rgba(0,114,178,0.30)"),
        line_trace(before, values, "observed", INK, width=1.3, text=_hover(days[: len(past)], said)),
        line_trace(after, shown.middle, "median forecast", BLUE, width=2.2, text=_hover(days[len(past) :], around)),
    ]
    drawn = np.concatenate([values, shown.low95, shown.high95])
    spec = layout(xaxis=_time_axis(stamps), yaxis=_value_axis(drawn, target.target))
    spec["shapes"] = [upright(len(past) - 0.5, MUTED, "dot")]
    first, last = float(shown.middle[0]), float(shown.middle[-1])
    alt = (
        f"{unit.title} of {unique_id}: the last {len(past)} bars up to {report.as_of_text}, then the forecast "
        f"for {len(shown.ds)} bars. The median goes from {unit.write(first)} to {unit.write(last)}; the 80 % band "
        f"of the last bar is {unit.write(shown.low80[-1])} to {unit.write(shown.high80[-1])}."
    )
    axis = f"{unit.title}{f', {unit.unit}' if unit.unit else ''}{', logarithmic axis' if unit.ratio else ''}"
    return Drawing({"data": data, "layout": spec}, alt, f"{axis}. The dotted line is the as-of.", 340)


def peaks_seen(frequency: NDArray[np.float64], power: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give the row of the highest power in each of some hundred steps of log-frequency, as the eye would see them."""
    position = np.log(frequency / frequency[0]) / np.log(frequency[-1] / frequency[0] * (1 + 1e-9))
    order = pd.Series(power).groupby(np.floor(position * SPECTRUM_POINTS)).idxmax()
    return order.to_numpy(np.intp)


def by_step(target: TargetReport, word: str) -> Drawing | None:
    """Draw each model's hold-out RMSE against steps ahead; None where there was no hold-out."""
    frame = target.by_step
    if frame.empty:
        return None
    ranked = frame.groupby("model")["RMSE"].mean().sort_values().index
    models = [target.model, *(m for m in ranked if m != target.model)] if target.model in ranked else list(ranked)
    data = []
    for i, model in enumerate(models):
        rows = frame[frame["model"] == model].sort_values("step")
        # plotly reads a little markup in names
        name = escape(str(model), quote=False)
        text = [f"{name}, step {s}: {v:.4f}" for s, v in zip(rows["step"], rows["RMSE"], strict=True)]
        line = line_trace(rows["step"].to_numpy(float), rows["RMSE"].to_numpy(float), name, _colour(i), text=text)
        line["line"] |= {"dash": DASHES[i % len(DASHES)], "width": 2.6 if model == target.model else 1.6}
        data.append(line)
    spec = layout(xaxis=steps_axis(word, int(frame["step"].max())), yaxis=axis("RMSE"))
    spec["yaxis"]["rangemode"] = "tozero"
    best = ranked[0]
    listed = ", ".join(map(str, models))
    alt = f"Hold-out RMSE on {target.target} by {word}s ahead for {listed}; {best} is lowest on average."
    return Drawing({"data": data, "layout": spec}, alt, "Hold-out RMSE by distance; lower is better.", 300)


def _rows(shown: Shown) -> zip[tuple[float, float, float]]:
    return zip(shown.middle, shown.low80, shown.high80, strict=True)


def _hover(days: list[str], values: list[str]) -> list[str]:
    return [f"{day}<br>{value}" for day, value in zip(days, values, strict=True)]


def _colour(i: int) -> str:
    return SERIES_COLOURS[i % len(SERIES_COLOURS)]


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in np.asarray(values, float)]


def line_trace(  # noqa: PLR0913 — a line has these properties
    x: NDArray[Any],
    y: NDArray[np.float64],
    name: str,
    colour: str,
    *,
    width: float = 1.6,
    dash: str = "solid",
    text: list[str] | None = None,
) -> dict[str, Any]:
    """Draw a line."""
    line = {"color": colour, "width": width, "dash": dash}
    trace: dict[str, Any] = {"type": "scatter", "mode": "lines", "name": name, "x": _rounded(x), "y": _rounded(y)}
    trace["line"] = line
    return trace | ({"hoverinfo": "skip"} if text is None else {"text": text, "hoverinfo": "text"})


def ribbon_trace(
    x: NDArray[Any], low: NDArray[np.float64], high: NDArray[np.float64], name: str, colour: str
) -> dict[str, Any]:
    """Draw a band between two lines."""
    outline = line_trace(np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]]), name, colour, width=0)
    return outline | {"fill": "toself", "fillcolor": colour}


def axis(title: str) -> dict[str, Any]:
    """Style an axis."""
    return {
        "title": {"text": title, "font": {"size": 12, "color": MUTED}, "standoff": 8},
        "gridcolor": RULE,
        "linecolor": RULE,
        "zeroline": False,
        "automargin": True,
        "tickfont": {"color": MUTED, "size": 11},
    }


def steps_axis(word: str, most: int) -> dict[str, Any]:
    """Style an axis of whole steps ahead: plotly would write halves of a few."""
    between = next(step for size in count() for step in (10**size, 2 * 10**size, 5 * 10**size) if step * _TICKS >= most)
    return {**axis(f"{word.capitalize()}s ahead"), "dtick": between}


def layout(xaxis: dict[str, Any], yaxis: dict[str, Any]) -> dict[str, Any]:
    """Style a figure."""
    return {
        "xaxis": xaxis,
        "yaxis": yaxis,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "font": {"family": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", "size": 12, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 11}},
        "hovermode": "closest",
        "dragmode": False,
        "autosize": True,
    }


def upright(x: float, colour: str, dash: str) -> dict[str, Any]:
    """Draw an upright line through the figure."""
    edge = {"color": colour, "width": 1, "dash": dash}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": edge}


def _time_axis(stamps: pd.DatetimeIndex) -> dict[str, Any]:
    """Bars side by side, whatever nights and holidays lie between them; ticks where a month or a session begins."""
    short = stamps[-1] - stamps[0] < pd.Timedelta(days=100)
    group = stamps.normalize() if short else stamps.year * 12 + stamps.month
    begins = np.flatnonzero(np.r_[False, np.asarray(group[1:] != group[:-1])])
    kept = begins[:: max(1, -(-len(begins) // MOST_TICKS))]
    texts = [f"{stamps[i].day} {stamps[i]:%b}" if short else f"{stamps[i]:%b}<br>{stamps[i]:%Y}" for i in kept]
    return {**axis(""), "tickmode": "array", "tickvals": kept.tolist(), "ticktext": texts, "showgrid": False}


def _value_axis(values: NDArray[np.float64], target: str) -> dict[str, Any]:
    unit = unit_of(target)
    if not unit.ratio:
        return axis("")
    return {**axis(""), "type": "log", **nice_ticks(values, unit.write)}


def _bare(text: str) -> str:
    """Leave out zeros after the point: 5.00 B is 5 B."""
    number, *unit = text.split(" ")
    return " ".join([number.rstrip("0").rstrip(".") if "." in number else number, *unit])


def nice_ticks(values: NDArray[np.float64], write: Any) -> dict[str, Any]:  # noqa: ANN401 — any writer of numbers
    """Give round numbers within the values, as sparse as still gives a scale."""
    positive = values[np.isfinite(values) & (values > 0)]
    low, high = np.log10(positive.min()), np.log10(positive.max())
    decades = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    ticks: list[float] = []
    for steps in ((1,), (1, 5), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7), tuple(np.arange(10, 100) / 10)):
        every = [m * 10.0**e for e in decades for m in steps]
        ticks = [t for t in every if low - 0.02 <= np.log10(t) <= high + 0.02]
        if len(ticks) >= FEWEST_TICKS:
            break
    return {"tickmode": "array", "tickvals": ticks, "ticktext": [_bare(write(t)) for t in ticks]}


def specification(drawing: Drawing) -> Markup:
    """Write a figure's specification so that no text in it can end the script element."""
    text = json.dumps(drawing.figure, allow_nan=False, separators=(",", ":"))
    for character, escaped in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(character, escaped)
    return Markup(text)
