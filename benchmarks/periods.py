"""Detection of periods: accuracy against the Cramér-Rao bound, false alarms, and time.

Run ``python benchmarks/periods.py`` for a quick look, or with ``--trials 2000`` for the figures that are quoted; the
result is written to ``benchmarks/results/<date>-periods.md``. Parts can be chosen: ``--only accuracy alarms time``.
"""

from __future__ import annotations

import argparse
import datetime
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.signal import lfilter

import fints
from fints.periods.cleaning import cleaned
from fints.periods.effects import effect_columns
from fints.periods.peeling import peel
from fints.periods.samples import BarPlaces, make_samples
from fints.periods.search import Search
from fints.series import located, validate_panel
from fints.sessions import bar_grid, get_calendar

RESULTS = Path(__file__).parent / "results"
CLOCKS = ("session", "calendar")
PERIODS = (6.7, 7.3, 20.37, 61.9)
DECIBELS = (0, 5, 10)
NOISES = ("0", "0.7", "0.95", "0.99", "GARCH")
_SETTLED = 2000
_NEAR = 0.1


@dataclass(frozen=True)
class Days:
    """Consecutive New York sessions and their one-off effects."""

    at: BarPlaces
    effects: np.ndarray

    @classmethod
    def of(cls, n: int) -> Days:
        """Take the first `n` sessions from 2000 on."""
        days = get_calendar("XNYS").next_sessions("1999-12-31", n)
        (part,) = located(validate_panel(pd.DataFrame({"unique_id": "A", "ds": days, "y": np.arange(n, dtype=float)})))
        return cls(BarPlaces.of(part.bars, part.calendar), effect_columns(part.bars, part.calendar))

    def peel(self, y: np.ndarray, search: Search, *, effects: bool = True):  # noqa: ANN201 — what `peel` returns
        """Search one series as `detect_periods` does."""
        samples, _ = make_samples("A", self.at, y)
        samples, beside = cleaned(samples, self.effects if effects else None)
        return peel(samples, search, beside)[0]


