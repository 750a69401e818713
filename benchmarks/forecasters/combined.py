"""The combination beside the best peers, and whether its bands hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.forecasters.jobs import COMBINATION, MEMBERS
from benchmarks.forecasters.scores import band_scores, compare, daily_scores, losses
from benchmarks.forecasters.tables import TITLES, markdown

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.forecasters.results import Results

LEVELS = {80: ("q10", "q90"), 95: ("low95", "high95")}
PEER = {"log_volume": "LightGBM-direct", "log_range": "HAR"}
"""The best single peer of each target among those that left their forecasts."""
AIMS = {"log_volume": (0.2319, 0.1359), "log_range": (0.4853, 0.2983)}
"""RMSE and CRPS: 2 % below the best peer on volume, 1 % below HAR on range."""


def section(results: Results, known: pd.DataFrame | None) -> str:
    """Write the scores and the coverage of what has been run."""
    found = {where: results.combination(*where) for where in (*(("daily", t) for t in AIMS), ("hourly", "log_volume"))}
    frames = {where: each[0] for where, each in found.items() if each}
    if not frames:
        return ""
    daily = {target: frames["daily", target] for target in AIMS if ("daily", target) in frames}
    scores = [_row(target, frame, known) for target, frame in daily.items()]
    covered = [row for (trial, target), frame in frames.items() for row in _covered(f"{trial} {TITLES[target]}", frame)]
    listed = " and ".join(f"`{name}`" for name in MEMBERS)
    text = (
        f"## {COMBINATION}\n\nThe transformer (cycle, one seed) with {listed}, as a night averages them; weights "
        "learned on the last 50 origins, 10 bars apart, before each test; bands calibrated there, and following what "
        "came from window to window. *t*: squared errors against the peer."
    )
    head = ("", "RMSE", "aim", "CRPS", "aim", "peer", "its RMSE", "its CRPS", "t, p")
    parts = [text, markdown(head, scores), *_hourly(frames.get(("hourly", "log_volume")))]
    parts.append("Share of values inside the bands; regimes are terciles of the volatility before a window.")
    return "\n\n".join([*parts, markdown(("", "windows", "80 %", "95 %", "n"), covered)])


def _row(target: str, frame: pd.DataFrame, known: pd.DataFrame | None) -> tuple[str, ...]:
    own, (rmse, crps) = daily_scores(frame), AIMS[target]
    row = (f"daily {TITLES[target]}", f"{own['RMSE']:.4f}", f"{rmse:.4f}", f"{own['CRPS']:.4f}", f"{crps:.4f}")
    if known is None:
        return (*row, "", "", "", "")
    peer = known[(known["target"] == target) & (known["model"] == PEER[target])]
    its, test = daily_scores(peer), compare([frame], [peer])
    said = f"{test.statistic:+.2f}, {test.p_value:.3f}"
    return (*row, PEER[target], f"{its['RMSE']:.4f}", f"{its['CRPS']:.4f}", said)


def _hourly(frame: pd.DataFrame | None) -> list[str]:
    if frame is None:
        return []
    bands = ", ".join(f"{value:.4f} in bars {name}" for name, value in band_scores(frame).items())
    return [f"Hourly log volume, RMSE in standard deviations of the context, trained for every bar: {bands}."]


def _covered(name: str, frame: pd.DataFrame) -> list[tuple[str, ...]]:
    inside = losses(frame)[["series"]]
    for level, (low, high) in LEVELS.items():
        inside[level] = (frame["y"].to_numpy() >= frame[low].to_numpy()) & (frame["y"].to_numpy() <= frame[high])
    inside["regime"] = frame["regime"].to_numpy()
    every = [("all", inside), *((str(regime), inside[inside["regime"] == regime]) for regime in _regimes(inside))]
    return [(name, which, *(f"{100 * own[n].mean():.1f}" for n in LEVELS), f"{len(own):,}") for which, own in every]


def _regimes(frame: pd.DataFrame) -> list[str]:
    from fints.backtest.coverage import REGIMES

    return [regime for regime in REGIMES if (frame["regime"] == regime).any()]
