"""The night of one target: cycles, hold-out, members, forecast."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.memory import give_back
from fints.champion import BASELINE
from fints.errors import DataError, EncodingError, ModelError, PlanError, SeriesError
from fints.explain import cycle_sentences
from fints.series import SeriesProblem, add_features, make_panel, panel_problems, usable, within_reach
from fints.series.schema import PANEL_COLUMNS
from pipelines.blend import Blend
from pipelines.council import Council
from pipelines.fits import Fits
from pipelines.holdout import Holdout
from pipelines.learning import lesson
from pipelines.pantry import Pantry
from pipelines.searched import Searched
from pipelines.shelf import Shelved
from pipelines.shipping import Used, ship

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fints.champion import Ruling
    from fints.forecast import Forecast
    from fints.periods import Periods
    from fints.plan import FrequencyPlan
    from fints.settings import NightlySettings
    from fints.transformer import CycleTransformer
    from pipelines.asof import AsOf
    from pipelines.gathered import Reading
    from pipelines.learning import Lesson
    from pipelines.progress import Stages
    from pipelines.shelf import Shelf
    from pipelines.succession import Chosen, Succession


@dataclass(frozen=True, slots=True, eq=False)
class TargetNight:
    """What a night made of one target.

    Parameters
    ----------
    target : str
    panel : pandas.DataFrame
        Usable series up to the as-of, without covariates and companions.
    forecast : Forecast
    plan : FrequencyPlan
        That the transformer was given.
    model : CycleTransformer, optional
        None where it failed and the other members went on, and where the baseline is in use.
    version : str
        Of the models.
    reused : bool
        Whether they were fitted on an earlier night; never the baseline.
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
    ruling : Ruling, optional
        Which model is in use, and why; None where models do not have to prove themselves.
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
    ruling: Ruling | None = None

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
    reading: Reading,
    target: str,
    settings: NightlySettings,
    shelf: Shelf,
    stages: Stages,
    *,
    succession: Succession | None = None,
) -> TargetNight:
    """Forecast one target of all series.

    Parameters
    ----------
    reading : Reading
        That gives the bars known at the as-of.
    target : str
    settings : NightlySettings
    shelf : Shelf
        Where a fitted model may lie, and where a new one is put.
    stages : Stages
    succession : Succession, optional
        Where decisions about the model in use are kept; without it the newest fit is used.

    Raises
    ------
    SeriesError
        If no series can be used.
    """
    watch = Stopwatch()
    panel, problems, as_of = _panel(reading, target, settings)
    learnt = lesson(panel, settings)
    watch.lap("series")
    fetch = None if succession is None else succession.fetch
    fits = Fits(target, panel, settings, shelf, stages, watch.lap, fetch)
    if succession is None or not settings.champion.enabled:
        used, chosen = _newest(fits, learnt), None
    else:
        chosen = Council(fits, learnt, as_of, succession).choose()
        watch.lap("succession")
        used = _in_use(chosen, fits, learnt)
    found = Searched.of(used.learnt, settings, shelf, used.key)
    watch.lap("periods")
    with stages.stage(f"{target}: forecast"):
        stated, blend = ship(used, panel, settings, as_of)
        watch.lap("members")
        forecast, ended = _still_to_come(stated, panel, as_of)
    give_back()
    watch.lap("forecast")
    carried = _carried(used)
    watch.lap("explanation")
    return TargetNight(
        target=target,
        panel=panel[list(PANEL_COLUMNS)].copy(),  # the rest is large, and a view would hold on to it
        forecast=forecast,
        plan=found.plan if used.shown.model is None else used.shown.model.design.plan,
        model=used.model,
        version=used.version,
        reused=used.fit is not None and used.version not in fits.fresh,  # the baseline is fitted anew every night
        holdout=used.holdout,
        blend=blend,
        found=found.found,
        problems=(*problems, *ended),
        notes=(*_of_target(target, found.notes), *fits.notes, *_of_target(target, blend.notes)),
        carried=carried,
        seconds=watch.seconds,
        ruling=None if chosen is None else chosen.ruling,
    )


def _of_target(target: str, notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{target}: {note}" for note in notes)


def _newest(fits: Fits, learnt: Lesson) -> Used:
    made = fits.made(learnt)
    return Used(fits.shelf.version(learnt.key), learnt.key, made, made, learnt)


def _in_use(chosen: Chosen, fits: Fits, learnt: Lesson) -> Used:
    """Return what is shipped, and what is shown of it."""
    if chosen.current is not None:
        newest = pd.Timestamp(chosen.seat.until) == learnt.until
        fit, rows = chosen.current, learnt if newest else fits.lesson_of(chosen.seat)
        return Used(chosen.seat.version, chosen.seat.key, fit, fit, rows)
    if chosen.shown is None:
        nothing = Holdout(pd.DataFrame(), pd.DataFrame(), (*chosen.ruling.sentences[:1],))
        bare = Shelved(None, nothing, Blend.untaught([BASELINE], fits.settings.bands, learnt.until))
        return Used(chosen.seat.version, learnt.key, None, bare, learnt)
    seat, shown = chosen.shown
    return Used(chosen.seat.version, seat.key, None, shown, fits.lesson_of(seat))


def _carried(used: Used) -> tuple[str, ...]:
    """Say what carries the gain of the transformer; a model or a panel that cannot be divided has no such sentences."""
    if used.fit is None or used.model is None:
        return ()
    try:
        return Pantry.beside(used.fit.place).said(used.model, used.learnt.excerpt, cycle_sentences)
    except (DataError, EncodingError, ModelError, PlanError):
        return ()


def _panel(reading: Reading, target: str, settings: NightlySettings) -> tuple[pd.DataFrame, list[SeriesProblem], AsOf]:
    """Make the panel; the bars, which are large, are let go before the calendar comes, which is as large."""
    give_back()  # what the target before this one has freed
    bars, as_of = reading.bars()
    give_back()  # what was read is laid out anew as bars
    problems = panel_problems(bars, target)
    panel = make_panel(bars, target, features=False)
    del bars
    panel, unusable = usable(panel, settings.input_size + settings.h)
    panel, undated = within_reach(panel, settings.h)
    problems = [*problems, *unusable, *undated]
    if panel.empty:
        raise SeriesError(f"no series can be used for {target}: " + "; ".join(map(str, problems)))
    give_back()
    panel = add_features(panel, known_at=as_of.known_at)
    give_back()
    return panel, problems, as_of


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
        raise SeriesError(
            f"no series goes on to the as-of: {'; '.join(map(str, problems))}. Look why the source delivers no bars, "
            f"or forecast from where they end with --as-of {ends['last'].max():%Y-%m-%d}"
        )
    return forecast.of(~names.isin(gone).to_numpy()), problems
