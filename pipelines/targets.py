"""All targets of a night, side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest.workers import cores
from fints.bars.store import BarStore
from fints.errors import DataError, ModelError, SeriesError
from pipelines.asof import observe
from pipelines.processes import Call, side_by_side
from pipelines.shelf import Shelf
from pipelines.target import TargetNight, forecast_target

if TYPE_CHECKING:
    from fints.settings import NightlySettings
    from pipelines.home import Home
    from pipelines.progress import Stages


@dataclass(frozen=True, slots=True)
class Evening:
    """What the targets of a night have in common; bars are read where they are needed.

    Parameters
    ----------
    settings : NightlySettings
    home : Home
        Locked by whoever works on it.
    symbols : tuple of str
    version : int
        Of the stored bars.
    live : bool
        Whether the source goes on by itself.
    asked : pandas.Timestamp, optional
        As-of as it was asked for.
    now : pandas.Timestamp
    """

    settings: NightlySettings
    home: Home
    symbols: tuple[str, ...]
    version: int
    live: bool
    asked: pd.Timestamp | None
    now: pd.Timestamp


def forecast_targets(evening: Evening, stages: Stages) -> tuple[tuple[TargetNight, ...], pd.DataFrame]:
    """Forecast every target; one that cannot be is a problem, and the others go on.

    Returns
    -------
    nights : tuple of TargetNight
    problems : pandas.DataFrame
        ``unique_id, target, reason, left_out``.

    Raises
    ------
    SeriesError
        If nothing can be forecast.
    ModelError
        If a process was killed.
    """
    workers, targets = evening.settings.workers, evening.settings.targets
    calls = [Call(_forecast, (evening, target)) for target in targets]
    done = side_by_side(calls, workers.count or cores(), workers.threads, stages)
    nights, problems = [], []
    for target, night in zip(targets, done, strict=True):
        if isinstance(night, TargetNight):
            nights.append(night)
            problems += [{"target": target, **asdict(problem)} for problem in night.problems]
        else:
            problems.append({"unique_id": "all series", "target": target, "reason": night, "left_out": True})
    if not nights:
        raise SeriesError("nothing can be forecast. " + " ".join(str(p["reason"]) for p in problems))
    return tuple(nights), pd.DataFrame(problems, columns=["unique_id", "target", "reason", "left_out"])


def _forecast(evening: Evening, target: str, stages: Stages) -> TargetNight | str:
    """Forecast one target; return why not, if it cannot be."""
    settings = evening.settings
    bars = BarStore(evening.home.store).read(list(evening.symbols), settings.interval, version=evening.version)
    bars, as_of = observe(bars, evening.asked, live=evening.live, now=evening.now)
    shelf = Shelf.under(evening.home.models, settings.dataset, target, settings.digest)
    try:
        return forecast_target(bars, target, settings, as_of, shelf, stages)
    except (DataError, ModelError) as error:
        return str(error)
