"""What was measured, beside what the theory expects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.comparison import BARE
from fints.studies.kernel_width.grid import DIVISORS, FULLEST, TRUNCATIONS, WIDTHS, arm_name
from fints.studies.kernel_width.optimum import Optimum
from fints.studies.kernel_width.routines import Routines
from fints.studies.kernel_width.theory import Reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.studies.comparison import Results


def optima(results: Results, truncation: int = FULLEST) -> dict[str, Optimum]:
    """Return the optimum of every routine whose sweep over σ was run, by name of the task."""
    found = {}
    for name, own in WIDTHS.items():
        arms = [arm_name(divisor, truncation) for divisor in DIVISORS]
        if all(results.has(arm, name, BARE.name) for arm in arms):
            errors = np.stack([results.rmse(arm, name, BARE.name, "all") for arm in arms], axis=1)
            found[name] = Optimum(own, DIVISORS, errors)
    return found


def reading(results: Results, name: str) -> Reading:
    """Return what a window shows of the routine of a task."""
    task = results.tasks[name]
    source = task.source
    assert isinstance(source, Routines)
    period = round(source.periods[0])
    return Reading(period, source.widths[0], source.sigma, task.shape.input_size / period)


def expected(results: Results, name: str, truncation: int = FULLEST) -> NDArray[np.float64]:
    """Return the errors that the theory expects, by σ."""
    read = reading(results, name)
    return np.array([read.expected_error(read.period / divisor, truncation) for divisor in DIVISORS])


def measured_grid(results: Results, name: str) -> NDArray[np.float64] | None:
    """Return times the error of the kernel that matches, shape (truncations, widths); None if not all was run."""
    cells = [[arm_name(divisor, s) for divisor in DIVISORS] for s in TRUNCATIONS]
    if not all(results.has(arm, name, BARE.name) for row in cells for arm in row):
        return None
    logs = np.array([[np.log(results.rmse(arm, name, BARE.name, "all")).mean() for arm in row] for row in cells])
    grid: NDArray[np.float64] = np.exp(logs - logs[-1, DIVISORS.index(WIDTHS[name])])
    return grid


def expected_grid(results: Results, name: str) -> NDArray[np.float64]:
    """Return the same as the theory expects it."""
    rows = np.array([expected(results, name, s) for s in TRUNCATIONS])
    grid: NDArray[np.float64] = rows / rows[-1, DIVISORS.index(WIDTHS[name])]
    return grid
