"""The night of one target: cycles, hold-out, model, forecast."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest import cross_validation
from fints.backtest.folds import make_folds
from fints.baselines import HAR, Naive, SeasonalNaive
from fints.errors import DataError, PlanError, SeriesError
from fints.periods import detect_periods
from fints.plan import FrequencyPlan
from fints.series import SeriesProblem, make_panel, panel_problems, usable
from fints.sessions import parse_interval
from fints.transformer import CycleTransformer
from pipelines.shelf import Holdout, Shelf

if TYPE_CHECKING:
    from collections.abc import Callable

    from fints.forecast import Forecast
    from fints.periods import Periods
    from fints.settings import NightlySettings
    from pipelines.asof import AsOf
    from pipelines.progress import Stages


@dataclass(frozen=True, slots=True, eq=False)
class TargetNight:
    """What a night made of one target.

    Parameters
    ----------
    target : str
    panel : pandas.DataFrame
        Usable series up to the as-of.
    forecast : Forecast
    model : CycleTransformer
    version : str
        Of the model.
    reused : bool
        Whether the model was fitted on an earlier night.
    holdout : Holdout
    found : Periods, optional
        None where detection is switched off.
    problems : tuple of SeriesProblem
    notes : tuple of str
    seconds : dict of str to float
    """

    target: str
    panel: pd.DataFrame
    forecast: Forecast
    model: CycleTransformer
    version: str
    reused: bool
    holdout: Holdout
    found: Periods | None
    problems: tuple[SeriesProblem, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)


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
    watch.lap("series")
    with stages.stage(f"{target}: cycles"):
        found, plan, notes = _plan(panel, settings)
    watch.lap("periods")
    last = pd.Timestamp(panel["ds"].max())
    kept = shelf.find(last, str(panel["exchange"].iloc[0]), settings.retrain_every)
    if kept is None:
        with stages.stage(f"{target}: hold-out of {settings.holdout.n_windows} windows") as stage:
            holdout = _holdout(panel, settings, stage)
        watch.lap("holdout")
        with stages.stage(f"{target}: fit") as stage:
            model = _model(settings, plan).fit(panel, progress=stage)
        version = shelf.put(model, holdout, last)
        watch.lap("fit")
    else:
        model, holdout, version = kept.model, kept.holdout, kept.version
        notes = ()
    forecast, ended = _still_to_come(model.forecast(panel, known_at=as_of.known_at), panel, as_of)
    watch.lap("forecast")
    return TargetNight(
        target=target,
        panel=panel,
        forecast=forecast,
        model=model,
        version=version,
        reused=kept is not None,
        holdout=holdout,
        found=found,
        problems=(*problems, *ended),
        notes=notes,
        seconds=watch.seconds,
    )


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


def _plan(panel: pd.DataFrame, settings: NightlySettings) -> tuple[Periods | None, FrequencyPlan, tuple[str, ...]]:
    """Find the cycles of a panel and make a plan that fits the heads."""
    planes = settings.network.dim // settings.network.n_heads // 2
    capacity = max(1, round(getattr(settings.encoding, "share", 1.0) * planes))
    chosen = settings.periods
    if not chosen.detect:
        return None, FrequencyPlan.from_periods(chosen.priors), ()
    found = detect_periods(panel, alpha=chosen.alpha)
    plan = FrequencyPlan.from_detection(found, priors=chosen.priors, alpha=chosen.alpha, most=chosen.most)
    fitting = plan.strongest(capacity)
    dropped = [str(c) for c in plan if c not in fitting.cycles]
    if not dropped:
        return found, plan, ()
    note = f"There are {capacity} planes for cycles and their harmonics; left out of the plan: {', '.join(dropped)}."
    return found, fitting, (note,)


def _model(settings: NightlySettings, plan: FrequencyPlan) -> CycleTransformer:
    model = CycleTransformer(
        settings.h,
        settings.input_size,
        settings.encoding,
        plan,
        level=settings.level,
        random_seed=settings.random_seed,
    )
    return model.with_settings(settings.network, settings.training)


def _holdout(panel: pd.DataFrame, settings: NightlySettings, progress: Callable[[int, int], None]) -> Holdout:
    """Compare the model with the baselines on the last windows; its plan comes from before them."""
    h, windows, step = _windows(settings)
    try:
        panel, training, left_out = _comparable(panel, settings)
        _, plan, _ = _plan(training, settings)
        model = _model(settings, plan)
        daily = parse_interval(settings.interval) is None
        baselines = [HAR(h), HAR(h, calendar=True), Naive(h), SeasonalNaive(h, season="week" if daily else "bar")]
        result = cross_validation(
            panel,
            [model, *baselines],
            h=h,
            n_windows=windows,
            step_size=step,
            progress=lambda _name, done, total: progress(done, total),
        )
    except (DataError, PlanError) as error:
        reason = f"The model could not be compared with the baselines: {error}."
        return Holdout(pd.DataFrame(), pd.DataFrame(), (reason,))
    verdicts = [result.verdict(model.name, other.name) for other in baselines[:3]]
    if left_out:
        verdicts.append(f"Too little history for the comparison: {', '.join(left_out)}.")
    return Holdout(result.leaderboard(), result.by_step(), tuple(verdicts))


def _windows(settings: NightlySettings) -> tuple[int, int, int]:
    """Bars ahead, number of windows, bars between them."""
    return settings.h, settings.holdout.n_windows, settings.holdout.step_size or settings.h


def _comparable(panel: pd.DataFrame, settings: NightlySettings) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Keep the series that a model can learn from before the hold-out.

    Returns
    -------
    panel, training : pandas.DataFrame
        The series, and their rows up to the first cutoff.
    left_out : list of str

    Raises
    ------
    SeriesError
        If none is left.
    """
    h, windows, step = _windows(settings)
    named = panel["unique_id"].unique()
    kept, short = usable(panel, settings.input_size + 2 * h + (windows - 1) * step)
    while len(kept):
        folds = make_folds(kept, h, windows, step)
        training = folds.training(kept, folds.cutoffs[0])
        learnable, short = usable(training, settings.input_size + h)
        names = learnable["unique_id"].unique()
        if len(names) == kept["unique_id"].nunique():
            return kept, training, [str(name) for name in named if name not in set(names)]
        # without them the cutoffs may move, so the others are looked at again
        kept = kept[kept["unique_id"].isin(names)].reset_index(drop=True)
    raise SeriesError("; ".join(map(str, short)))
