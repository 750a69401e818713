"""Figures of an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fints.explain.decomposition import LEVEL
from fints.explain.measured import SURE
from fints.explain.sentences import percent, share
from fints.report.explain_tables import effect
from fints.report.figures import BLUE, DASHES, INK, MUTED, SERIES_COLOURS, Drawing, axis, layout, line_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.explain import Attention, Decomposition, Gain, PhaseProfile, Profile

LAGS = 70
"""Bars back that are drawn."""


def forecast_drawing(forecast: Decomposition, target: str) -> Drawing:
    """Draw what each part adds to every bar, stacked, and their sum."""
    stamps = pd.DatetimeIndex(forecast.future["ds"])
    x = np.arange(len(stamps))
    parts = [term for term in forecast.terms if term.name != LEVEL]
    data: list[dict[str, Any]] = []
    for number, term in enumerate(parts):
        said = [
            f"{day:%a %Y-%m-%d}<br>{term.name}: {effect(v, target)}" for day, v in zip(stamps, term.total, strict=True)
        ]
        data.append(_bars(x, term.total, term.name, COLOURS[number % len(COLOURS)], said))
    whole = np.sum([term.total for term in parts], axis=0)
    said = [f"{day:%a %Y-%m-%d}<br>all: {effect(v, target)}" for day, v in zip(stamps, whole, strict=True)]
    data.append(line_trace(x.astype(float), whole, "all together", INK, width=1.8, text=said))
    kept = x[:: max(1, len(x) // 7)]
    ticks = {
        "tickmode": "array",
        "tickvals": kept.tolist(),
        "ticktext": [f"{stamps[i].day} {stamps[i]:%b}" for i in kept],
    }
    spec = layout(xaxis={**axis(""), **ticks, "showgrid": False}, yaxis=axis(f"added to {target}"))
    spec |= {"barmode": "relative", "bargap": 0.25}
    largest = max(parts, key=lambda term: float(np.abs(term.total).mean()))
    alt = (
        f"What each part adds to the forecast of {forecast.unique_id} at each of {len(x)} bars. On average "
        f"{largest.name} is the largest, {effect(float(largest.total.mean()), target)}; all together come to "
        f"{effect(float(whole.mean()), target)}."
    )
    caption = "Bars stack to the line, the distance of the forecast from the level of the context."
    return Drawing({"data": data, "layout": spec}, alt, caption, 360)


def gain_drawing(gain: Gain) -> Drawing:
    """Draw what each part takes off the RMSE and the CRPS, with the range that chance allows."""
    names = [part.name for part in gain.parts["RMSE"]]
    y = np.arange(len(names))[::-1].astype(float)
    data = []
    for loss, colour, shift in (("RMSE", BLUE, 0.12), ("CRPS", MUTED, -0.12)):
        values = np.array([100 * part.value.value for part in gain.parts[loss]])
        errors = np.array([100 * SURE * part.value.error for part in gain.parts[loss]])
        said = [f"{part.name}<br>{loss}: {share(part.value)}" for part in gain.parts[loss]]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": loss,
                "x": [float(f"{v:.6g}") for v in values],
                "y": (y + shift).tolist(),
                "error_x": {
                    "type": "data",
                    "array": [float(f"{e:.6g}") if np.isfinite(e) else 0.0 for e in errors],
                    "color": colour,
                    "thickness": 1.6,
                    "width": 4,
                },
                "marker": {"color": colour, "size": 9},
                "text": said,
                "hoverinfo": "text",
            }
        )
    yaxis = {**axis(""), "tickmode": "array", "tickvals": y.tolist(), "ticktext": names, "showgrid": False}
    spec = layout(xaxis=axis(f"taken off the loss of {gain.reference}, %"), yaxis=yaxis)
    spec["xaxis"] |= {"zeroline": True, "zerolinecolor": MUTED, "zerolinewidth": 1}
    listed = "; ".join(f"{part.name} {percent(part.value.value)}" for part in gain.parts["RMSE"])
    alt = f"What each part takes off the RMSE of {gain.reference}: {listed}. All: {percent(gain.total['RMSE'].value)}."
    known = all(np.isfinite(part.value.error) for part in gain.parts["RMSE"])
    caption = (
        f"Whiskers are {SURE:g} standard errors: where they cross zero, chance would do."
        if known
        else f"No whiskers: {gain.blocks} blocks of dates are too few to tell anything from chance."
    )
    return Drawing({"data": data, "layout": spec}, alt, caption, 120 + 44 * len(names))


def attention_drawings(attention: Attention) -> list[Drawing]:
    """Draw where every head looks: bars back, hours, days and weeks back, and by place in each cycle."""
    drawn = [_profile_drawing(attention.by_lag, LAGS)]
    drawn += [_profile_drawing(profile, len(profile.bins)) for profile in attention.by_distance]
    return [*drawn, *(_phase_drawing(phase) for phase in attention.by_phase)]


def _profile_drawing(profile: Profile, most: int) -> Drawing:
    ratio, bins = profile.ratio[..., :most], profile.bins[:most]
    data = _heads(bins, ratio, profile.name)
    spec = _even(layout(xaxis=axis(profile.name), yaxis=axis("attention over an even spread")))
    layer, head, place = np.unravel_index(np.nanargmax(ratio), ratio.shape)
    alt = (
        f"Attention of each head by {profile.name}, relative to an even spread over the context. The highest is "
        f"{ratio[layer, head, place]:.2f}, head {head + 1} of layer {layer + 1}, at {bins[place]:.0f} {profile.name}."
    )
    return Drawing({"data": data, "layout": spec}, alt, f"Attention by {profile.name}, averaged over forecasts.", 280)


def _phase_drawing(phase: PhaseProfile) -> Drawing:
    ratio = np.concatenate([phase.profile.ratio, phase.profile.ratio[..., :1]], axis=-1)
    place = np.append(phase.profile.bins, 1.0) * phase.cycle.period
    unit = "sessions" if phase.cycle.clock == "session" else "days"
    data = _heads(place, ratio, f"{unit} since the same place of the cycle")
    title = f"{unit} back, less whole cycles of {phase.cycle}"
    spec = _even(layout(xaxis=axis(title), yaxis=axis("attention over an even spread")))
    same = "; ".join(
        f"head {head + 1} of layer {layer + 1} {found.value:.2f}"
        for layer, row in enumerate(phase.same)
        for head, found in enumerate(row)
    )
    alt = (
        f"Attention by place in the {phase.name}; at the same place as the bar asked for, over an even spread: {same}."
    )
    caption = f"Attention by place in the {phase.name} ({phase.cycle}): both ends are the place of the bar asked for."
    return Drawing({"data": data, "layout": spec}, alt, caption, 280)


def _heads(x: np.ndarray, ratio: np.ndarray, what: str) -> list[dict[str, Any]]:
    """One line for each head: its colour is its layer's, its dash its own."""
    data = []
    for layer, rows in enumerate(ratio):
        for head, values in enumerate(rows):
            name = f"layer {layer + 1}, head {head + 1}"
            said = [f"{name}<br>{v:.3g} {what}: {r:.2f}" for v, r in zip(x, values, strict=True)]
            colour, dash = SERIES_COLOURS[layer % len(SERIES_COLOURS)], DASHES[head % len(DASHES)]
            data.append(line_trace(x, values, name, colour, width=1.8, dash=dash, text=said))
    return data


def _even(spec: dict[str, Any]) -> dict[str, Any]:
    edge = {"color": MUTED, "width": 1, "dash": "dot"}
    spec["shapes"] = [{"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 1, "y1": 1, "line": edge}]
    spec["yaxis"] |= {"rangemode": "tozero"}
    return spec


def _bars(x: Sequence[int] | np.ndarray, y: np.ndarray, name: str, colour: str, said: list[str]) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": name,
        "x": [int(v) for v in x],
        "y": [float(f"{v:.6g}") for v in y],
        "marker": {"color": colour},
        "hovertext": said,
        "hoverinfo": "text",
    }


COLOURS = (MUTED, "#a9b3bf", *SERIES_COLOURS[:5], "#56b4e9", INK)
"""Greys for what no cycle does; then the colours of series."""
