"""The figures of the report."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from fints.studies.comparison.wording import BANDS
from fints.studies.findings import Forest, ForestRow, Line, LineChart
from fints.studies.intervals import t_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.studies.comparison.contrast import Band, Contrast
    from fints.studies.comparison.results import Results

MOST_ROWS = 28
"""Rows of one figure that stay legible."""

POINTS = 24
"""Points of a line: neighbouring bars ahead are averaged where there are more."""

FEWEST = 3
"""Seeds from which on an interval is drawn."""

MOST_LINES = 8
"""Lines of one figure that stay legible."""


def forests(results: Results, band: Band | None) -> list[Forest]:
    """Draw the ratios of all comparisons with their intervals, in as many figures as stay legible.

    Parameters
    ----------
    results : Results
    band : {"within", "beyond", "all"}, optional
        Only this part of the horizon.
    """
    wanted = [c for c in results.contrasts if band in (None, c.place.band)]
    places = list(dict.fromkeys(c.place for c in wanted))
    chosen = iter(sorted(wanted, key=lambda c: places.index(c.place)))
    charts: list[Forest] = []
    while part := list(islice(chosen, MOST_ROWS)):
        slug = "ratios" if not charts else f"ratios-{len(charts) + 1}"
        charts.append(_forest(slug, part, results))
    return charts


def _forest(slug: str, contrasts: Sequence[Contrast], results: Results) -> Forest:
    rows = []
    for contrast in contrasts:
        times = contrast.times
        mode = f", {contrast.place.mode}" if len(results.modes) > 1 else ""
        rows.append(
            ForestRow(
                name=f"{contrast.first} / {contrast.second}",
                group=f"{contrast.place.task}{mode}: {BANDS[contrast.place.band]}",
                value=times.mean,
                low=times.low,
                high=times.high,
                stands=contrast.differs,
            )
        )
    return Forest(
        slug=slug,
        title="How many times the error of the second arm the first one has",
        x_label="ratio of errors (RMSE) with its 95 % interval; below 1 the first is better",
        rows=rows,
        reference=1.0,
        margin=results.margin,
    )


def by_horizon(results: Results, drawn: Sequence[tuple[str, str]]) -> list[LineChart]:
    """Draw the error of every arm by bars ahead, for some tasks and modes: the first that were run by default."""
    cells = list(dict.fromkeys((task, mode) for task, mode, _ in results.units))
    chosen = [cell for cell in drawn if cell in cells] or cells[:1]
    charts = []
    for task, mode in chosen:
        arms = [name for of, how, name in results.units if (of, how) == (task, mode)][:MOST_LINES]
        suffix = f" ({mode})" if len(results.modes) > 1 else ""
        charts.append(
            LineChart(
                slug=f"{task}-{mode}-horizon",
                title=f"{results.tasks[task].title}{suffix}: error by horizon, trained for "
                f"{results.tasks[task].shape.h} bars",
                x_label="bars ahead",
                y_label="root mean square error, units of the series",
                lines=[_line(name, results.squared(name, task, mode)) for name in arms],
            )
        )
    return charts


def _line(name: str, squared: NDArray[np.float64]) -> Line:
    """Draw root mean square errors, shape (seeds, horizon), with the interval over seeds of their logarithm."""
    horizon = squared.shape[1]
    parts = np.array_split(np.arange(horizon), min(POINTS, horizon))
    ends = [t_interval(0.5 * np.log(squared[:, part].mean(axis=1))) for part in parts]
    mean, low, high = (np.exp([getattr(end, key) for end in ends]) for key in ("mean", "low", "high"))
    known = len(squared) >= FEWEST
    ahead = np.array([part.mean() + 1 for part in parts])
    return Line(name, ahead, mean, low if known else None, high if known else None)
