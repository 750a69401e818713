"""The tables of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.studies.comparison.wording import p_value, percent, ruled, times
from fints.studies.findings import Table
from fints.studies.wording import number

if TYPE_CHECKING:
    from fints.studies.comparison.results import Results
    from fints.studies.intervals import Interval


def contrast_table(results: Results) -> Table:
    """Return every comparison with its intervals, its p-value and the seeds that it needs."""
    rows = []
    for contrast in results.contrasts:
        low, high = contrast.bootstrap
        row = {"task": contrast.place.task, "mode": contrast.place.mode, "bars ahead": contrast.place.band}
        row |= {
            "first / second": f"{contrast.first} / {contrast.second}",
            "times the error (Student's 95 %)": times(contrast).replace(" times", ""),
            "resampled seeds": f"{low:.3f} to {high:.3f}",
            "seeds": str(contrast.seeds),
            "p (Holm)": p_value(contrast),
            "d_z": "–" if np.isnan(contrast.effect) else f"{contrast.effect:+.2f}",
            "first is": ruled(contrast),
            f"seeds for {percent(results.smallest)}": _count(contrast.needs(results.smallest)),
            "seeds for observed": _count(contrast.needs()),
        }
        rows.append(row)
    return Table("Ratios of errors, paired by seed", _without_single(pd.DataFrame(rows), results))


def error_table(results: Results) -> Table:
    """Return the error of every arm wherever it was run."""
    rows = []
    for task, mode, arm in results.units:
        row = {"task": task, "mode": mode, "arm": arm}
        for band in ("within", "beyond"):
            row[band] = _span(results.interval(arm, task, mode, band))
        row["seeds"] = str(len(results.units[task, mode, arm]))
        rows.append(row)
    caption = "Root mean square errors up to the trained horizon and beyond it: mean over seeds (Student's 95 %)"
    return Table(caption, _without_single(pd.DataFrame(rows), results))


def _without_single(frame: pd.DataFrame, results: Results) -> pd.DataFrame:
    """Leave out the column of the mode where there is but one."""
    return frame.drop(columns=["mode"]) if len(results.modes) == 1 and len(frame) else frame


def _count(seeds: int | None) -> str:
    return "–" if seeds is None else f"{seeds:,}"


def _span(interval: Interval) -> str:
    if interval.n == 1:
        return f"{interval.mean:.3g}"
    return f"{interval.mean:.3g} ({number(max(interval.low, 0.0))} to {number(interval.high)})"
