"""Tables of the daily and the hourly protocol, and of what they take."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.forecasters import reference
from benchmarks.forecasters.jobs import OURS, PEERS
from benchmarks.forecasters.judging import QUANTILE_NAMES
from benchmarks.forecasters.scores import BANDS, MEASURES, Spread, averaged, band_scores, compare, daily_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from benchmarks.forecasters.results import Frames, Results

    Row = tuple[str, ...]

TITLES = {"log_volume": "log volume", "log_range": "log range", "log_return": "log return"}
ZERO = "zero"
DIGITS = {"log_return": 6}
_LOWEST = 0.001


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def spreads(frames: Frames, score: Callable[[pd.DataFrame], dict[str, float]]) -> dict[str, Spread]:
    """Score every seed."""
    each = [score(frame) for frame in frames]
    return {name: Spread(tuple(one[name] for one in each)) for name in each[0]}


def zero_of(frames: Frames) -> Frames:
    """Forecast zero, without a distribution, where others forecast."""
    return [frames[0].assign(yhat=0.0, **dict.fromkeys(QUANTILE_NAMES, np.nan))]


def daily_table(results: Results, target: str, known: pd.DataFrame | None) -> str:
    """Set ours beside baselines, peers and published forecasts, best first."""
    ours, others = results.ours("daily", target, "cycle"), results.others("daily", target)
    if not ours and not others:
        return ""
    digits = DIGITS.get(target, 4)
    rivals = dict(others)
    if target == "log_return":
        rivals[ZERO] = zero_of(ours or next(iter(others.values())))
    if known is not None:
        own = known[known["target"] == target]
        rivals |= {f"{name} †": [frame] for name, frame in own.groupby("model")}
    rows = [(*_measured(name, frames, digits), _test(frames, ours)) for name, frames in rivals.items()]
    if ours:
        rows.append((*_measured(f"**{OURS}, cycle, {_count(ours)}**", ours, digits), ""))
    if len(ours) > 1:
        rows.append((*_measured(f"**{OURS}, cycle, the seeds averaged**", [averaged(ours)], digits), ""))
    if known is not None:
        for name, (rmse, crps) in reference.DAILY[target].items():
            rows.append((f"{name} ‡", f"{rmse:.4f}", "", f"{crps:.4f}", "", ""))
    rows.sort(key=lambda row: float(row[1].split()[0]))
    return f"## Daily protocol, {TITLES[target]}\n\n" + markdown(("", *MEASURES, "t, p against ours"), rows)


def _count(frames: Frames) -> str:
    return f"{len(frames)} seed{'s' if len(frames) > 1 else ''}"


def _measured(name: str, frames: Frames, digits: int) -> Row:
    found = spreads(frames, daily_scores)
    if isnan(found["CRPS"].mean):  # no distribution, so no band either
        return (name, found["RMSE"].said(digits), found["MAE"].said(digits), "", "")
    widths = (digits, digits, digits, 3)
    return (name, *(found[m].said(n) for m, n in zip(MEASURES, widths, strict=True)))


def _test(frames: Frames, ours: Frames) -> str:
    if not ours:
        return ""
    found = compare(frames, ours)
    p = f"< {_LOWEST:g}" if found.p_value < _LOWEST else f"{found.p_value:.3f}"
    return "" if isnan(found.statistic) else f"{found.statistic:+.2f}, {p}"


def hourly_table(results: Results) -> str:
    """Set ours beside baselines and published scores."""
    ours = {encoding: results.ours("hourly", "log_volume", encoding) for encoding in ("cycle", "clock")}
    rows: list[Row] = []
    for encoding, frames in ours.items():
        if frames:
            rows.append(_hourly_row(f"**{OURS}, {encoding}, {_count(frames)}**", frames, []))
        if len(frames) > 1:
            rows.append(_hourly_row(f"**{OURS}, {encoding}, the seeds averaged**", [averaged(frames)], []))
    others = results.others("hourly", "log_volume")
    rows += [_hourly_row(name, frames, ours["cycle"]) for name, frames in others.items()]
    if not rows:
        return ""
    if not results.shift:
        rows += [(f"{name} ‡", *(f"{v:.3f}" for v in values), "") for name, values in reference.HOURLY.items()]
    text = (
        "RMSE by bars ahead, in standard deviations of the context; the trained horizon is 14. The test is over all "
        "bars, against ours with cycle.\n\n"
    )
    return f"## Hourly protocol, log volume\n\n{text}" + markdown(("", *BANDS, "t, p against ours"), rows)


def _hourly_row(name: str, frames: Frames, ours: Frames) -> Row:
    return (name, *(spread.said() for spread in spreads(frames, band_scores).values()), _test(frames, ours))


def cost_table(results: Results) -> str:
    """List processor time and memory."""
    rows = []
    for name in (OURS, *PEERS, "gradient_boosting", "arima", "ets", "har_calendar"):
        cost = results.cost(name)
        quoted = next((f"{s:g}" for other, s in reference.CPU.items() if name in other), "")
        if cost is not None or quoted:
            found = ("not run", "") if cost is None else (f"{cost.cpu:.0f}", f"{cost.memory:.0f}")
            rows.append((name, *found, quoted))
    text = (
        "## What it takes\n\nThe whole daily protocol with one seed: log volume and log range, two fits each and all "
        "windows, each target in a fresh process with one thread; start of Python included, panels made before. Peak: "
        "resident memory of the larger process. Quoted: published with the protocol, six series, another machine.\n\n"
    )
    text += markdown(("", "CPU seconds", "peak, MiB", "quoted CPU seconds"), rows)
    found = results.inference()
    if found is not None:
        wall, cpu = found["wall"].median(), found["cpu"].median()
        text += (
            "\n\nA forecast of 500 series × 20 sessions by a fitted model, validation of the panel, calendar and all: "
        )
        text += f"{wall:.2f} s, {cpu:.2f} s of the processor (medians of {len(found)})."
    return text
