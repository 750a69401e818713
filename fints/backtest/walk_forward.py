"""Fit on the past, forecast, move on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest.execution import Execution
from fints.backtest.folds import make_folds
from fints.backtest.jobs import COLUMNS, VOID_COLUMNS, Entrant, Job, extrapolates
from fints.backtest.metrics import season_lag, seasonal_scale
from fints.backtest.result import JOB_COLUMNS, CrossValidation
from fints.backtest.timeline import fold_timeline
from fints.errors import ConfigError
from fints.series.panel import validate_panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.backtest.execution import Progress
    from fints.backtest.folds import Folds, Purge
    from fints.backtest.jobs import Outcome
    from fints.forecast import Forecaster

LOG = logging.getLogger(__name__)

Refit = bool | int | Callable[[int, pd.Timestamp], bool]
"""Whether models are fitted anew: never, in each window, in every so many, or as a function of the number of the window
and its cutoff says. The first window is always one."""


@dataclass(frozen=True, slots=True)
class WalkForward:
    """How models are taken through the windows.

    Parameters
    ----------
    folds : Folds
        The windows.
    refit : bool, int or callable
        False: each model is fitted once, on rows up to the first cutoff, and forecasts every window from the history
        known by then. True: fitted anew in every window. An integer: in every so many windows. A function: in the
        windows for which it is true, given their number and cutoff.

    Raises
    ------
    ConfigError
        If `refit` is negative.
    """

    folds: Folds
    refit: Refit = False

    def __post_init__(self) -> None:
        if not callable(self.refit) and self.refit < 0:
            raise ConfigError(f"refit is True, False or a number of windows, 1 or more; got {self.refit}")

    def fits(self) -> list[tuple[int, ...]]:
        """Return the numbers of the windows that share a fit, which is made at the first of them."""
        stretches: list[list[int]] = []
        for window, cutoff in enumerate(self.folds):
            if window == 0 or self._anew(window, cutoff):
                stretches.append([])
            stretches[-1].append(window)
        return [tuple(stretch) for stretch in stretches]

    def timeline(self, panel: pd.DataFrame) -> pd.DataFrame:
        """Return the spans of every window; see `fints.backtest.timeline.fold_timeline`."""
        fitted_at = [stretch[0] for stretch in self.fits() for _ in stretch]
        return fold_timeline(self.folds, panel, fitted_at)

    def run(
        self,
        panel: pd.DataFrame,
        models: Sequence[Forecaster | Entrant],
        progress: Progress | None = None,
        how: Execution | None = None,
    ) -> CrossValidation:
        """Take every model through every window.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``.
        models : sequence of Forecaster or Entrant
            Unfitted; they are copied, so that the caller's stay as they are. One that raises is reported with its
            cause and the others go on.
        progress : callable, optional
            Called as ``progress(model, windows done, windows)``; after a whole job where it ran in another process.
        how : Execution, optional
            Workers, and where finished jobs lie; by default one job after the other in this process.

        Returns
        -------
        CrossValidation

        Raises
        ------
        ConfigError
            If two models share a name and a seed, there is none, or one cannot forecast as many bars as the windows
            have.
        """
        entrants = [model if isinstance(model, Entrant) else Entrant(model) for model in models]
        _check(entrants, self.folds.h)
        how = how or Execution()
        fits = self.fits()
        jobs = [
            Job(entrant, self.folds, stretch, how.diary, how.store is None) for entrant in entrants for stretch in fits
        ]
        return _assemble(self, panel, jobs, how.outcomes(jobs, panel, progress))

    def _anew(self, window: int, cutoff: pd.Timestamp) -> bool:
        if callable(self.refit):
            return bool(self.refit(window, cutoff))
        return bool(self.refit) and window % int(self.refit) == 0


def cross_validation(  # noqa: PLR0913 — the names and their order are those of the Nixtla libraries
    panel: pd.DataFrame,
    models: Sequence[Forecaster | Entrant],
    *,
    h: int,
    n_windows: int | None = None,
    step_size: int = 1,
    test_size: int | None = None,
    input_size: int | None = None,
    refit: Refit = False,
    purge: Purge = "auto",
    embargo: int = 0,
    warm_up: int = 1,
    target_span: int = 1,
    progress: Progress | None = None,
    execution: Execution | None = None,
    target: str = "",
) -> CrossValidation:
    """Compare forecasters on rolling origins.

    Parameters
    ----------
    panel : pandas.DataFrame
        Schema ``panel``.
    models : sequence of Forecaster or Entrant
        Unfitted, each with its own name. One that was built for fewer than `h` bars takes part if it can be asked for
        more, as `CycleTransformer` can: what it does beyond is extrapolation, see `CrossValidation.extrapolation`.
    h : int
        Bars ahead.
    n_windows : int, optional
        Number of origins; the last one leaves h bars. Say this or `test_size`.
    step_size : int
        Bars between origins, counted on the series that reaches furthest; all series are cut at its stamps.
    test_size : int, optional
        Bars at the end that the windows share out: ``h + (n_windows - 1) * step_size``.
    input_size : int, optional
        Training rows of each series at most, so that the training window rolls; by default it expands.
    refit : bool, int or callable
        Whether models are fitted anew: never, in each window, in every so many windows, or in those for which a
        function of the number of the window and its cutoff is true.
    purge : "auto" or int
        Bars taken off the end of the training rows so that no training target reaches beyond a cutoff; derived from
        `target_span` by default.
    embargo : int
        Further bars taken off.
    warm_up : int
        Training rows that a series needs to take part in a window.
    target_span : int
        Bars that a row's ``y`` is made of: its own, and ``target_span - 1`` after it.
    progress : callable, optional
        Called as ``progress(model, windows done, windows)``.
    execution : Execution, optional
        Workers, and where finished jobs lie; by default one job after the other in this process, and none is kept.
    target : str
        What `panel` holds: ``log_range``, ``log_return`` …; it adds the scores that only some targets have.

    Returns
    -------
    CrossValidation

    Raises
    ------
    ConfigError
        If a number is out of range or the models do not fit together.
    SeriesError
        If the panel is too short for the windows.
    SchemaError
        If it is not a panel.

    Notes
    -----
    A forecast is made with the calendar as known at the close of the last known bar. If one of its sessions was
    cancelled afterwards, that forecast is void: it is counted and not scored.
    """
    panel = validate_panel(panel)
    folds = make_folds(
        panel,
        h,
        n_windows,
        step_size,
        purge,
        embargo,
        test_size=test_size,
        input_size=input_size,
        warm_up=warm_up,
        target_span=target_span,
    )
    return replace(WalkForward(folds, refit).run(panel, models, progress, execution), target=target)


def _check(entrants: Sequence[Entrant], h: int) -> None:
    names = [(entrant.name, entrant.seed) for entrant in entrants]
    if not names:
        raise ConfigError("a comparison needs at least one model")
    twice = sorted({name for name, seed in names if names.count((name, seed)) > 1})
    if twice:
        raise ConfigError(f"models need names of their own; {', '.join(twice)} stands there more than once")
    for entrant in entrants:
        if entrant.model.h < h and not extrapolates(entrant.model):
            raise ConfigError(
                f"{entrant.name} forecasts {entrant.model.h} bars and the windows have {h}; build it with h={h}"
            )


def _assemble(
    how: WalkForward, panel: pd.DataFrame, jobs: Sequence[Job], outcomes: Sequence[tuple[Outcome, bool]]
) -> CrossValidation:
    failures = _failures(jobs, [outcome for outcome, _ in outcomes])
    for name, cause in failures.items():
        LOG.warning("%s left the comparison: %s", name, cause)
    finished = [(job, outcome) for job, (outcome, _) in zip(jobs, outcomes, strict=True)]
    kept = [(job, outcome) for job, outcome in finished if job.entrant.name not in failures]
    frames = [outcome.rows for _, outcome in kept if len(outcome.rows)]
    voids = [outcome.void for _, outcome in kept if len(outcome.void)]
    seconds = dict.fromkeys((job.entrant.name for job in jobs), 0.0)
    for job, outcome in finished:
        seconds[job.entrant.name] += outcome.seconds
    # of several seeds the first, as it was fitted last
    first = {job.entrant.name: job.entrant.seed for job in reversed(jobs)}
    told = {job.entrant.name: outcome for job, outcome in finished if job.entrant.seed == first[job.entrant.name]}
    return CrossValidation(
        frame=pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS),
        folds=how.folds,
        scales=_scales(how.folds.training(panel, how.folds.cutoffs[0])),
        failures=failures,
        void=pd.concat(voids, ignore_index=True) if voids else pd.DataFrame(columns=VOID_COLUMNS),
        models={name: outcome.model for name, outcome in told.items() if outcome.model is not None},
        seconds=seconds,
        curves={name: outcome.curves for name, outcome in told.items() if outcome.curves},
        timeline=how.timeline(panel),
        jobs=pd.DataFrame(
            [
                (job.entrant.name, job.entrant.seed, job.windows[0], len(job.windows), o.seconds, reused, o.failure)
                for job, (o, reused) in zip(jobs, outcomes, strict=True)
            ],
            columns=JOB_COLUMNS,
        ),
    )


def _failures(jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Say of every model of which a job failed why, and which of its jobs if it has several."""
    failures: dict[str, str] = {}
    for name in dict.fromkeys(job.entrant.name for job in jobs):
        own = [(job, outcome) for job, outcome in zip(jobs, outcomes, strict=True) if job.entrant.name == name]
        failed = [(job, outcome) for job, outcome in own if outcome.failure]
        if not failed:
            continue
        job, outcome = failed[0]
        failures[name] = outcome.failure
        if len(own) > 1:
            where = f"fitted at {job.folds.cutoffs[job.windows[0]]:%Y-%m-%d} with seed {job.entrant.seed}"
            failures[name] += f" ({where}; {len(failed)} of its {len(own)} jobs failed)"
    return failures


def _scales(training: pd.DataFrame) -> pd.Series:
    return pd.Series(
        {
            str(name): seasonal_scale(rows["y"].to_numpy(float), season_lag(rows))
            for name, rows in training.groupby("unique_id", sort=False)
        },
        dtype="float64",
    )
