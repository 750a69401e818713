"""Which series the models of a backtest can learn from before its first window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.backtest import Folds, make_folds
from fints.backtest.folds import leading
from fints.errors import SeriesError
from fints.series import SeriesProblem, usable
from fints.settings import TransformerEntry

if TYPE_CHECKING:
    import pandas as pd

    from fints.settings import BacktestSettings


def place_folds(panel: pd.DataFrame, settings: BacktestSettings) -> Folds:
    """Place the windows of a backtest; every target of fints is made of its own bar, or of it and those before."""
    return make_folds(
        panel,
        settings.h,
        settings.windows,
        settings.step,
        settings.purge,
        settings.embargo,
        input_size=settings.train_size,
        warm_up=settings.warm_up or 1,
    )


def learnable(panel: pd.DataFrame, settings: BacktestSettings) -> tuple[pd.DataFrame, Folds, list[SeriesProblem]]:
    """Keep the series that every model can learn from before the first window, whatever becomes of them later.

    Parameters
    ----------
    panel : pandas.DataFrame
    settings : BacktestSettings

    Returns
    -------
    panel : pandas.DataFrame
    folds : Folds
    problems : list of SeriesProblem
        Series left out, with the least length that they lack.

    Raises
    ------
    SeriesError
        If none is left.
    """
    least = settings.least_rows()
    kept, problems = usable(panel, least)
    problems = [_of_windows(problem, settings, least) for problem in problems]
    while len(kept):
        too_short = _leads_too_little(kept, settings, least)
        if too_short is not None:
            problems.append(too_short)
            kept = kept[kept["unique_id"] != too_short.unique_id].reset_index(drop=True)
            continue
        folds = place_folds(kept, settings)
        training = folds.training(kept, folds.cutoffs[0])
        learned, short = usable(training, least)
        refused = [_of_windows(problem, settings, least) for problem in short if problem.left_out]
        here = set(learned["unique_id"])
        absent = [str(name) for name in kept["unique_id"].unique() if name not in set(training["unique_id"])]
        refused += [SeriesProblem(name, f"no bar to learn from before {folds.cutoffs[0]:%Y-%m-%d}") for name in absent]
        refused += _refused_by_baselines(learned, settings)
        problems += refused
        here -= {problem.unique_id for problem in refused}
        if len(here) == kept["unique_id"].nunique():
            return kept, folds, problems
        # without them the cutoffs may move, so the others are looked at again
        kept = kept[kept["unique_id"].isin(here)].reset_index(drop=True)
    raise SeriesError("; ".join(map(str, problems)))


def _leads_too_little(panel: pd.DataFrame, settings: BacktestSettings, least: int) -> SeriesProblem | None:
    """Say of the series that the windows are counted on whether it has no room for them."""
    name, stamps = leading(panel)
    purge = 0 if settings.purge == "auto" else settings.purge
    needed = least + purge + settings.embargo + settings.h + (settings.windows - 1) * settings.step
    if len(stamps) >= needed:
        return None
    problem = SeriesProblem(name, f"too short: {len(stamps)} values, at least {needed} are needed")
    return _of_windows(problem, settings, least)


def _of_windows(problem: SeriesProblem, settings: BacktestSettings, least: int) -> SeriesProblem:
    """Say of a series that is too short what for."""
    if not problem.left_out:
        return problem
    bars = f"{settings.windows} windows of {settings.h} bars, {settings.step} apart, after {least} to learn from"
    return SeriesProblem(problem.unique_id, f"{problem.reason}: {bars}")


def _refused_by_baselines(training: pd.DataFrame, settings: BacktestSettings) -> list[SeriesProblem]:
    """Try baselines that compete among themselves on the short series; they state the length that they need."""
    if settings.warm_up is not None or any(isinstance(entry, TransformerEntry) for entry in settings.models):
        return []
    sizes = training.groupby("unique_id").size()
    problems = []
    for name in sizes.index[sizes < settings.input_size + settings.h]:
        rows = training[training["unique_id"] == name].reset_index(drop=True)
        for entry in settings.models:
            assert not isinstance(entry, TransformerEntry)
            try:
                entry.build(settings.h).fit(rows)
            except SeriesError as error:
                problems.append(SeriesProblem(str(name), str(error).removeprefix(f"{name}: ")))
                break
    return problems
