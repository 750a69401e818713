"""The forecasters that a night averages, and those that it is compared with."""

from __future__ import annotations

import logging
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from fints.baselines import BASELINES, HAR, Naive, SeasonalNaive
from fints.errors import SeriesError
from fints.sessions import parse_interval
from pipelines.pantry import Pantry

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from fints.forecast import Forecaster
    from fints.settings import NightlySettings
    from pipelines.excerpt import Excerpt

LOG = logging.getLogger(__name__)


def members(settings: NightlySettings) -> list[Forecaster]:
    """Build the baselines that a night averages with its transformer, unfitted; none where it ships that alone."""
    if not settings.combination.enabled:
        return []
    return [BASELINES[name].build(settings.h) for name in settings.combination.members]


def compared(settings: NightlySettings) -> list[Forecaster]:
    """Build the baselines of a hold-out, unfitted: those that every night is compared with, and the members."""
    h, daily = settings.h, parse_interval(settings.interval) is None
    usual = [HAR(h), HAR(h, calendar=True), Naive(h), SeasonalNaive(h, season="week" if daily else "bar")]
    names = [model.name for model in usual]
    return [*usual, *(member for member in members(settings) if member.name not in names)]


@dataclass(slots=True)
class FittedMembers:
    """Baselines fitted for a night.

    Parameters
    ----------
    models : list of Forecaster
        Those that could be fitted.
    series : dict of str to frozenset of str
        What the models named here can forecast; the others can forecast every series.
    failures : dict of str to str
        Those that could not, with the cause.
    """

    models: list[Forecaster] = field(default_factory=list)
    series: dict[str, frozenset[str]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


def fit_members(
    models: Iterable[Forecaster], rows: Excerpt, forecast: Iterable[str], pantry: Pantry | None = None
) -> FittedMembers:
    """Fit baselines; one that fails is named, and the others go on.

    Parameters
    ----------
    models : iterable of Forecaster
        Unfitted; they are copied.
    rows : Excerpt
        To learn from.
    forecast : iterable of str
        Series that are to be forecast; they may be more than those of the panel.
    pantry : Pantry, optional
        Where what they learned from the same rows may be kept.
    """
    found, wanted = FittedMembers(), frozenset(map(str, forecast))
    panel = cache(rows.cut)  # once, for all models that have to be fitted

    def fit(model: Forecaster) -> tuple[Forecaster, frozenset[str]]:
        return _fit(model, panel())

    for model in models:
        try:
            fitted, able = (pantry or Pantry()).fitted(model, rows, fit)
        except Exception as error:  # whatever a member raises, the others go on
            LOG.debug("where %s failed", model.name, exc_info=True)
            found.failures[model.name] = f"{type(error).__name__}: {error}"
            continue
        found.models.append(fitted)
        if not wanted <= able:
            found.series[model.name] = able
    return found


def _fit(model: Forecaster, panel: pd.DataFrame) -> tuple[Forecaster, frozenset[str]]:
    """Fit a model on the series that are long enough for it."""
    names = frozenset(map(str, panel["unique_id"].unique()))
    try:
        return deepcopy(model).fit(panel), names
    except SeriesError:
        able = _long_enough(model, panel)
        if not able or able == names:
            raise
        return deepcopy(model).fit(panel[panel["unique_id"].isin(able)].reset_index(drop=True)), able


def _long_enough(model: Forecaster, panel: pd.DataFrame) -> frozenset[str]:
    """Name the series that a model can learn from by themselves; the shortest is searched for by halving."""
    sizes = panel[panel["y"].notna()].groupby("unique_id").size().sort_values(kind="stable")
    first, end = 0, len(sizes)
    while first < end:
        middle = (first + end) // 2
        rows = panel[panel["unique_id"] == sizes.index[middle]].reset_index(drop=True)
        try:
            deepcopy(model).fit(rows)
            end = middle
        except SeriesError:
            first = middle + 1
    return frozenset(map(str, sizes.index[first:]))
