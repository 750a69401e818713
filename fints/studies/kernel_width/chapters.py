"""The chapters of the study's own: the grid beside the theory, and what it asks of the defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.comparison.wording import times
from fints.studies.findings import Chapter, Line, LineChart, Table
from fints.studies.kernel_width.board import expected, expected_grid, measured_grid, optima
from fints.studies.kernel_width.grid import DIVISORS, TRUNCATIONS, WIDTHS, fraction
from fints.studies.kernel_width.verdicts import default_contrasts, moves
from fints.studies.wording import factor

if TYPE_CHECKING:
    from fints.studies.comparison import Results

THEORY = """\
A kernel that is right for a routine is one under which phases are alike as they are in the routine: a regression that
takes it as its prior has the least error there is, and any other prior a larger one. The routines here are drawn from a
Gaussian process of known width w, so the best σ is w, whatever the noise, and the best s holds the kernel: harmonics
up to 2σ* = T/πσ carry 95 % of it. *Theory* is the error of that regression from the three days of a window (closed
form, by harmonic; Rasmussen and Williams 2006, sections 2.6 and 7.1).

Attention is no such regression. Its weights are exponentials of its scores: with scores β·f(x) and a Gaussian f of
width σ they fall off around every whole period like a Gaussian of width σ/√β, and training sets β by the size of
queries and keys. So a kernel that is too wide can be made narrow, even one of a single harmonic; one that is too narrow
can be made wide only by leaving its planes of high harmonics idle. How far that mends a kernel that does not fit is
what is asked.
"""


def chapters(results: Results) -> list[Chapter]:
    """Show the sweep over σ and the grid beside the theory, and say what follows for the defaults."""
    found = optima(results)
    if not found:
        return []
    tables = [_sweep(results), *(table for name in WIDTHS if (table := _grid(results, name)) is not None)]
    return [
        Chapter("Beside the theory", THEORY, tables, [_chart(results)]),
        Chapter("What follows for the defaults", _follows(results)),
    ]


def _sweep(results: Results) -> Table:
    rows = []
    for name, one in optima(results).items():
        theory = expected(results, name)
        own = DIVISORS.index(one.own)
        for i, divisor in enumerate(DIVISORS):
            rise = one.rise(divisor)
            rows.append(
                {
                    "routine": f"w={fraction(one.own)}",
                    "σ": fraction(divisor),
                    "error": f"{one.errors[:, i].mean():.3f}",
                    "times that at σ = w": "1" if i == own else factor(rise).replace(" times", ""),
                    "theory": f"{theory[i]:.3f}",
                    "theory, times": f"{theory[i] / theory[own]:.2f}",
                    "best of resampled seeds": f"{100 * float(np.mean(one.resampled == divisor)):.0f} %",
                }
            )
    return Table(f"Error over the width of the kernel, s = {TRUNCATIONS[-1]}", pd.DataFrame(rows))


def _grid(results: Results, name: str) -> Table | None:
    grid = measured_grid(results, name)
    if grid is None:
        return None
    theory = expected_grid(results, name)
    rows = [
        {"s": str(s)} | {fraction(d): f"{grid[i, j]:.2f} ({theory[i, j]:.2f})" for j, d in enumerate(DIVISORS)}
        for i, s in enumerate(TRUNCATIONS)
    ]
    title = f"On {results.tasks[name].title}: times the error of the kernel that matches (theory), by s and σ"
    return Table(title, pd.DataFrame(rows))


def _chart(results: Results) -> LineChart:
    """Draw the rise off the routine's own width, measured and expected."""
    lines = []
    for name, one in optima(results).items():
        rises = [one.rise(divisor) for divisor in DIVISORS]
        over = np.log2(one.own / np.asarray(DIVISORS))
        label = f"w={fraction(one.own)}"
        mean, low, high = (np.array([getattr(rise, key) for rise in rises]) for key in ("mean", "low", "high"))
        known = len(one.errors) > 1
        lines.append(Line(f"{label}, measured", over, mean, low if known else None, high if known else None))
        theory = expected(results, name)
        lines.append(Line(f"{label}, theory", over, theory / theory[DIVISORS.index(one.own)], marks=True))
    return LineChart(
        "rise",
        "Error of kernels of other widths than the routine's",
        "doublings of σ from the width of the routine",
        "times the error at σ = w",
        lines,
    )


def _follows(results: Results) -> str:
    """Say whether σ = T/12, s = 6 can stay the default."""
    found = optima(results)
    going, against = moves(found), default_contrasts(results)
    lost = [contrast for contrast in against if contrast.ruling == "higher"]
    lines = []
    if lost:
        worst = max(lost, key=lambda contrast: contrast.times.mean)
        lines.append(
            f"- The default σ = T/12, s = 6 is wrong for narrower routines: {times(worst)} the error of "
            f"{worst.second} on {results.tasks[worst.place.task].title}. It stays for routines whose neighbouring "
            "phases are alike, and `sigma_over_period` and `truncation` are to be set together where they are not."
        )
    elif against:
        lines.append(
            "- The default σ = T/12, s = 6 stays: on no narrower routine that was tried is it shown to lose to the "
            "kernel that matches."
        )
    wide = [one for one in found.values() if one.refuted and one.best < one.own]
    if wide:
        lines.append(
            f"- On {len(wide)} of {len(found)} routines a kernel wider than the routine is shown to be better, so σ is "
            "not to be set to the width that a routine has: a wider kernel leaves more planes to the lowest harmonics, "
            "and training sharpens it."
        )
    if going is not None and going.low > 0:
        lines.append(
            "- The best σ goes with the routine, so it is worth a search: `clock.sigma_over_period` of `fints tune` "
            "covers 0.03 to 0.14 of the period and should begin at 0.02 for routines of single bars."
        )
    elif going is not None:
        lines.append(
            "- The best σ is not shown to go with the routine: a search over `clock.sigma_over_period` is to be the "
            "last thing that a budget is spent on."
        )
    return "\n".join(lines)
