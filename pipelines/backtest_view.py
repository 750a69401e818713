"""What a person sees who follows the link to the curves of a backtest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fints.report.backtest_curves import MOST_DISTANCES
from fints.tracking import Chart, ChartSection, SavedView

if TYPE_CHECKING:
    from collections.abc import Iterable

REPORT = "report/index.html"
"""The page among the artifacts of the parent."""

VERDICT = "fints.verdict"
"""Tag of the parent with its first sentence."""

VIEW = "fints.view."
"""Beginning of the tags of the parent with the keys of saved views, by target."""

COLUMNS = ("rmse", "mae", "crps", "skill", "coverage80", "dm_p", "extrapolation_rmse", "seconds")

SECTIONS: tuple[tuple[str, Literal["LINE", "BAR"], str, int], ...] = (
    ("by_horizon/", "LINE", "Errors by bars ahead", 2),
    ("extrapolation/", "LINE", "Errors beyond the trained horizon", 2),
    ("headline/", "BAR", "Scores", 3),
    ("by_fold/", "LINE", "Errors by window", 2),
)
"""Beginning of metrics, how they are drawn, under which heading, how many side by side."""

BY_BARS = ("by_horizon/", "extrapolation/")

FOLDED = (ChartSection("train", unfolded=False), ChartSection("theta", unfolded=False))
"""Sections that MLflow fills itself: training curves and learned periods, by training step."""


def search_of(parent: str, target: str) -> str:
    """Return MLflow's search for the models of a backtest on a target."""
    return f"tags.`fints.backtest_id` = '{parent}' AND tags.`fints.target` = '{target}'"


def comparison_view(parent: str, name: str, target: str, metrics: Iterable[str], h: int) -> SavedView:
    """Lay out the models of a backtest on a target: a table by RMSE, and charts of every error.

    Parameters
    ----------
    parent : str
        Id of the run of the backtest.
    name : str
        Of that run.
    target : str
    metrics : iterable of str
        Those that were logged, in the order of their charts.
    h : int
        Bars ahead: of many, curves by bars ahead are smoothed.
    """
    metrics = tuple(metrics)
    drawn = [
        ChartSection(
            heading,
            tuple(Chart(metric, kind, _smoothed(begin, h)) for metric in metrics if metric.startswith(begin)),
            columns,
        )
        for begin, kind, heading, columns in SECTIONS
    ]
    return SavedView(
        key=f"{parent[:12]}-{target}",
        name=f"{name}: {target}",
        search=search_of(parent, target),
        order_by="headline/rmse",
        columns=tuple(f"headline/{column}" for column in COLUMNS if f"headline/{column}" in metrics),
        sections=(*(section for section in drawn if section.charts), *FOLDED),
    )


def _smoothed(begin: str, h: int) -> bool:
    return begin in BY_BARS and h > MOST_DISTANCES
