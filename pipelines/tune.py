"""A search for frequencies and encoding settings, from bars to a confirmed outcome."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from fints.series import SeriesProblem, get_target
from fints.tracking.redaction import redacted, traced
from fints.tuning import Budget, StudyStore, finish, search
from pipelines.gathered import PATIENCE, gather
from pipelines.terminal import counted
from pipelines.tune_prepared import base_model, prepare, study_store
from pipelines.tune_watch import Shown, told_by

if TYPE_CHECKING:
    import pandas as pd

    from fints.settings import TuneSettings
    from fints.tuning import TuningResult
    from pipelines.asof import AsOf
    from pipelines.fitted import PanelFacts
    from pipelines.home import Home
    from pipelines.progress import Stages
    from pipelines.tune_prepared import Prepared

LOG = logging.getLogger(__name__)
_LIBRARY = "fints.tuning"
_FINALISTS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Tuning:
    """What a search left behind.

    Parameters
    ----------
    settings : TuneSettings
    as_of : AsOf
    data_version : int
        Of the bars in the store.
    panel : PanelFacts
    result : TuningResult
    store : StudyStore
        Of the trials.
    problems : tuple of SeriesProblem
        Series left out, or shortened.
    failed : dict of str to str
        Symbols that the source did not deliver, with the cause.
    run_id : str, optional
        Of the parent MLflow run.
    warnings : tuple of str
        What went wrong without stopping the search.
    """

    settings: TuneSettings
    as_of: AsOf
    data_version: int
    panel: PanelFacts
    result: TuningResult
    store: StudyStore
    problems: tuple[SeriesProblem, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)
    run_id: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every symbol took part."""
        return not (self.failed or any(problem.left_out for problem in self.problems))


def run_tune(settings: TuneSettings, home: Home, stages: Stages, asked: pd.Timestamp | None = None) -> Tuning:
    """Bring the store up to date under the lock of the home, and search without it.

    Parameters
    ----------
    settings : TuneSettings
    home : Home
    stages : Stages
    asked : pandas.Timestamp, optional
        As-of: a naive date or an instant; everything known now by default.

    Raises
    ------
    ConfigError
        If the study of that name searched something else, or other data.
    StoreError
        If its trials cannot be reached.
    TuningError
        If every trial failed.
    FintsError
        If there is nothing to search on.
    """
    get_target(settings.target)
    base_model(settings, settings.periods.stated_plan()).design.network_for(0, 0)
    with told_by(_LIBRARY) as told:
        if settings.storage.url is not None:  # before anything that takes long
            study_store(settings, home, settings.name or "fints").check()
        with home.locked(PATIENCE):
            gathered = gather(settings, home, stages, asked)
        as_of, report = gathered.as_of, gathered.report
        ready = prepare(gathered.bars, settings, as_of, home, stages)
        result = _search(ready, settings, stages)
    return Tuning(
        settings=settings,
        as_of=as_of,
        data_version=gathered.reading.version,
        panel=ready.facts,
        result=result,
        store=ready.store,
        problems=ready.problems,
        failed=dict(report.failed),
        warnings=(*as_of.notes, *report.misplaced(), *ready.notes, *dict.fromkeys(told)),
    )


def _search(ready: Prepared, settings: TuneSettings, stages: Stages) -> TuningResult:
    try:
        with stages.stage(f"{settings.target}: {counted(settings.trials, 'trial')}") as stage:
            search(
                ready.tuner,
                ready.store,
                data_version=ready.facts.digest,
                budget=Budget(settings.trials, settings.timeout),
                workers=settings.wanted_workers,
                warm_start=settings.warm_start,
                progress=Shown(stage, settings.timeout).progress,
            )
        with stages.stage(f"{settings.target}: confirmation and test") as stage:
            fitted, most = count(1), fits_to_come(settings)
            return finish(
                ready.tuner,
                ready.store,
                lambda: stage(min(next(fitted), most), most),
                workers=settings.wanted_workers,
            )
    except (KeyboardInterrupt, SystemExit):
        kept = f"finished trials of {ready.store.name} are kept in {ready.store.location}; the same command goes on"
        stages.console.print(kept, highlight=False, markup=False, soft_wrap=True)
        raise


def fits_to_come(settings: TuneSettings) -> int:
    """Return how many models are fitted after a search, at most: those of the finalists and of the untuned plan."""
    return (1 + _FINALISTS) * (settings.folds.n_folds + settings.folds.confirm_folds)


def logged(done: Tuning, home: Home, stages: Stages) -> Tuning:
    """Log a search where that is wanted; where it fails, the outcome has a warning more."""
    from pipelines.tune_runs import track

    if not done.settings.tracking.enabled:
        return done
    with stages.stage("MLflow runs"):
        try:
            return replace(done, run_id=track(done, home))
        except Exception as error:  # noqa: BLE001 — whatever MLflow or its server raises, the search has its outcome
            LOG.debug("the runs could not be logged: %s", traced(error))
            later = "its trials are kept: run the same command again once it answers"
            warning = f"the runs could not be logged to MLflow: {redacted(error)}; {later}"
            return replace(done, warnings=(*done.warnings, warning))
