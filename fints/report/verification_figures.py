"""Earlier forecasts in two figures: whether the bands held over time, and the error by distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.report.figures import BLUE, INK, MUTED, VERMILLION, Drawing, axis, layout, line_trace, steps_axis

if TYPE_CHECKING:
    from fints.verification import TargetVerification

_FEWEST = 2
_TICKS = 6


def coverage_over_time(target: TargetVerification) -> Drawing | None:
    """Draw the share within the bands, averaged over twenty nights, and what was promised; None of a single night."""
    frame = target.over_time
    if len(frame) < _FEWEST:
        return None
    x = np.arange(len(frame), dtype=float)
    data = []
    for name, band, colour in (("cov80", "80 % band", BLUE), ("cov95", "95 % band", VERMILLION)):
        values = 100 * frame[name].to_numpy(float)
        text = [
            f"{stamp:%Y-%m-%d}<br>{band}: {value:.1f} %" for stamp, value in zip(frame["as_of"], values, strict=True)
        ]
        data.append(line_trace(x, values, f"in the {band}", colour, width=2.2, text=text))
        promised = 100 * frame[f"{name}_promised"].to_numpy(float)
        if np.isfinite(promised).any():
            data.append(line_trace(x, promised, f"{band}, promised", colour, width=1.2, dash="dot"))
    spec = layout(xaxis=_nights(frame["as_of"]), yaxis=axis("%"))
    last = frame.iloc[-1]
    alt = (
        f"Share of {target.target} within the bands over {len(frame)} nights, averaged over twenty: lately "
        f"{last['cov80']:.0%} within the 80 % band and {last['cov95']:.0%} within the 95 % band."
    )
    return Drawing({"data": data, "layout": spec}, alt, "Share within the bands by night, mean of twenty nights.", 280)


def error_by_step(target: TargetVerification, bar_word: str) -> Drawing | None:
    """Draw the mean absolute error against the distance, and what was promised; None of a single distance."""
    frame = target.by_step
    if len(frame) < _FEWEST:
        return None
    steps, live = frame["step"].to_numpy(float), frame["MAE"].to_numpy(float)
    text = [f"{int(step)} ahead: {value:.4f} of {n}" for step, value, n in zip(steps, live, frame["n"], strict=True)]
    data = [line_trace(steps, live, "live" if target.live else "made afterwards", INK, width=2.2, text=text)]
    promised = frame["MAE_promised"].to_numpy(float)
    if np.isfinite(promised).any():
        data.append(line_trace(steps, promised, "promised", MUTED, width=1.6, dash="dot"))
    spec = layout(xaxis=steps_axis(bar_word, int(steps.max())), yaxis=axis("mean absolute error"))
    spec["yaxis"]["rangemode"] = "tozero"
    alt = f"Mean absolute error of earlier forecasts of {target.target} by {bar_word}s ahead, beside what was promised."
    return Drawing(
        {"data": data, "layout": spec}, alt, "Mean absolute error by distance, as it came and as promised.", 280
    )


def _nights(stamps: pd.Series) -> dict[str, object]:
    """Nights side by side, a few of them named."""
    places = np.unique(np.linspace(0, len(stamps) - 1, min(_TICKS, len(stamps))).round().astype(int))
    days = pd.DatetimeIndex(stamps)
    texts = [f"{days[i].day} {days[i]:%b}<br>{days[i]:%Y}" for i in places]
    return {**axis("Night"), "tickmode": "array", "tickvals": places.tolist(), "ticktext": texts, "showgrid": False}
