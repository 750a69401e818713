"""The night of one target: cycles, hold-out, members, forecast."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from fints.errors import DataError, EncodingError, ModelError, PlanError, SeriesError
from fints.explain import cycle_sentences
from fints.series import SeriesProblem, make_panel, panel_problems, usable
from pipelines.assembly import assemble
from pipelines.holdout import compare
from pipelines.learning import lesson
from pipelines.model import find_plan, make_model
from pipelines.shelf import Shelved
from pipelines.terminal import counted

if TYPE_CHECKING:
    import pandas as pd

    from fints.forecast import Forecast
    from fints.periods import Periods
    from fints.plan import FrequencyPlan
    from fints.settings import NightlySettings
    from fints.transformer import CycleTransformer
    from pipelines.asof import AsOf
    from pipelines.blend import Blend
    from pipelines.holdout import Holdout
    from pipelines.learning import Lesson
    from pipelines.progress import Stage, Stages
    from pipelines.shelf import Shelf


@dataclass(frozen=True, slots=True, eq=False)
class TargetNight:
    """What a night made of one target.

    Parameters
    ----------
    target : str
    panel : pandas.DataFrame
        Usable series up to the as-of.
    forecast : Forecast
    plan : FrequencyPlan
        That the transformer was given.
    model : CycleTransformer, optional
        None where it failed and the other members went on.
    version : str
        Of the models.
    reused : bool
        Whether they were fitted on an earlier night.
    holdout : Holdout
    blend : Blend
        How members were averaged and bands corrected.
    found : Periods, optional
        None where detection is switched off.
    problems : tuple of SeriesProblem
    notes : tuple of str
    carried : tuple of str
        What carries the transformer's gain over HAR, in sentences; none where that cannot be measured.
    seconds : dict of str to float
    """

    target: str
    panel: pd.DataFrame
    forecast: Forecast
    plan: FrequencyPlan
    model: CycleTransformer | None
    version: str
    reused: bool
    holdout: Holdout
    blend: Blend
    found: Periods | None
    problems: tuple[SeriesProblem, ...] = ()
    notes: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the forecaster whose forecasts are shipped."""
        return self.blend.name


@dataclass(slots=True)
class Stopwatch:
    """Seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=perf_counter)

    def lap(self, name: str) -> None:
        """Give the time since the last lap to a stage."""
        now = perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.began
        self.began = now


def forecast_target(
    bars: pd.DataFrame, target: str, settings: NightlySettings, as_of: AsOf, shelf: Shelf, stages: Stages
) -> TargetNight:
    """Forecast one target of all series.

    Parameters
    ----------
    bars : pandas.DataFrame
        Bars known at the as-of.
    target : str
    settings : NightlySettings
    as_of : AsOf
    shelf : Shelf
        Where a fitted model may lie, and where a new one is put.
    stages : Stages

    Raises
    ------
    SeriesError
        If no series can be used.
    """
    watch = Stopwatch()
    panel, problems = _panel(bars, target, settings, as_of)
    learnt = lesson(panel, settings)
    watch.lap("series")
    with stages.stage(f"{target}: cycles"):
        found, plan, notes = find_plan(learnt.panel, settings)
    watch.lap("periods")
    shelved = shelf.find(learnt.key)
    reused = shelved is not None
    if shelved is None:
        with stages.stage(f"{target}: hold-out of {counted(settings.holdout.n_windows, 'window')}") as stage:
            holdout, blend = compare(learnt.panel, settings, stage)
        watch.lap("holdout")
        with stages.stage(f"{target}: fit") as stage:
            model, blend = _fit(make_model(settings, plan), learnt, blend, shelf, stage)
        shelved = Shelved(model, holdout, blend)
        shelf.put(learnt.key, shelved)
        watch.lap("fit")
    with stages.stage(f"{target}: forecast"):
        shipped, blend = assemble(shelved, learnt, panel, settings)
        watch.lap("members")
        forecast, ended = _still_to_come(shipped.forecast(panel, known_at=as_of.known_at), panel, as_of)
    watch.lap("forecast")
    carried = _carried(shelved.model, learnt.panel)
    watch.lap("explanation")
    return TargetNight(
        target=target,
        panel=panel,
        forecast=forecast,
        plan=plan,
        model=shelved.model,
        version=shelf.version(learnt.key),
        reused=reused,
        holdout=shelved.holdout,
        blend=blend,
        found=found,
        problems=(*problems, *ended),
        notes=(*notes, *(f"{target}: {note}" for note in blend.notes)),
        carried=carried,
        seconds=watch.seconds,
    )


def _carried(model: CycleTransformer | None, panel: pd.DataFrame) -> tuple[str, ...]:
    """Say what carries the gain of the transformer; a model or a panel that cannot be divided has no such sentences."""
    if model is None:
        return ()
    try:
        return cycle_sentences(model, panel)
    except (DataError, EncodingError, ModelError, PlanError):
        return ()


def _fit(
    model: CycleTransformer, learnt: Lesson, blend: Blend, shelf: Shelf, stage: Stage
) -> tuple[CycleTransformer | None, Blend]:
    """Fit the transformer, if it is a member; where it fails, the others go on without it."""
    if model.name not in blend.weights.members:
        return None, blend
    try:
        return model.fit(learnt.panel, progress=stage, checkpoints=shelf.training), blend
    except (DataError, ModelError) as error:
        if len(blend.weights.members) == 1:
            raise
        return None, blend.without({model.name: f"{type(error).__name__}: {error}"})


def _panel(
    bars: pd.DataFrame, target: str, settings: NightlySettings, as_of: AsOf
) -> tuple[pd.DataFrame, list[SeriesProblem]]:
    problems = panel_problems(bars, target)
    panel = make_panel(bars, target, known_at=as_of.known_at)
    panel, unusable = usable(panel, settings.input_size + settings.h)
    problems = [*problems, *unusable]
    if panel.empty:
        raise SeriesError(f"no series can be used for {target}: " + "; ".join(map(str, problems)))
    return panel, problems


def _still_to_come(forecast: Forecast, panel: pd.DataFrame, as_of: AsOf) -> tuple[Forecast, list[SeriesProblem]]:
    """Leave out series that ended so long ago that every bar forecast was over at the as-of.

    Raises
    ------
    SeriesError
        If none is left.
    """
    ends = panel.groupby("unique_id", sort=False).agg(exchange=("exchange", "first"), last=("ds", "last"))
    due = {exchange: as_of.due(exchange) for exchange in ends["exchange"].unique()}
    names = forecast.frame["unique_id"]
    over = forecast.frame["ds"].dt.normalize() <= names.map(ends["exchange"]).map(due)
    problems = []
    for name, past in over.groupby(names, sort=False):
        if past.any():
            count = f"{past.sum()} of the {len(past)} bars after it were over at the as-of"
            reason = f"its last bar is of {ends.loc[name, 'last']:%Y-%m-%d}: {count}"
            problems.append(SeriesProblem(str(name), reason, left_out=bool(past.all())))
    gone = {problem.unique_id for problem in problems if problem.left_out}
    if gone == set(names):
        raise SeriesError("no series goes on to the as-of: " + "; ".join(map(str, problems)))
    return forecast.of(~names.isin(gone).to_numpy()), problems
