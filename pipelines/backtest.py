"""A backtest: the configured models on rolling origins, and whether their differences mean anything."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fints.backtest import Execution, JobStore, WalkForward, Workers
from fints.errors import DataError, ModelError, PlanError, SeriesError
from fints.series import SeriesProblem, get_target, make_panel, panel_problems
from fints.settings.backtest import TransformerEntry
from fints.tracking.redaction import redacted, traced
from pipelines.alike import told_alike
from pipelines.backtest_plain import plain
from pipelines.backtest_runs import track
from pipelines.fitted import FittedModels, PanelFacts, jobs_folder
from pipelines.gathered import PATIENCE, gather
from pipelines.learnable import learnable
from pipelines.model import detected_plan
from pipelines.roster import cycles_left_out, make_entrants, make_models
from pipelines.terminal import counted

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from fints.backtest import CrossValidation, Extrapolation
    from fints.backtest.pace import Standing
    from fints.plan import FrequencyPlan
    from fints.settings import BacktestSettings
    from pipelines.asof import AsOf
    from pipelines.home import Home
    from pipelines.progress import Stage, Stages

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
    extrapolation : Extrapolation, optional
        Errors by distance, where transformers were trained for fewer bars than are forecast.
    against : str, optional
        The model that all others were to be tested against.
    baseline : str, optional
        The model that skill is measured over, see `baseline_of`.
    panel : PanelFacts, optional
        What it was compared on.
    """

    target: str
    plan: FrequencyPlan
    result: CrossValidation
    verdicts: tuple[Verdict, ...]
    problems: tuple[SeriesProblem, ...]
    extrapolation: Extrapolation | None = None
    against: str | None = None
    baseline: str | None = None
    panel: PanelFacts | None = None

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
    misplaced : tuple of str
        Of those, what says that bars fall on days when their exchange was shut.
    """

    settings: BacktestSettings
    as_of: AsOf
    data_version: int
    targets: tuple[TargetBacktest, ...]
    failed: dict[str, str]
    run_id: str | None = None
    warnings: tuple[str, ...] = ()
    misplaced: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every model was scored on every series of every target, and the bars are those of their exchange."""
        lacking = any(t.result.failures or any(p.left_out for p in t.problems) for t in self.targets)
        return not (lacking or self.failed or self.misplaced)

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "as_of": self.as_of.stamp.isoformat(),
            "dataset": self.settings.dataset,
            "data_version": self.data_version,
            "targets": {t.target: plain(t) for t in self.targets},
            "failed": self.failed,
            "mlflow_run": self.run_id,
            "warnings": list(self.warnings),
        }


def run_backtest(settings: BacktestSettings, home: Home, stages: Stages, asked: pd.Timestamp | None = None) -> Backtest:
    """Bring the store up to date under the lock of the home, and compare the models without it.

    Parameters
    ----------
    settings : BacktestSettings
    home : Home
    stages : Stages
    asked : pandas.Timestamp, optional
        As-of: a naive date or an instant; everything known now by default.

    Raises
    ------
    FintsError
        If nothing can be compared; a failure of single symbols, targets or models is reported instead.
    """
    for target in settings.targets:
        get_target(target)
    make_models(settings, settings.periods.stated_plan())
    make_workers(settings)
    with home.locked(PATIENCE):
        gathered = gather(settings, home, stages, asked)
    as_of, report = gathered.as_of, gathered.report
    targets, failed = _targets(gathered.bars, settings, as_of, stages, home)
    left_out = dict.fromkeys(said for found in targets for said in cycles_left_out(settings, found.plan))
    alike = dict.fromkeys(said for found in targets for said in told_alike(found.result, settings))
    misplaced = tuple(report.misplaced())
    warnings = (*as_of.notes, *misplaced, *left_out, *alike)
    gone = {**report.failed, **failed}
    version = gathered.reading.version
    return Backtest(settings, as_of, version, targets, gone, warnings=warnings, misplaced=misplaced)


def logged(done: Backtest, home: Home, stages: Stages, page: Path | None = None) -> Backtest:
    """Log a backtest, with its page, where that is wanted; where it fails, the outcome has a warning more."""
    if not done.settings.tracking.enabled:
        return done
    with stages.stage("MLflow runs"):
        try:
            return replace(done, run_id=track(done, home, page))
        except Exception as error:  # noqa: BLE001 — whatever MLflow or its server raises, the comparison stands
            LOG.debug("the runs could not be logged: %s", traced(error))
            later = "" if page is None else "; the results are kept, and `fints report --resend` uploads them later"
            warning = f"the runs could not be logged to MLflow: {redacted(error)}{later}"
            return replace(done, warnings=(*done.warnings, warning))


