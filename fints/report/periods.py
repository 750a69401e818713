"""The page of a search for periods: spectra on both clocks, cycles, and how they lasted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from fints.report.figures import (
    BLUE,
    FAINT,
    INK,
    MUTED,
    VERMILLION,
    Drawing,
    axis,
    layout,
    line_trace,
    nice_ticks,
    peaks_seen,
    ribbon_trace,
    specification,
    upright,
)
from fints.report.tables import Cell, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods import Amplitudes, Line, Periods, Spectrum

TEMPLATES = Path(__file__).parent / "templates"
UNITS = {"session": "sessions", "calendar": "days"}
_SURE = 1.96
_PLAIN = 0.001
_TINY = 1e-99
_SAME = 0.001


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    spectra: tuple[Drawing, ...]
    ribbons: tuple[Drawing, ...]


def chance(p: float) -> str:
    """Write a p-value; one that a float can no longer hold is not zero."""
    if p < _TINY:
        return f"< {_TINY:.0e}"
    return f"{p:.3f}" if p >= _PLAIN else f"{p:.0e}"


def cycles_table(found: Periods) -> Table:
    """List the cycles as a person reads them."""
    rows = tuple(
        (
            Cell(line.unique_id, strong=True),
            Cell(f"{_figure(line.period)} {UNITS[line.clock]}", strong=True),
            Cell(f"± {line.period_se:.1g}", number=True),
            Cell(_elsewhere(line)),
            Cell(", ".join(_figure(line.period / number) for number in line.harmonics)),
            Cell(f"{line.strength:.0f}×", number=True),
            Cell(chance(line.p_value), number=True),
            Cell("throughout" if line.stable else "only at times"),
            Cell(line.note),
        )
        for line in found
    )
    names = ("Series", "Cycle", "Error", "On the other clock", "Seen at", "Over noise", "p", "Lasts", "Remarks")
    return Table(names, rows, "Cycles found")


def spectrum_drawing(found: Periods, unique_id: str, clock: str) -> Drawing:
    """Draw a series' power on one clock, the level of noise, the threshold, and its cycles named on both clocks."""
    seen = next(found.spectrum(unique_id, one) for one in found.clocks(unique_id) if one == clock)
    near = peaks_seen(seen.frequency, seen.power)
    period, power = 1 / seen.frequency[near], seen.power[near]
    unit = UNITS[clock]
    data = [
        line_trace(period, power, "power", FAINT, width=0.9, text=[f"{_figure(p)} {unit}" for p in period]),
        line_trace(period, seen.null[near], "noise alone", INK, width=1.4),
        line_trace(period, seen.threshold[near], f"{100 * seen.alpha:g} % level", VERMILLION, width=1.4, dash="dash"),
        *_marks(seen, found[unique_id]),
    ]
    shown = np.concatenate([seen.null, seen.threshold, power])
    shown = np.log10(shown[shown > 0])
    spec = layout(
        xaxis={**axis(f"Period, {unit}"), "type": "log", "tickangle": 0, **nice_ticks(period, lambda v: f"{v:g}")},
        yaxis={**axis("Power"), "type": "log", "range": [float(shown.min()), float(shown.max()) + 0.5]}
        | {"showticklabels": False, "showgrid": False},
    )
    alt = f"Power of {unique_id} by period on the {clock} clock, with the level of noise and its threshold."
    caption = (
        f"On the {clock} clock. Diamonds are cycles of this clock and their harmonics; rings are cycles that the other "
        f"clock explains better. Noise alone crosses the dashed line anywhere in {100 * seen.alpha:g} % of series."
    )
    return Drawing({"data": data, "layout": spec}, alt, caption, 340)


def ribbon_drawing(found: Periods, line: Line) -> Drawing:
    """Draw the amplitude of a cycle through the years, with its 95 % band."""
    seen = found.stability(line)
    when = (np.datetime64("1970-01-01", "D") + np.rint(seen.calendar).astype(np.int64)).astype(str)
    low, high = seen.amplitude - _SURE * seen.error, seen.amplitude + _SURE * seen.error
    said = [f"{day}<br>{value:.3g}" for day, value in zip(when, seen.amplitude, strict=True)]
    whole = np.full(len(when), seen.whole)
    data = [
        ribbon_trace(np.arange(len(when)), low, high, "95 % band", "rgba(0,114,178,0.22)"),
        line_trace(np.arange(len(when)), seen.amplitude, "amplitude", BLUE, width=2.2, text=said),
        line_trace(np.arange(len(when)), whole, "whole series", MUTED, width=1.2, dash="dash"),
    ]
    spec = layout(xaxis=_years(when), yaxis={**axis("Amplitude"), "rangemode": "tozero"})
    spec["shapes"] = [upright(0, FAINT, "dot")]
    name = f"{_figure(seen.period)} {UNITS[seen.clock]}"
    alt = (
        f"Amplitude of the cycle of {name} in {line.unique_id}, in {len(when)} windows: {seen.amplitude.min():.3g} to "
        f"{seen.amplitude.max():.3g}, {seen.whole:.3g} over the whole series."
    )
    lasts = "throughout" if line.stable else "only at times"
    return Drawing({"data": data, "layout": spec}, alt, f"{name}: found {lasts}. {_windows(seen)}", 240)


