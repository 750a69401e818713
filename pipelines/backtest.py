"""A backtest: the configured models on rolling origins, and whether their differences mean anything."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest import cross_validation
from fints.bars.sources import make_source
from fints.bars.store import BarStore
from fints.errors import DataError, ModelError, PlanError, SeriesError
from fints.plan import FrequencyPlan
from fints.series import SeriesProblem, get_target, make_panel, panel_problems
from pipelines.asof import observe
from pipelines.backtest_runs import track
from pipelines.files import DIGITS
from pipelines.holdout import comparable
from pipelines.ingest import stored_symbols, update, wanted_symbols
from pipelines.model import detected_plan
from pipelines.roster import cycles_left_out, make_models
from pipelines.terminal import counted

if TYPE_CHECKING:
    from fints.backtest import CrossValidation
    from fints.settings import BacktestSettings
    from pipelines.asof import AsOf
    from pipelines.home import Home
    from pipelines.progress import Stages

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A sentence on two models.

    Parameters
    ----------
    model, against : str
        Names of the models.
    sentence : str
    """

    model: str
    against: str
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class TargetBacktest:
    """What a backtest found out about one target.

    Parameters
    ----------
    target : str
    plan : FrequencyPlan
        Made from the rows up to the first cutoff.
    result : CrossValidation
    verdicts : tuple of Verdict
        One for every model but the one tested against.
    problems : tuple of SeriesProblem
        Series left out, or shortened.
    """

    target: str
    plan: FrequencyPlan
    result: CrossValidation
    verdicts: tuple[Verdict, ...]
    problems: tuple[SeriesProblem, ...]

    def said_of(self, model: str) -> list[str]:
        """Return the sentences in which a model stands."""
        return [verdict.sentence for verdict in self.verdicts if model in (verdict.model, verdict.against)]


