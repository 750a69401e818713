"""The week of real volume, known, detected and wrong: one unit of work, and what the units say together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fints.encodings import encoding_config
from fints.plan import Cycle, FrequencyPlan
from fints.studies.intervals import Interval, ratio_interval, t_interval
from fints.studies.unknown_period.tellings import KNOWN, TELLINGS, Telling
from fints.transformer import CycleTransformer, NetworkConfig, TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from fints.backtest import DieboldMariano

DAYS = 7.0
"""Calendar days."""

HARMONICS = (1, 2, 3)
"""Lines of the week that daily bars show, told to every arm: the period is all that they differ in."""

_MONTH = 21

VERSION = 1
"""Raise it when a change of the code changes results: what was kept from before is then done again."""

CYCLE, ROPE, NONE = "cycle", "rope", "none"

_SPELLED: Mapping[str, dict[str, object]] = {
    CYCLE: {"kind": "cycle", "share": 1.0},
    ROPE: {"kind": "rope"},
    NONE: {"kind": "none"},
}


@dataclass(frozen=True, slots=True)
class WeekArm:
    """An encoding and the week that it is told.

    Parameters
    ----------
    encoding : str
    telling : Telling
        Of no consequence for those that read no plan.
    """

    encoding: str
    telling: Telling = KNOWN

    @property
    def reads_plan(self) -> bool:
        """Whether it matters to the encoding what it is told."""
        return self.encoding == CYCLE


WEEK_ARMS = (*(WeekArm(CYCLE, telling) for telling in TELLINGS), WeekArm(ROPE), WeekArm(NONE))


@dataclass(frozen=True, slots=True)
class WeekProtocol:
    """Windows, network and training.

    Parameters
    ----------
    h, input_size : int
        Sessions ahead, and of context.
    n_windows, step_size : int
        Of the hold-out, at the end of the sample; the model is fitted once, on what is before it.
    network : NetworkConfig
        The forecaster's own without the calendar, companions and the linear skip: nothing but the encoding knows the
        week.
    training : TrainingConfig
    """

    h: int = 20
    input_size: int = 126
    n_windows: int = 24
    step_size: int = 20
    network: NetworkConfig = field(
        default_factory=lambda: NetworkConfig(
            dim=48, n_layers=2, n_heads=2, dropout=0.1, covariates=False, companions=False, linear_skip=False
        )
    )
    training: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(
            max_steps=100,
            batch_size=16,
            learning_rate=4e-3,
            weight_decay=1e-2,
            validation_share=0.1,
            validate_every=20,
            validation_windows=128,
            patience=3,
        )
    )

    def settings(self) -> dict[str, object]:
        """Return what decides a result, as plain values; settings that are not stated are left out."""
        return {
            "week": VERSION,
            "window": [self.input_size, self.h],
            "holdout": [self.n_windows, self.step_size],
            "network": self.network.model_dump(mode="json", exclude_unset=True),
            "training": self.training.model_dump(mode="json", exclude_unset=True),
        }


@cache
def volume() -> pd.DataFrame:
    """Return the log volume of the embedded sample as a panel."""
    from fints.bars.sources.sample import sample_bars
    from fints.series import make_panel

    return make_panel(sample_bars(), target="log_volume")


def before_holdout(how: WeekProtocol) -> pd.DataFrame:
    """Return the rows that a model is fitted on."""
    from fints.backtest import make_folds

    panel = volume()
    folds = make_folds(panel, how.h, how.n_windows, how.step_size)
    return folds.training(panel, folds.cutoffs[0])


def detected_week(how: WeekProtocol) -> float:
    """Return the period of the strongest cycle found in what is before the hold-out, in calendar days."""
    from fints.periods import detect_periods

    plan = FrequencyPlan.from_detection(detect_periods(before_holdout(how)), priors=())
    return max(plan, key=lambda cycle: cycle.strength).period


def pattern_size(how: WeekProtocol) -> float:
    """Return the standard deviation of the mean week before the hold-out, once the level of each month is taken off."""
    rows = before_holdout(how)
    level = rows.groupby("unique_id")["y"].transform(lambda y: y.rolling(_MONTH, center=True).mean())
    off = rows["y"] - level
    days = [rows["unique_id"], rows["ds"].dt.day_of_week]
    return float(off.groupby(days).transform("mean").std())


@dataclass(frozen=True, slots=True)
class WeekTrial:
    """An encoding, fitted once before the hold-out and taken through it.

    Parameters
    ----------
    arm : WeekArm
    period : float
        That it is told, in calendar days.
    seed : int
    how : WeekProtocol
    """

    arm: WeekArm
    period: float
    seed: int
    how: WeekProtocol

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result."""
        encoding = encoding_config(_SPELLED[self.arm.encoding]).model_dump(mode="json")
        told = {"told": self.period, "harmonics": list(HARMONICS)} if self.arm.reads_plan else {}
        return {**self.how.settings(), "encoding": encoding, **told, "seed": self.seed}

    def run(self) -> dict[str, object]:
        """Fit and forecast.

        Returns
        -------
        dict
            ``squared``, by window the mean squared error over series and steps, the oldest first; ``seconds``.

        Raises
        ------
        ModelError
            If the model did not finish.
        """
        from fints.backtest import cross_validation
        from fints.errors import ModelError

        how = self.how
        plan = FrequencyPlan((Cycle(self.period, "calendar", HARMONICS),))
        config = encoding_config(_SPELLED[self.arm.encoding])
        model = CycleTransformer(how.h, how.input_size, config, plan, random_seed=self.seed)
        model = model.with_settings(how.network, how.training)
        result = cross_validation(volume(), [model], h=how.h, n_windows=how.n_windows, step_size=how.step_size)
        if result.failures:
            raise ModelError(f"the study of the week did not finish: {result.failures[model.name]}")
        rows = result.shared()
        squared = ((rows["mean"] - rows["y"]) ** 2).groupby(rows["cutoff"]).mean()
        return {"squared": squared.sort_index().tolist(), "seconds": round(result.seconds[model.name], 2)}


@dataclass(frozen=True, slots=True, eq=False)
class WeekBoard:
    """What was found on the week.

    Parameters
    ----------
    how : WeekProtocol
    detected : float
        Calendar days.
    pattern : float
        Standard deviation of the mean week; see `pattern_size`.
    squared : mapping
        By arm: mean squared errors, shape (seeds, windows).
    """

    how: WeekProtocol
    detected: float
    pattern: float
    squared: Mapping[WeekArm, NDArray[np.float64]]

    def by_seed(self, arm: WeekArm) -> NDArray[np.float64]:
        """Root mean square error of each seed over the hold-out."""
        root: NDArray[np.float64] = np.sqrt(self.squared[arm].mean(axis=1))
        return root

    def rmse(self, arm: WeekArm) -> Interval:
        """Mean over seeds of the root mean square error."""
        return t_interval(self.by_seed(arm))

    def times(self, arm: WeekArm, other: WeekArm) -> Interval:
        """Return how many times the other's error this one's is, seed by seed."""
        return ratio_interval(self.by_seed(arm), self.by_seed(other))

    def test(self, arm: WeekArm, other: WeekArm) -> DieboldMariano:
        """Test over windows whether two arms differ, their losses averaged over seeds."""
        from fints.backtest.significance import diebold_mariano, overlap_lag

        one, another = (self.squared[each].mean(axis=0) for each in (arm, other))
        return diebold_mariano(one, another, lag=overlap_lag(self.how.h, self.how.step_size))