def render_periods(found: Periods, title: str) -> str:
    """Write the page of a search.

    Parameters
    ----------
    found : Periods
    title : str
        What was searched, and up to when.

    Returns
    -------
    str
        A self-contained HTML page that fetches nothing.
    """
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["spec"] = specification
    sections = [
        _Section(
            name,
            tuple(spectrum_drawing(found, name, clock) for clock in found.clocks(name)),
            tuple(ribbon_drawing(found, line) for line in found[name]),
        )
        for name in found.series
    ]
    return environment.get_template("periods.html.j2").render(
        title=title,
        cycles=cycles_table(found),
        sections=sections,
        problems=[str(problem) for problem in found.problems],
        methods=sorted({line.method for line in found}),
        plotlyjs=Markup(get_plotlyjs()),
        style=Markup((TEMPLATES / "nightly.css").read_text("utf-8")),
        script=Markup((TEMPLATES / "nightly.js").read_text("utf-8")),
    )


def _figure(period: float) -> str:
    return f"{period:.3f}" if period < 10 else f"{period:.4g}"


def _elsewhere(line: Line) -> str:
    if not np.isfinite(line.other_period):
        return ""
    other = "session" if line.clock == "calendar" else "calendar"
    return f"{_figure(line.other_period)} {UNITS[other]}{', as likely' if line.also_on else ''}"


def _marks(seen: Spectrum, lines: Periods) -> list[dict[str, Any]]:
    """Harmonics of every cycle where they fall on a clock."""
    own: list[tuple[float, str]] = []
    foreign: list[tuple[float, str]] = []
    for line in lines:
        here = line.period if line.clock == seen.clock else line.other_period
        there = line.other_period if line.clock == seen.clock else line.period
        for number in line.harmonics:
            text = f"{_figure(here / number)} {UNITS[seen.clock]}"
            if np.isfinite(there):
                text += f" = {_figure(there / number)} {UNITS['calendar' if seen.clock == 'session' else 'session']}"
            (own if line.clock == seen.clock else foreign).append((here / number, text))
    return [
        _markers(seen, group, name, symbol)
        for group, name, symbol in ((own, "cycle", "diamond"), (foreign, "cycle of the other clock", "circle-open"))
        if any(_inside(seen, at) for at, _ in group)
    ]


def _markers(seen: Spectrum, group: list[tuple[float, str]], name: str, symbol: str) -> dict[str, Any]:
    shown = [(at, text) for at, text in sorted(group) if _inside(seen, at)]
    rows = [_nearest_peak(seen, at) for at, _ in shown]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": name,
        "x": [float(f"{at:.6g}") for at, _ in shown],
        "y": [float(f"{seen.power[row]:.6g}") for row in rows],
        "text": [_figure(at) for at, _ in shown],
        "hovertext": [text for _, text in shown],
        "textposition": "top center",
        "textfont": {"color": BLUE, "size": 12},
        "marker": {"color": BLUE, "size": 8, "symbol": symbol},
        "hoverinfo": "text",
    }


def _inside(seen: Spectrum, period: float) -> bool:
    return bool(np.isfinite(period) and seen.frequency[0] <= 1 / period <= seen.frequency[-1])


def _nearest_peak(seen: Spectrum, period: float) -> int:
    """Row of the highest power within a thousandth of a period."""
    near = np.flatnonzero(np.abs(seen.frequency * period - 1) < _SAME)
    if not len(near):
        return int(np.abs(seen.frequency * period - 1).argmin())
    return int(near[seen.power[near].argmax()])


def _windows(seen: Amplitudes) -> str:
    return f"Each of the {len(seen.amplitude)} windows is an eighth of the series, or four cycles if that is longer."


def _years(when: NDArray[np.str_]) -> dict[str, Any]:
    years = [str(day)[:4] for day in when]
    first = [i for i, year in enumerate(years) if i == 0 or year != years[i - 1]]
    kept = first[:: max(1, len(first) // 8)]
    ticks = {"tickmode": "array", "tickvals": kept, "ticktext": [years[i] for i in kept], "showgrid": False}
    return {**axis(""), **ticks}
