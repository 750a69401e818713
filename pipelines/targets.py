"""All targets of a night, side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest.workers import cores
from fints.errors import DataError, ModelError, SeriesError
from pipelines.processes import Call, side_by_side
from pipelines.registration import fetch, moved_by_hand, synchronise, wanted
from pipelines.shelf import Shelf
from pipelines.succession import Succession
from pipelines.target import TargetNight, forecast_target

if TYPE_CHECKING:
    from pathlib import Path

    from fints.settings import NightlySettings
    from pipelines.gathered import Reading
    from pipelines.progress import Stages


@dataclass(frozen=True, slots=True)
class NightInputs:
    """What the targets of a night have in common; bars are read where they are needed.

    Parameters
    ----------
    settings : NightlySettings
    models : pathlib.Path
        Folder of the fitted models, in a home that is locked by whoever works on it.
    reading : Reading
    decided_by : pandas.Timestamp, optional
        On a replay, the instant up to which decisions about the model in use count; nothing is decided or written then.
    newest : pandas.Timestamp, optional
        See `pipelines.succession.Succession`.
    """

    settings: NightlySettings
    models: Path
    reading: Reading
    decided_by: pd.Timestamp | None = None
    newest: pd.Timestamp | None = None


def forecast_targets(inputs: NightInputs, stages: Stages) -> tuple[tuple[TargetNight, ...], pd.DataFrame]:
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
    workers, targets = inputs.settings.workers, inputs.settings.targets
    replayed = inputs.decided_by is not None
    moved, warnings = ({}, []) if replayed else moved_by_hand(inputs.settings, inputs.models)
    calls = [Call(_forecast, (inputs, target, moved.get(target, ""))) for target in targets]
    done = side_by_side(calls, workers.count or cores(), workers.threads, stages)
    nights, problems = [], []
    for target, night in zip(targets, done, strict=True):
        if isinstance(night, TargetNight):
            nights.append(night)
            problems += [{"target": target, **asdict(problem)} for problem in night.problems]
        else:
            problems.append({"unique_id": "all series", "target": target, "reason": night, "left_out": True})
    if wanted(inputs.settings) and not replayed:
        with stages.stage("model registry"):
            warnings += synchronise(inputs.settings, inputs.models, [night.target for night in nights])
    if nights and warnings:
        nights[0] = replace(nights[0], notes=(*nights[0].notes, *(f"Warning: {text}" for text in warnings)))
    if not nights:
        raise SeriesError("nothing can be forecast. " + " ".join(dict.fromkeys(str(p["reason"]) for p in problems)))
    return tuple(nights), pd.DataFrame(problems, columns=["unique_id", "target", "reason", "left_out"])


def _forecast(inputs: NightInputs, target: str, moved: str, stages: Stages) -> TargetNight | str:
    """Forecast one target; return why not, if it cannot be."""
    settings = inputs.settings
    shelf = Shelf.under(inputs.models, settings.dataset, target, settings.digest)
    book = Succession.book_under(inputs.models, (settings.dataset, settings.interval, target))
    # a replay works in a folder of its own, and takes what is there
    fetched = None if inputs.decided_by is not None else partial(fetch, settings, inputs.models, target)
    succession = Succession(book, inputs.reading.now, inputs.decided_by, moved, fetched, inputs.newest)
    try:
        return forecast_target(inputs.reading, target, settings, shelf, stages, succession=succession)
    except (DataError, ModelError) as error:
        return str(error)
