"""Spectra of series, with the cycles that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fints.report.figures import (
    BLUE,
    FAINT,
    INK,
    VERMILLION,
    Drawing,
    axis,
    layout,
    line_trace,
    nice_ticks,
    peaks_seen,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods import Periods, Spectrum

UNITS = {"session": "sessions", "calendar": "days"}
OWN, FOREIGN = "cycle", "cycle of the other clock"
_SAME = 0.001
_DIPS = 0.02
_LABEL_GAP = 0.2


def spectrum_drawing(found: Periods, unique_id: str, clock: str) -> Drawing:
    """Draw a series' power on one clock, the level of noise, the threshold, and its cycles named on both clocks."""
    seen = next(found.spectrum(unique_id, one) for one in found.clocks(unique_id) if one == clock)
    near = peaks_seen(seen.frequency, seen.power)
    period, power = 1 / seen.frequency[near], seen.power[near]
    unit = UNITS[clock]
    marks = _marks(seen, found[unique_id])
    data = [
        line_trace(period, power, "power", FAINT, width=0.9, text=[f"{figure(p)} {unit}" for p in period]),
        line_trace(period, seen.null[near], "noise alone", INK, width=1.4),
        line_trace(period, seen.threshold[near], f"{100 * seen.alpha:g} % level", VERMILLION, width=1.4, dash="dash"),
        *marks,
    ]
    spec = layout(
        xaxis={**axis(f"Period, {unit}"), "type": "log", "tickangle": 0, **nice_ticks(period, lambda v: f"{v:g}")},
        yaxis={**axis("Power"), "type": "log", "range": _range(seen, power)}
        | {"showticklabels": False, "showgrid": False},
    )
    alt = f"Power of {unique_id} by period on the {clock} clock, with the level of noise and its threshold."
    if not len(found[unique_id]):
        alt += " No cycle stands out from noise."
    caption = (
        f"On the {clock} clock. {_legend(marks)}Each point is the highest power near its period; noise alone crosses "
        f"the dashed line anywhere in {100 * seen.alpha:g} % of series."
    )
    return Drawing({"data": data, "layout": spec}, alt, caption, 340)


def figure(period: float) -> str:
    """Write a period in four digits."""
    return f"{period:.3f}" if period < 10 else f"{period:.4g}"


def _range(seen: Spectrum, power: NDArray[np.float64]) -> list[float]:
    """Limits of the power in decades: all peaks, but not the deepest of the dips between them."""
    low = min(float(seen.null.min()), float(np.quantile(power, _DIPS)))
    high = max(float(seen.threshold.max()), float(power.max()))
    return [float(np.log10(low)) - 0.1, float(np.log10(high)) + 0.5]


def _legend(marks: list[dict[str, Any]]) -> str:
    """Explain the marks that are there."""
    said = {
        OWN: "Diamonds are cycles of this clock and their harmonics. ",
        FOREIGN: "Rings are cycles, and harmonics, that the other clock explains better. ",
    }
    return "".join(text for name, text in said.items() if any(mark["name"] == name for mark in marks))


def _marks(seen: Spectrum, lines: Periods) -> list[dict[str, Any]]:
    """Harmonics of every cycle where they fall on a clock."""
    own: list[tuple[float, str]] = []
    foreign: list[tuple[float, str]] = []
    for line in lines:
        here = line.period if line.clock == seen.clock else line.other_period
        there = line.other_period if line.clock == seen.clock else line.period
        for number in line.harmonics:
            text = f"{figure(here / number)} {UNITS[seen.clock]}"
            if np.isfinite(there):
                text += f" = {figure(there / number)} {UNITS['calendar' if seen.clock == 'session' else 'session']}"
            (own if line.clock == seen.clock else foreign).append((here / number, text))
    return [
        _markers(seen, group, name, symbol)
        for group, name, symbol in ((own, OWN, "diamond"), (foreign, FOREIGN, "circle-open"))
        if any(_inside(seen, at) for at, _ in group)
    ]


def _markers(seen: Spectrum, group: list[tuple[float, str]], name: str, symbol: str) -> dict[str, Any]:
    shown = [(at, text) for at, text in sorted(group) if _inside(seen, at)]
    power = np.array([seen.power[_nearest_peak(seen, at)] for at, _ in shown])
    named = _named(np.array([at for at, _ in shown]), power)
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": name,
        "x": [float(f"{at:.6g}") for at, _ in shown],
        "y": [float(f"{value:.6g}") for value in power],
        "text": [figure(at) if labelled else "" for (at, _), labelled in zip(shown, named, strict=True)],
        "hovertext": [text for _, text in shown],
        "textposition": "top center",
        "textfont": {"color": BLUE, "size": 12},
        "marker": {"color": BLUE, "size": 8, "symbol": symbol},
        "hoverinfo": "text",
    }


def _named(period: NDArray[np.float64], power: NDArray[np.float64]) -> list[bool]:
    """Which marks can carry a label without running into one at a higher power."""
    kept: list[int] = []
    for row in np.argsort(-power):
        if all(abs(np.log(period[row] / period[other])) > _LABEL_GAP for other in kept):
            kept.append(int(row))
    return [row in kept for row in range(len(period))]


def _inside(seen: Spectrum, period: float) -> bool:
    return bool(np.isfinite(period) and seen.frequency[0] <= 1 / period <= seen.frequency[-1])


def _nearest_peak(seen: Spectrum, period: float) -> int:
    """Row of the highest power within a thousandth of a period."""
    near = np.flatnonzero(np.abs(seen.frequency * period - 1) < _SAME)
    if not len(near):
        return int(np.abs(seen.frequency * period - 1).argmin())
    return int(near[seen.power[near].argmax()])