def noise(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """AR(1) of a coefficient, or GARCH(1, 1) with normal innovations."""
    shock = rng.standard_normal(n + _SETTLED)
    if kind != "GARCH":
        return lfilter([1.0], [1.0, -float(kind)], shock)[_SETTLED:]
    variance, out = 1.0, np.empty_like(shock)
    for t, value in enumerate(shock):
        out[t] = np.sqrt(variance) * value
        variance = 0.05 + 0.1 * out[t] ** 2 + 0.85 * variance
    return out[_SETTLED:]


def bound(place: np.ndarray, period: float, amplitude: float, phase: float) -> float:
    """Cramér-Rao bound of the frequency's variance; amplitude, phase, mean and trend unknown, noise of variance 1."""
    time_ = place - place.mean()
    angle = 2 * np.pi * place / period + phase
    slope = -amplitude * 2 * np.pi * time_ * np.sin(angle)
    gradient = np.column_stack([slope, np.cos(angle), np.sin(angle), np.ones_like(time_), time_ / time_[-1]])
    return float(np.linalg.inv(gradient.T @ gradient)[0, 0])


def accuracy(sizes: list[int], trials: int) -> list[str]:
    """Root mean square error of the frequency over the bound, one row per size, clock and period."""
    lines = ["| n | clock | period | " + " | ".join(f"{d} dB" for d in DECIBELS) + " | missed | on the other clock |"]
    lines.append("| --- " * (5 + len(DECIBELS)) + "|")
    for n in sizes:
        days = Days.of(n)
        for clock in CLOCKS:
            place = getattr(days.at, clock)
            for period in PERIODS:
                cells, missed, elsewhere = [], 0, 0
                for decibel in DECIBELS:
                    rng = np.random.default_rng([n, int(100 * period), decibel])
                    errors, bounds = [], []
                    amplitude = np.sqrt(2 * 10 ** (decibel / 10))
                    for _ in range(trials):
                        phase = rng.uniform(-np.pi, np.pi)
                        y = amplitude * np.cos(2 * np.pi * place / period + phase) + rng.standard_normal(n)
                        found = days.peel(y, Search(max_lines=1), effects=False)
                        bounds.append(bound(place, period, amplitude, phase))
                        rate = found.samples.rate
                        near = [t for t in found.fit.tones if abs(t.on(clock, rate) * period - 1) < _NEAR]
                        missed += not near
                        elsewhere += bool(near) and near[0].clock != clock
                        errors += [t.frequency - 1 / period for t in near[:1] if t.clock == clock]
                    cells.append(f"{np.sqrt(np.mean(np.square(errors)) / np.mean(bounds)):.2f}" if errors else "")
                lines.append(f"| {n} | {clock} | {period} | {' | '.join(cells)} | {missed} | {elsewhere} |")
                print(lines[-1], flush=True)
    return lines


def alarms(n: int, trials: int) -> list[str]:
    """Share of pure noise with any line at p < 0.05."""
    days = Days.of(n)
    lines = [
        f"n = {n}, {trials} series each.",
        "",
        "| noise | session | calendar | both |",
        "| --- | --- | --- | --- |",
    ]
    for kind in NOISES:
        rng = np.random.default_rng(20240105)
        hits = dict.fromkeys((*CLOCKS, "both"), 0)
        for _ in range(trials):
            y = noise(kind, n, rng)
            for clock in hits:
                hits[clock] += days.peel(y, Search(clock=clock, max_lines=1)).p_value < 0.05  # noqa: PLR2004
        label = kind if kind == "GARCH" else f"AR(1), φ = {kind}"
        lines.append(f"| {label} | " + " | ".join(f"{100 * count / trials:.1f} %" for count in hits.values()) + " |")
        print(lines[-1], flush=True)
    return lines


def timing(series: int) -> list[str]:
    """Processor time of whole searches."""
    rng, n = np.random.default_rng(0), 5000
    sessions = get_calendar("XNYS").next_sessions("1999-12-31", n)
    week = 0.5 * np.cos(2 * np.pi * (sessions - pd.Timestamp("1970-01-01")).days.to_numpy() / 7)
    frames = [
        pd.DataFrame({"unique_id": f"S{k:03d}", "ds": sessions, "y": noise("0.7", n, rng) + week})
        for k in range(series)
    ]
    began = time.process_time()
    fints.detect_periods(pd.concat(frames, ignore_index=True))
    daily = (time.process_time() - began) / series
    grid = bar_grid(get_calendar("XNYS"), "1998-01-02", "2021-03-31", "1h", "open")
    y = noise("0.7", len(grid), rng) + np.cos(2 * np.pi * grid["bar"].to_numpy() / 7)
    hourly = pd.DataFrame({"unique_id": "H", "ds": grid["ds"], "y": y, "exchange": "XNYS", "interval": "1h"})
    began = time.process_time()
    fints.detect_periods(hourly)
    return [
        "| what | processor seconds |",
        "| --- | --- |",
        f"| a daily series of {n:,} sessions, of {series} | {daily:.3f} |",
        f"| an hourly series of {len(grid):,} bars | {time.process_time() - began:.1f} |",
    ]


def main() -> None:
    """Measure what was asked for, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=("accuracy", "alarms", "time"), default=("accuracy", "alarms", "time")
    )
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=[250, 1000])
    chosen = parser.parse_args()
    parts = {
        "accuracy": ("RMSE of the frequency over the Cramér-Rao bound", lambda: accuracy(chosen.sizes, chosen.trials)),
        "alarms": ("False alarms at the 5 % level", lambda: alarms(1000, chosen.trials)),
        "time": ("Time", lambda: timing(20)),
    }
    today = datetime.datetime.now(tz=datetime.UTC).date()
    effects = "One-off calendar effects are taken out, but not for the accuracy, as the bound does not know them."
    text = [f"# Periods, {today}", "", f"{chosen.trials} series a cell. {effects}", ""]
    for name in chosen.only:
        title, measure = parts[name]
        text += [f"## {title}", "", *measure(), ""]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{today}-periods.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
