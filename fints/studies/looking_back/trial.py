"""A unit of work: an arm trained on a task, its errors, and where its attention looks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.explain.attention import attention_weights
from fints.studies.comparison.trial import asked_windows, mean_forecast
from fints.studies.looking_back.distance import by_distance
from fints.studies.looking_back.tasks import ruler
from fints.transformer.inputs import network_inputs
from fints.transformer.training.windows import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.series.windows import Windows
    from fints.studies.comparison import ArmTrial
    from fints.transformer.design import Fitted
    from fints.transformer.model import CycleNetwork

    FloatArray = NDArray[np.float64]

VERSION = 1
"""Raise it when a change of the code changes results: what was kept from before is then done again."""

MOST = 64
"""Windows that attention is averaged over, at most."""

DIGITS = 6


@dataclass(frozen=True, slots=True)
class AttentionTrial:
    """An arm of a comparison, whose attention is read before and after training.

    Parameters
    ----------
    trial : ArmTrial
    """

    trial: ArmTrial

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result."""
        read = ruler(self.trial.task)
        return {"attention": [VERSION, read.clock, read.reach, read.steps, MOST], **self.trial.settings()}

    def run(self) -> dict[str, object]:
        """Train, forecast and read.

        Returns
        -------
        dict
            What `ArmTrial.run` returns, and by layer and head, from distance 0 on: ``attention``, see `by_distance`,
            and ``before``, that of the network as it is before training. None where no bar is that far.
        """
        start, trial = time.process_time(), self.trial
        model, loss = trial.trained()
        panel, truth = trial.panel()
        windows, rows = asked_windows(panel, trial.task, model)
        errors = mean_forecast(model, windows) - truth[rows]
        fitted = model.fitted
        assert fitted is not None
        some = windows.rows(spread(np.arange(len(windows)), MOST))
        untrained = model.design.network_for(len(fitted.past), len(fitted.calendar))
        return {
            "squared": _plain((errors**2).mean(axis=0)),
            "loss": loss if np.isfinite(loss) else None,
            "learned": {},
            "attention": _plain(self.read(fitted.networks[0], fitted, some)),
            "before": _plain(self.read(untrained, fitted, some)),
            "seconds": round(time.process_time() - start, 2),
        }

    def read(self, network: CycleNetwork, fitted: Fitted, windows: Windows) -> FloatArray:
        """Average the attention of some windows, shape (layers, heads, reach + 1)."""
        by = ruler(self.trial.task)
        inputs, _ = network_inputs(windows, fitted.start)
        weights = [layer[:, :, : by.steps].double().numpy() for layer in attention_weights(network, inputs)]
        apart = windows.future_places[by.clock][:, : by.steps, None] - windows.places[by.clock][:, None, :]
        return by_distance(weights, apart, by.reach)


def _plain(values: FloatArray) -> list[object]:
    """Return nested lists, rounded; None for what is not a number."""
    if values.ndim > 1:
        return [_plain(row) for row in values]
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in values]
