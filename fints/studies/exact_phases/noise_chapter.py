"""The chapter on phase errors: a table of shares, and the error by β and by year."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.exact_phases.noise import (
    ABOUT_ONE,
    LARGE,
    QUANTILE,
    SMALL,
    instants,
    noisy_share,
    phase_error,
    plane_error,
)
from fints.studies.findings import Chapter, Line, LineChart, Table

if TYPE_CHECKING:
    from fints.studies.comparison import Results

BANKS = {8: "8 (this study)", 12: "12 (the product's default width)", 32: "32 (heads of 64 channels)"}

FAST = 100.0
"""β_min of [TR], in seconds."""


def noise_chapter(results: Results) -> list[Chapter]:  # noqa: ARG001 — the phases depend on no result
    """Show which planes have noise for a phase."""
    return [Chapter("How much of a phase is noise", TEXT, [shares(), fastest()], [by_beta(), by_year()])]


TEXT = """\
An angle α·(t/β), with t in Unix seconds and every step in float32, is held against the same in exact arithmetic from
the same float32 coefficients, so that what is counted differs from date to date and cannot be learned as another
frequency. A plane's error is what it keeps below at nineteen dates of twenty. Two things round: the time itself, which
float32 holds to 128 s since 2004 and to 256 s from 2038 on, and the angle, which at β = 100 s is 16 million radians and
held to 1 or 2 of them. Midnights UTC are multiples of 128 s by luck, so there the time itself is exact until 2038 and
the angle alone rounds.
"""


def shares() -> Table:
    """Return the share of planes whose phase is off by more than 0.1 and 1 rad."""
    rows = []
    for kind, seconds in instants().items():
        row = {"bars": kind}
        for planes, name in BANKS.items():
            share = noisy_share(seconds, planes)
            row[f"{name} planes"] = f"{100 * share.above_tenth:.0f} % / {100 * share.above_one:.0f} %"
        rows.append(row)
    caption = "Share of T-RoPE's planes (β from 1e2 to 1e8 s, α from N(0, 1)) with an error above 0.1 rad / above 1 rad"
    return Table(caption, pd.DataFrame(rows))


def fastest() -> Table:
    """Return the error of the plane at β = 100 s, and the β from which on it is small."""
    betas = np.geomspace(10, 1e8, 281)
    rows = []
    for kind, seconds in instants().items():
        error = np.abs(phase_error(seconds, np.full(1, ABOUT_ONE), np.array([FAST])))[:, 0]
        spread = plane_error(seconds, np.full(len(betas), ABOUT_ONE), betas)
        rows.append(
            {
                "bars": kind,
                "root mean square, rad": f"{np.sqrt((error**2).mean()):.2f}",
                f"kept below at {100 * QUANTILE:.0f} % of dates, rad": f"{np.quantile(error, QUANTILE):.2f}",
                "β above which it stays below 1 rad, s": f"{_settles(betas, spread, LARGE):,.0f}",
                "below 0.1 rad, s": f"{_settles(betas, spread, SMALL):,.0f}",
            }
        )
    return Table(f"Error at β = 100 s and α = {ABOUT_ONE:g}", pd.DataFrame(rows))


def _settles(betas: np.ndarray, error: np.ndarray, limit: float) -> float:
    """Return the largest β whose error is above a limit."""
    above = np.flatnonzero(error > limit)
    return float(betas[above[-1]]) if len(above) else 0.0


def by_beta() -> LineChart:
    """Draw the error by β."""
    betas = np.geomspace(30, 1e8, 120)
    lines = [
        Line(kind, betas, np.maximum(plane_error(seconds, np.full(len(betas), ABOUT_ONE), betas), 1e-9))
        for kind, seconds in instants().items()
    ]
    limit = Line("1 rad", betas, np.ones(len(betas)), reference=True)
    return LineChart(
        "phase-error-by-beta",
        f"Error of float32 phases at α = {ABOUT_ONE:g}",
        "β, seconds",
        "error kept below at 95 % of dates, rad",
        [limit, *lines],
        log_x=True,
        log_y=True,
    )


def by_year() -> LineChart:
    """Draw the error at some β by year."""
    years = np.arange(1972, 2100)
    starts = np.array([np.datetime64(f"{year}-01-01", "s").astype(np.int64) for year in years], dtype=np.float64)
    within = np.random.default_rng(0).integers(0, 31_536_000, 400).astype(np.float64)
    lines = []
    for beta in (100.0, 1_000.0, 10_000.0):
        error = [plane_error(start + within, np.full(1, ABOUT_ONE), np.array([beta]))[0] for start in starts]
        lines.append(Line(f"β = {beta:,.0f} s", years.astype(np.float64), np.array(error)))
    return LineChart(
        "phase-error-by-year",
        "Error of float32 phases by date, at any second",
        "year",
        "error kept below at 95 % of dates, rad",
        lines,
        log_y=True,
    )
