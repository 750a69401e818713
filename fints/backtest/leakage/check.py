"""The leak check: the same comparison in two futures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fints.backtest.leakage.report import Leak, LeakageReport, by_flow
from fints.backtest.leakage.shock import Shock
from fints.backtest.leakage.watched import Watched
from fints.backtest.walk_forward import WalkForward
from fints.series.panel import validate_panel
from fints.sessions.supposed import supposed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from fints.backtest.folds import Folds
    from fints.backtest.leakage.watched import Step
    from fints.backtest.walk_forward import Refit
    from fints.forecast import Forecaster

    PanelMaker = Callable[[pd.DataFrame], pd.DataFrame]
    ModelMaker = Callable[[pd.DataFrame, Folds], Sequence[Forecaster]]
    FoldMaker = Callable[[pd.DataFrame], Folds]
    Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a comparison is made from data.

    Parameters
    ----------
    models : callable
        From the whole panel and the windows to unfitted forecasters: all that is at hand when a comparison is set up.
        Whatever they take from the panel has to come from ``folds.training(panel, folds.cutoffs[0])``.
    folds : callable
        From the panel to the windows.
    panel : callable
        From the data to a panel (schema ``panel``); by default the data are one.
    refit : bool, int or callable
        See `WalkForward`.
    """

    models: ModelMaker
    folds: FoldMaker
    panel: PanelMaker = validate_panel
    refit: Refit = True


def check_leakage(data: pd.DataFrame, recipe: Recipe, progress: Told | None = None) -> LeakageReport:
    """Change everything after a cutoff and see whether anything up to it moves.

    The comparison is run on the data, and again for the first and for the last cutoff with another future: other
    prices, ranges, volumes, companions and instants of fetching, and closures of the exchanges that are announced after
    the cutoff; after the last of several cutoffs one of several series ends, too. What a model was shown, everything it
    holds after fitting and after each forecast, and the forecasts themselves have to be the same bit by bit in every
    window up to that cutoff.

    Parameters
    ----------
    data : pandas.DataFrame
        Bars, or a panel with the columns ``exchange`` and ``interval``.
    recipe : Recipe
    progress : callable, optional
        Called as ``progress(runs done, runs)``.

    Returns
    -------
    LeakageReport

    Raises
    ------
    FintsError
        If no comparison can be made of the data.

    Notes
    -----
    A model that keeps what it saw outside of itself, in a module or a file, is not caught if it takes it from there
    the second time.
    """
    panel = recipe.panel(data)
    folds = recipe.folds(panel)
    windows = sorted({0, len(folds) - 1})
    as_it_was, failures = _run(recipe, panel, folds)
    leaks: list[Leak] = []
    for done, window in enumerate(windows, start=1):
        if progress is not None:
            progress(done, len(windows) + 1)
        shock = Shock.after(folds, window, panel)
        with supposed(shock.closures):
            otherwise, failed = _run(recipe, recipe.panel(shock.on(data)), _first(folds, window + 1))
        failures = {**failures, **{name: f"{cause} (in another future)" for name, cause in failed.items()}}
        leaks += [leak for name in otherwise for leak in _moved(as_it_was.get(name), otherwise[name])]
    unsteady = _unsteady(recipe, panel, folds, as_it_was) if leaks else {}
    kept = [leak for leak in leaks if leak.model not in {*unsteady, *failures}]
    compared = {name: _size(model) for name, model in as_it_was.items()}
    if progress is not None:
        progress(len(windows) + 1, len(windows) + 1)
    cutoffs = tuple(folds.cutoffs[window] for window in windows)
    return LeakageReport(compared, by_flow(kept), failures, unsteady, cutoffs)


def _run(recipe: Recipe, panel: pd.DataFrame, folds: Folds) -> tuple[dict[str, Watched], dict[str, str]]:
    watched = [Watched(model) for model in recipe.models(panel, folds)]
    result = WalkForward(folds, recipe.refit).run(panel, watched)
    return {model.name: model for model in watched}, dict(result.failures)


def _first(folds: Folds, windows: int) -> Folds:
    local = {exchange: stamps[:windows] for exchange, stamps in folds.local.items()}
    return replace(folds, cutoffs=folds.cutoffs[:windows], local=local)


def _unsteady(recipe: Recipe, panel: pd.DataFrame, folds: Folds, before: dict[str, Watched]) -> dict[str, str]:
    """Find what comes out differently from the same data, which is chance and no leak."""
    again, _ = _run(recipe, panel, folds)
    found = [leak for name in again for leak in _moved(before.get(name), again[name])]
    return {leak.model: f"{leak.stage}, {leak.place}" for leak in reversed(found)}


def _moved(before: Watched | None, after: Watched) -> list[Leak]:
    """Compare the calls that two runs have in common, in order."""
    if before is None:
        return [Leak(after.name, "plan", "name of the model", step.at) for step in after.forecasts[:1]]
    pairs = [*zip(before.fits, after.fits, strict=False), *zip(before.forecasts, after.forecasts, strict=False)]
    return [leak for one, other in pairs for leak in _differing(after.name, one, other)]


def _differing(model: str, one: Step, other: Step) -> list[Leak]:
    pieces = dict.fromkeys([*one.pieces, *other.pieces])
    differing = [piece for piece in pieces if one.pieces.get(piece) != other.pieces.get(piece)]
    return [Leak(model, stage, place, one.at) for stage, place in differing]


def _size(model: Watched) -> int:
    return sum(len(step.pieces) for step in (*model.fits, *model.forecasts))
