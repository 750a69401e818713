"""The page of a search for periods: spectra on both clocks, cycles, and how they lasted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from fints.report import tables
from fints.report.figures import BLUE, MUTED, Drawing, axis, layout, line_trace, ribbon_trace
from fints.report.pages import asset, template
from fints.report.spectra import UNITS, figure, spectrum_drawing
from fints.report.tables import Cell, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods import Amplitudes, Line, Periods
    from fints.plan import FrequencyPlan

_SURE = 1.96
_PLAIN = 0.001
_TINY = 1e-99


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
            Cell(f"{figure(line.period)} {UNITS[line.clock]}", strong=True),
            Cell(f"± {line.period_se:.1g}", number=True),
            Cell(_elsewhere(line)),
            Cell(", ".join(figure(line.period / number) for number in line.harmonics)),
            Cell(f"{line.strength:.0f}×", number=True),
            Cell(chance(line.p_value), number=True),
            Cell("throughout" if line.stable else "only at times"),
            Cell(line.note),
        )
        for line in found
    )
    names = ("Series", "Cycle", "Error", "On the other clock", "Seen at", "Over noise", "p", "Lasts", "Remarks")
    return Table(names, rows, "Cycles found")


def drawings(found: Periods, unique_id: str) -> tuple[Drawing, ...]:
    """Draw a series' spectrum on the clock of its strongest cycle, and how that lasted; nothing if not searched."""
    if unique_id not in found.series:
        return ()
    ribbons = (ribbon_drawing(found, line) for line in found[unique_id].lines[:1])
    return (spectrum_drawing(found, unique_id, found.clocks(unique_id)[0]), *ribbons)


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
    name = f"{figure(line.period)} {UNITS[line.clock]}"
    alt = (
        f"Amplitude of the cycle of {name} in {line.unique_id}, in {len(when)} windows: {seen.amplitude.min():.3g} to "
        f"{seen.amplitude.max():.3g}, {seen.whole:.3g} over the whole series."
    )
    lasts = "throughout" if line.stable else "only at times"
    caption = f"{name}: found {lasts}. {_drawn(seen, line)}{_windows(seen)}"
    return Drawing({"data": data, "layout": spec}, alt, caption, 240)


def render_periods(found: Periods, title: str, plan: FrequencyPlan) -> str:
    """Write the page of a search.

    Parameters
    ----------
    found : Periods
    title : str
        What was searched, and up to when.
    plan : FrequencyPlan
        What is made of it.

    Returns
    -------
    str
        A self-contained HTML page that fetches nothing.
    """
    from plotly.offline import get_plotlyjs

    sections = [
        _Section(
            name,
            tuple(spectrum_drawing(found, name, clock) for clock in found.clocks(name)),
            tuple(ribbon_drawing(found, line) for line in found[name]),
        )
        for name in found.series
    ]
    return template("periods.html.j2").render(
        title=title,
        tables=(cycles_table(found), tables.plan(plan.to_frame(), "these series")),
        sections=sections,
        problems=[str(problem) for problem in found.problems],
        methods=sorted({line.method for line in found}),
        plotlyjs=Markup(get_plotlyjs()),
        style=asset("nightly.css"),
        script=asset("nightly.js"),
    )


def _elsewhere(line: Line) -> str:
    if not np.isfinite(line.other_period):
        return ""
    other = "session" if line.clock == "calendar" else "calendar"
    return f"{figure(line.other_period)} {UNITS[other]}{', as likely' if line.also_on else ''}"


def _drawn(seen: Amplitudes, line: Line) -> str:
    """Name the line that is drawn where a reader would take it for another cycle."""
    alone = f"{figure(seen.period)} {UNITS[seen.clock]}"
    if alone == f"{figure(line.period)} {UNITS[line.clock]}":
        return ""
    return (
        f"Drawn is the lowest of its lines, which by itself lies at {alone}; all its lines together place the cycle "
        f"at {figure(line.period)}. "
    )


def _windows(seen: Amplitudes) -> str:
    return f"Each of the {len(seen.amplitude)} windows is an eighth of the series, or four cycles if that is longer."


def _years(when: NDArray[np.str_]) -> dict[str, Any]:
    years = [str(day)[:4] for day in when]
    first = [i for i, year in enumerate(years) if i == 0 or year != years[i - 1]]
    kept = first[:: max(1, len(first) // 8)]
    ticks = {"tickmode": "array", "tickvals": kept, "ticktext": [years[i] for i in kept], "showgrid": False}
    return {**axis(""), **ticks}