def _targets(
    bars: pd.DataFrame, settings: BacktestSettings, as_of: AsOf, stages: Stages, home: Home
) -> tuple[tuple[TargetBacktest, ...], dict[str, str]]:
    """Compare on every target; one that cannot be is named, and the others go on."""
    compared, failed = [], {}
    for target in settings.targets:
        try:
            compared.append(compare_on(bars, target, settings, as_of, stages, home))
        except (DataError, ModelError, PlanError) as error:
            failed[target] = str(error)
    if not compared:
        raise SeriesError("nothing can be compared. " + " ".join(failed.values()))
    return tuple(compared), failed


def compare_on(
    bars: pd.DataFrame, target: str, settings: BacktestSettings, as_of: AsOf, stages: Stages, home: Home
) -> TargetBacktest:
    """Take every model through the windows of one target.

    Raises
    ------
    SeriesError
        If no series is long enough, or nothing that was forecast can be scored.
    ModelError
        If no model finishes.
    """
    problems = panel_problems(bars, target)
    panel, folds, left_out = learnable(make_panel(bars, target, known_at=as_of.known_at), settings)
    with stages.stage(f"{target}: cycles"):
        _, plan = detected_plan(folds.training(panel, folds.cutoffs[0]), settings.periods)
    entrants = make_entrants(settings, plan)
    place, facts = jobs_folder(home, settings.dataset, as_of) / target, PanelFacts.of(panel)
    store = JobStore(place / "jobs")
    with stages.stage(f"{target}: {_size(settings, len(entrants))}") as stage:
        shown = _Shown(stage, len(entrants) * len(folds))
        how = Execution(make_workers(settings), store, FittedModels.under(place, facts), shown.watch)
        result = replace(WalkForward(folds, settings.refit).run(panel, entrants, shown.progress, how), target=target)
    if len(result.failures) == len(settings.models):
        raise ModelError("no model finished: " + "; ".join(f"{n}: {cause}" for n, cause in result.failures.items()))
    if result.shared().empty:
        raise SeriesError(f"{target}: the models have no forecast in common that can be scored; ask for more windows")
    return TargetBacktest(
        target,
        plan,
        result,
        verdicts(result, settings.against, baseline_of(result, settings)),
        (*problems, *left_out),
        _beyond(result, panel, settings),
        settings.against,
        baseline_of(result, settings),
        facts,
    )


def make_workers(settings: BacktestSettings) -> Workers:
    """Return the workers of a backtest.

    Raises
    ------
    ConfigError
        If the packages of the backend are not installed.
    """
    how = settings.workers
    return Workers(how.wanted, how.backend, how.threads, how.address)


@dataclass(slots=True)
class _Shown:
    """Shows windows done and time left."""

    stage: Stage
    total: int
    done: dict[str, int] = field(default_factory=dict)
    note: str = ""

    def progress(self, name: str, done: int, _total: int) -> None:
        self.done[name] = done
        self.stage(sum(self.done.values()), self.total, self.note)

    def watch(self, standing: Standing) -> None:
        self.note = str(standing)
        self.stage(sum(self.done.values()), self.total, self.note)


def _size(settings: BacktestSettings, entrants: int) -> str:
    models = counted(len(settings.models), "model")
    seeds = f" with {settings.seeds} seeds" if entrants > len(settings.models) else ""
    return f"{models}{seeds} in {counted(settings.windows, 'window')}"


def _beyond(result: CrossValidation, panel: pd.DataFrame, settings: BacktestSettings) -> Extrapolation | None:
    """Measure what lies beyond the trained horizon; baselines, fitted for every step, stand beside it."""
    if settings.learned_h == settings.h:
        return None
    models = dict.fromkeys((entry.label for entry in settings.models), settings.learned_h)
    return result.extrapolation(panel, models, settings.input_size)


def baseline_of(result: CrossValidation, settings: BacktestSettings) -> str | None:
    """Return the model that skill is measured over: the one to test against, else the best of the baselines.

    The best is chosen with hindsight, which is hard on whatever is compared with it, and on nothing else.
    """
    if settings.against is not None:
        return settings.against
    transformers = {entry.label for entry in settings.models if isinstance(entry, TransformerEntry)}
    board = result.leaderboard()
    finished = board.loc[board["problem"] == "", "model"].astype(str)
    return next((name for name in finished if name not in transformers), None)


def verdicts(result: CrossValidation, against: str | None, baseline: str | None) -> tuple[Verdict, ...]:
    """Say of every model how it did beside one; by default, of the best how it did beside every other.

    Parameters
    ----------
    result : CrossValidation
    against : str, optional
    baseline : str, optional
        See `baseline_of`.
    """
    best, *others = result.leaderboard()["model"].astype(str)
    if against is None:
        pairs = [(best, other) for other in others]
    else:
        pairs = [(model, against) for model in (best, *others) if model != against]
    said = result.verdicts(pairs, baseline=baseline)
    return tuple(Verdict(*pair, sentence) for pair, sentence in zip(pairs, said, strict=True))