@dataclass(frozen=True, slots=True, eq=False)
class Backtest:
    """What a backtest left behind.

    Parameters
    ----------
    settings : BacktestSettings
    as_of : AsOf
    data_version : int
    targets : tuple of TargetBacktest
    failed : dict of str to str
        Symbols that the source did not deliver and targets that could not be compared, with the cause.
    run_id : str, optional
        Of the parent MLflow run.
    warnings : tuple of str
        What went wrong without stopping the backtest.
    """

    settings: BacktestSettings
    as_of: AsOf
    data_version: int
    targets: tuple[TargetBacktest, ...]
    failed: dict[str, str]
    run_id: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every model was scored on every series of every target."""
        lacking = any(t.result.failures or any(p.left_out for p in t.problems) for t in self.targets)
        return not (lacking or self.failed)

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "as_of": self.as_of.stamp.isoformat(),
            "dataset": self.settings.dataset,
            "data_version": self.data_version,
            "targets": {t.target: _plain(t) for t in self.targets},
            "failed": self.failed,
            "mlflow_run": self.run_id,
            "warnings": list(self.warnings),
        }


def run_backtest(settings: BacktestSettings, home: Home, stages: Stages) -> Backtest:
    """Bring the store up to date under the lock of the home, and compare the models without it.

    Parameters
    ----------
    settings : BacktestSettings
    home : Home
    stages : Stages

    Raises
    ------
    FintsError
        If nothing can be compared; a failure of single symbols, targets or models is reported instead.
    """
    for target in settings.targets:
        get_target(target)
    make_models(settings, FrequencyPlan.from_periods(settings.periods.priors))
    with home.locked():
        now = pd.Timestamp.now("UTC")
        store, source = BarStore(home.store), make_source(settings.source)
        report = update(source, store, settings, stages, now)
        symbols = stored_symbols(wanted_symbols(source, settings), store, settings, report)
        version = store.version()
        bars = store.read(symbols, settings.interval, version=version)
    bars, as_of = observe(bars, None, live=source.live, now=now)
    targets, failed = _targets(bars, settings, as_of, stages)
    left_out = dict.fromkeys(said for found in targets for said in cycles_left_out(settings, found.plan))
    warnings = (*report.misplaced(), *left_out)
    return Backtest(settings, as_of, version, targets, {**report.failed, **failed}, warnings=warnings)


def logged(done: Backtest, home: Home, stages: Stages) -> Backtest:
    """Log a backtest where that is wanted; where it fails, the outcome has a warning more."""
    if not done.settings.tracking.enabled:
        return done
    with stages.stage("MLflow runs"):
        try:
            return replace(done, run_id=track(done, home))
        except Exception as error:  # whatever MLflow or its server raises, the comparison stands
            LOG.debug("the runs could not be logged", exc_info=True)
            return replace(done, warnings=(*done.warnings, f"the runs could not be logged to MLflow: {error}"))


def _targets(
    bars: pd.DataFrame, settings: BacktestSettings, as_of: AsOf, stages: Stages
) -> tuple[tuple[TargetBacktest, ...], dict[str, str]]:
    """Compare on every target; one that cannot be is named, and the others go on."""
    compared, failed = [], {}
    for target in settings.targets:
        try:
            compared.append(compare_on(bars, target, settings, as_of, stages))
        except (DataError, ModelError, PlanError) as error:
            failed[target] = str(error)
    if not compared:
        raise SeriesError("nothing can be compared. " + " ".join(failed.values()))
    return tuple(compared), failed


def compare_on(
    bars: pd.DataFrame, target: str, settings: BacktestSettings, as_of: AsOf, stages: Stages
) -> TargetBacktest:
    """Take every model through the windows of one target.

    Raises
    ------
    SeriesError
        If no series is long enough.
    ModelError
        If no model finishes.
    """
    problems = panel_problems(bars, target)
    whole = make_panel(bars, target, known_at=as_of.known_at)
    # rows that an embargo takes off the training are none to learn from
    needed = settings.longest_input() + settings.embargo
    panel, training, left_out = comparable(whole, needed, settings.h, settings.n_windows, settings.step)
    problems += [SeriesProblem(name, "too short for the windows and what is learned from", True) for name in left_out]
    with stages.stage(f"{target}: cycles"):
        _, plan = detected_plan(training, settings.periods)
    models = make_models(settings, plan)
    order = [model.name for model in models]
    with stages.stage(f"{target}: {counted(len(models), 'model')} in {counted(settings.n_windows, 'window')}") as stage:
        result = cross_validation(
            panel,
            models,
            h=settings.h,
            n_windows=settings.n_windows,
            step_size=settings.step,
            refit=settings.refit,
            embargo=settings.embargo,
            progress=lambda name, done, total: stage(order.index(name) * total + done, len(order) * total),
        )
    if len(result.failures) == len(models):
        raise ModelError("no model finished: " + "; ".join(f"{n}: {cause}" for n, cause in result.failures.items()))
    return TargetBacktest(target, plan, result, verdicts(result, settings.against), tuple(problems))


def verdicts(result: CrossValidation, against: str | None) -> tuple[Verdict, ...]:
    """Say of every model how it did beside one; by default, of the best how it did beside every other.

    Parameters
    ----------
    result : CrossValidation
    against : str, optional
    """
    best, *others = result.leaderboard()["model"].astype(str)
    if against is None:
        pairs = [(best, other) for other in others]
    else:
        pairs = [(model, against) for model in (best, *others) if model != against]
    return tuple(Verdict(model, other, result.verdict(model, other)) for model, other in pairs)


def _plain(found: TargetBacktest) -> dict[str, object]:
    result = found.result
    frames = {
        "leaderboard": result.leaderboard(),
        "significance": result.significance(),
        "by_step": result.by_step(),
        "by_series": result.by_series(),
    }
    records = {name: json.loads(f.to_json(orient="records", double_precision=DIGITS)) for name, f in frames.items()}
    return {
        **records,
        "verdicts": [verdict.sentence for verdict in found.verdicts],
        "cutoffs": [cutoff.isoformat() for cutoff in result.folds.cutoffs],
        "plan": found.plan.to_dict()["cycles"],
        "problems": [{"unique_id": p.unique_id, "reason": p.reason, "left_out": p.left_out} for p in found.problems],
        "seconds": dict(result.seconds),
    }
