"""One unit of a comparison: an encoding trained once on a task, and asked from many origins."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.encodings import effective_periods
from fints.studies.training import require_no_peers, train_to_the_end
from fints.transformer import CycleTransformer

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fints.encodings import EncodingConfig
    from fints.plan import FrequencyPlan
    from fints.series.windows import Windows
    from fints.studies.comparison.arm import Arm, Mode
    from fints.studies.comparison.task import Task
    from fints.transformer import NetworkConfig, TrainingConfig

VERSION = 1
"""Raise it when a change of the code changes results: what was kept from before is then done again."""

DIGITS = 8
"""Significant digits that are kept."""


@dataclass(frozen=True, slots=True)
class ArmTrial:
    """An encoding, trained once on a task.

    Parameters
    ----------
    task : Task
    encoding : EncodingConfig
    plan : FrequencyPlan
    network : NetworkConfig
    training : TrainingConfig
    as_fitted : bool
        See `Mode`.
    seed : int
        Of the data, the first weights, the order of the windows, and the encodings that draw.
    """

    task: Task
    encoding: EncodingConfig
    plan: FrequencyPlan
    network: NetworkConfig
    training: TrainingConfig
    as_fitted: bool
    seed: int

    @classmethod
    def of(cls, arm: Arm, task: Task, mode: Mode, seed: int) -> ArmTrial:
        """Put an arm, a task and a mode together."""
        network = task.recipe.network.model_copy(update={**mode.network, **arm.network})
        training = task.recipe.training.model_copy(update=dict(arm.training))
        kind = arm.trial or cls
        return kind(task, arm.config(task), arm.plan_for(task, seed), network, training, mode.as_fitted, seed)

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result; a default is stated, for it may be another one tomorrow."""
        return {
            "trial": VERSION,
            **self.task.source.settings(),
            **self.task.shape.settings(),
            "encoding": self.encoding.model_dump(mode="json"),
            "plan": self.plan.digest,
            "network": self.network.model_dump(mode="json"),
            "training": self.training.model_dump(mode="json"),
            "as_fitted": self.as_fitted,
            "seed": self.seed,
        }

    def model(self) -> CycleTransformer:
        """Return the model before training."""
        shape = self.task.shape
        model = CycleTransformer(shape.h, shape.input_size, self.encoding, self.plan, random_seed=self.seed)
        return model.with_settings(self.network, self.training)

    def panel(self) -> tuple[pd.DataFrame, NDArray[np.float64]]:
        """Return all bars, with covariates if the network reads them, and the truth of each row."""
        from fints.series.covariates import add_features

        drawn = self.task.draw(self.seed)
        panel = add_features(drawn.panel) if self.network.covariates else drawn.panel
        return panel, drawn.truth

    def trained(self) -> tuple[CycleTransformer, float]:
        """Train, and return the model and its loss at the end: NaN where it is fitted as the product is."""
        model = self.model()
        seen = self.task.seen(self.panel()[0])
        if self.as_fitted:
            return model.fit(seen), float("nan")
        return model, train_to_the_end(model, seen)

    def run(self) -> dict[str, object]:
        """Train on the first bars and forecast the others from many origins.

        Returns
        -------
        dict
            ``squared``, by bar ahead the squared error of the mean forecast, averaged over origins and series.
            ``loss`` at the end of training, null where fitted as the product is. ``seconds`` of the processor.
            ``learned``, the frequencies that training moved, by name of the parameter, in turns per unit of the clock.
        """
        start = time.process_time()
        model, loss = self.trained()
        panel, truth = self.panel()
        windows, rows = asked_windows(panel, self.task, model)
        assert model.fitted is not None
        errors = mean_forecast(model, windows) - truth[rows]
        learned = effective_periods(model.fitted.networks[0].encoding)
        return {
            "squared": [_rounded(value) for value in (errors**2).mean(axis=0)],
            "loss": _rounded(loss) if np.isfinite(loss) else None,
            "seconds": round(time.process_time() - start, 2),
            # of a plane that stands still the period is no number that JSON holds
            "learned": {name: [_rounded(1 / period) for period in periods] for name, periods in learned.items()},
        }


def asked_windows(panel: pd.DataFrame, task: Task, model: CycleTransformer) -> tuple[Windows, NDArray[np.int64]]:
    """Cut the windows at every origin of a task, with the bars to forecast.

    Parameters
    ----------
    panel : pandas.DataFrame
        All bars.
    task : Task
    model : CycleTransformer
        Fitted: it says which covariates are read.

    Returns
    -------
    windows : Windows
        Of W origins over all series.
    rows : ndarray of int64, shape (W, horizon)
        Rows of the panel that are asked for.
    """
    from fints.series.windows import Tape

    assert model.fitted is not None
    tape, shape = Tape.from_panel(panel, model.fitted.past, model.fitted.calendar), task.shape
    spans = zip(tape.bounds[:-1], tape.bounds[1:], strict=True)
    origins = np.concatenate([shape.origins(int(first), int(stop)) for first, stop in spans])
    rows = origins[:, None] + np.arange(1, shape.horizon + 1)
    return tape.cut(origins, shape.input_size, shape.horizon), rows


def mean_forecast(model: CycleTransformer, windows: Windows) -> NDArray[np.float64]:
    """Return the mean of the forecast of every window and bar, shape (W, horizon)."""
    from fints.transformer.forecaster import mean_of_quantiles

    require_no_peers(model.design.network)
    assert model.fitted is not None
    return mean_of_quantiles(model.fitted.quantiles(windows))


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
