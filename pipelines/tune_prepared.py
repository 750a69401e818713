"""A search before it begins: its series, plan, space and store."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.encodings import fit_plan
from fints.errors import SeriesError
from fints.plan import FrequencyPlan
from fints.series import SeriesProblem, make_panel, panel_problems, usable
from fints.transformer import CycleTransformer
from fints.tuning import Objective, SearchSpace, StudyStore, Tuner, TuningFolds, period_errors, spans_of
from pipelines.fitted import PanelFacts
from pipelines.model import detected_plan, left_out

if TYPE_CHECKING:
    import pandas as pd

    from fints.settings import TuneSettings
    from pipelines.asof import AsOf
    from pipelines.home import Home
    from pipelines.progress import Stages


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A search that can begin.

    Parameters
    ----------
    tuner : Tuner
    store : StudyStore
    facts : PanelFacts
    problems : tuple of SeriesProblem
    notes : tuple of str
        What found no room in the encoding.
    """

    tuner: Tuner
    store: StudyStore
    facts: PanelFacts
    problems: tuple[SeriesProblem, ...]
    notes: tuple[str, ...]


def prepare(bars: pd.DataFrame, settings: TuneSettings, as_of: AsOf, home: Home, stages: Stages) -> Prepared:
    """Make panel, plan and space of a search, and open the store of its trials.

    Raises
    ------
    SeriesError
        If no series is long enough.
    """
    problems = panel_problems(bars, settings.target)
    whole = make_panel(bars, settings.target, known_at=as_of.known_at)
    panel, folds, shortened = searchable(whole, settings)
    facts = PanelFacts.of(panel)
    first = folds.stages(panel).first
    with stages.stage(f"{settings.target}: cycles"):
        found, plan = detected_plan(first, settings.periods)
    kept = fit_plan(plan, settings.encoding, settings.network.dim // settings.network.n_heads)
    space = SearchSpace(
        settings.space,
        kept,
        settings.encoding,
        period_se={} if found is None else period_errors(found, kept, settings.periods.alpha),
        spans=spans_of(first),
        prior=FrequencyPlan.from_periods(settings.periods.priors),
    )
    tuner = Tuner(
        panel,
        space,
        folds,
        base_model(settings, kept),
        objective=Objective(settings.objective.score, multi=settings.objective.cost),
        sampler=settings.sampler,
        fine=settings.fine,
        prune=settings.prune,
        seed=settings.random_seed,
    )
    name = settings.name or study_name(settings, as_of, facts)
    store = study_store(settings, home, name)
    return Prepared(tuner, store, facts, (*problems, *shortened), left_out(plan, kept))


def searchable(
    panel: pd.DataFrame, settings: TuneSettings
) -> tuple[pd.DataFrame, TuningFolds, tuple[SeriesProblem, ...]]:
    """Keep the series that a model can learn from before the first fold.

    Returns
    -------
    panel : pandas.DataFrame
    folds : TuningFolds
    problems : tuple of SeriesProblem

    Raises
    ------
    SeriesError
        If none is left, or the panel is too short for the folds.
    """
    folds, least = tuning_folds(settings), settings.input_size + settings.trained_h
    kept, problems = usable(panel, least)
    while len(kept):
        first, short = usable(folds.stages(kept).first, least)
        here = set(first["unique_id"])
        if here == set(kept["unique_id"]):
            return kept, folds, tuple(problems)
        known = {problem.unique_id: f"{problem.reason} before the first fold" for problem in short if problem.left_out}
        absent = sorted(set(map(str, kept["unique_id"])) - here)
        problems += [SeriesProblem(name, known.get(name, "no bar before the first fold")) for name in absent]
        # without them the cutoffs may move, so the others are looked at again
        kept = kept[kept["unique_id"].isin(here)].reset_index(drop=True)
    raise SeriesError(f"no series can be used for {settings.target}: " + "; ".join(map(str, problems)))


def tuning_folds(settings: TuneSettings) -> TuningFolds:
    """Return the folds of a search; every target of fints is made of its own bar, or of it and those before."""
    how = settings.folds
    return TuningFolds(
        h=settings.h,
        n_folds=how.n_folds,
        block=how.block,
        step_size=how.step_size,
        confirm_folds=how.confirm_folds,
        confirm_windows=how.confirm_windows,
        confirm_h=how.confirm_h,
        test_windows=how.test_windows,
        apart=how.apart,
        purge=how.purge,
        train_size=how.train_size,
    )


def base_model(settings: TuneSettings, plan: FrequencyPlan) -> CycleTransformer:
    """Build the model that a trial starts from, unfitted.

    Raises
    ------
    EncodingError
        If the encoding and the network do not fit together.
    """
    fitting = fit_plan(plan, settings.encoding, settings.network.dim // settings.network.n_heads)
    model = CycleTransformer(
        settings.trained_h, settings.input_size, settings.encoding, fitting, random_seed=settings.random_seed
    )
    return model.with_settings(settings.network, settings.training)


def study_name(settings: TuneSettings, as_of: AsOf, facts: PanelFacts) -> str:
    """Name a study after its data and its settings, so that another search has another name."""
    decisive = hashlib.sha256(f"{settings.digest} {facts.digest}".encode()).hexdigest()[:8]
    return f"{settings.dataset}-{settings.target}-{as_of}-{decisive}"


def study_store(settings: TuneSettings, home: Home, name: str) -> StudyStore:
    """Return where the trials of a study are kept."""
    how = settings.storage
    return StudyStore(name, how.place(home.root / "tuning", name), heartbeat=how.heartbeat, grace=how.grace)
