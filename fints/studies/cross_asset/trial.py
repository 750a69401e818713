"""A unit of work: an arm trained on a panel, told of the other series where it attends to them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.series import validate_panel
from fints.series.windows import Tape
from fints.studies.comparison.trial import asked_windows
from fints.studies.cross_asset.panels import Led
from fints.transformer.design import Fitted
from fints.transformer.forecaster import mean_of_quantiles
from fints.transformer.peers.states import measurable, row_states
from fints.transformer.peers.table import PeerRows, PeerTable, learn_peers
from fints.transformer.training import Learner, TrainingWindows, batches

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fints.studies.comparison import ArmTrial
    from fints.transformer import CycleTransformer
    from fints.transformer.peers.attention import PeerTokens

    FloatArray = NDArray[np.float64]

VERSION = 1
"""Raise it when a change of the code changes results: what was kept from before is then done again."""

LAST = 50
"""Steps over which the loss at the end is averaged."""

DIGITS = 8


@dataclass(frozen=True, slots=True)
class PanelTrial:
    """An arm of a comparison on a panel, with or without attention across series.

    Parameters
    ----------
    trial : ArmTrial
    """

    trial: ArmTrial

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result."""
        return {"panel": VERSION, **self.trial.settings()}

    def run(self) -> dict[str, object]:
        """Train on the first bars and forecast the others from many origins.

        Returns
        -------
        dict
            What `ArmTrial.run` returns; ``squared`` is that of the followers where a panel has them. And how much of
            what was to come the forecasts say, at each bar ahead, 1 if all of it and 0 if none, empty where the truth
            is not known: ``residual``, the slope of the forecast less the cycle on the residual, and ``cycle``, that
            of the forecast less the residual on the cycle.
        """
        start, trial = time.process_time(), self.trial
        model, loss = self.trained()
        panel, truth = trial.panel()
        windows, rows = asked_windows(panel, trial.task, model)
        fitted = model.fitted
        assert fitted is not None
        peers = None if fitted.links is None else known_peers(model, panel, rows[:, 0] - 1)
        forecast = mean_of_quantiles(fitted.quantiles(windows, peers))
        asked = np.ones(len(rows), bool)
        said: dict[str, FloatArray] = {"residual": np.empty(0), "cycle": np.empty(0)}
        if isinstance(source := trial.task.source, Led):
            asked = source.followed(trial.task.shape.total)[rows[:, 0]]
            parts = source.parts(trial.task.shape.total, trial.seed)[:2]
            cycle, residual = (part.ravel()[rows[asked]] for part in parts)
            said["residual"] = said_of(forecast[asked] - cycle, residual)
            said["cycle"] = said_of(forecast[asked] - residual, cycle)
        errors = (forecast - truth[rows])[asked]
        return {
            "squared": _rounded((errors**2).mean(axis=0)),
            **{name: _rounded(slopes) for name, slopes in said.items()},
            "loss": loss if np.isfinite(loss) else None,
            "learned": {},
            "seconds": round(time.process_time() - start, 2),
        }

    def trained(self) -> tuple[CycleTransformer, float]:
        """Train, and return the model and its loss at the end: NaN where it is fitted as the product is."""
        trial = self.trial
        model, seen = trial.model(), trial.task.seen(trial.panel()[0])
        if trial.as_fitted:
            return model.fit(seen), float("nan")
        return model, train_on_panel(model, seen)


def said_of(said: FloatArray, told: FloatArray) -> FloatArray:
    """Return the slope of what is said on what was to be said, by bar ahead.

    Parameters
    ----------
    said, told : ndarray, shape (W, horizon)

    Returns
    -------
    ndarray, shape (horizon,)
    """
    centred = told - told.mean(axis=0)
    slope: FloatArray = (centred * said).sum(axis=0) / (centred**2).sum(axis=0)
    return slope


def train_on_panel(model: CycleTransformer, panel: pd.DataFrame) -> float:
    """Fit a model in place on every window of a panel without covariates, to the last step.

    Its network is told of the other series if it attends to them: of links and states that are measured on the same
    windows.

    Parameters
    ----------
    model : CycleTransformer
        Without covariates, companions and linear start.
    panel : pandas.DataFrame
        Schema ``panel``.

    Returns
    -------
    float
        Mean loss of the last `LAST` steps.

    Raises
    ------
    TrainingError
        If the loss is not a number.
    """
    import torch

    design, panel = model.design, validate_panel(panel)
    windows = TrainingWindows(Tape.from_panel(panel, (), ()), design.input_size, design.h)
    origins = windows.origins()
    if design.network.cross_asset:
        peers = learn_peers(windows.tape, windows.corrected, design.input_size, origins)
        windows = replace(windows, peers=peers)
    network = design.network_for(0, 0)
    learner = Learner(network, design.training, design.random_seed)
    order = batches(origins, design.training, np.random.default_rng(design.random_seed))
    with torch.random.fork_rng(devices=[]):
        losses = [learner.step(windows.batch(chosen)) for chosen in order]
    network.load_state_dict(learner.averaged.state_dict())
    until, links = str(panel["ds"].max().isoformat()), None if windows.peers is None else windows.peers.places.links
    model.fitted = Fitted((network.eval(),), windows.corrected, (), (), until, links=links)
    return float(np.mean(losses[-LAST:]))


def known_peers(model: CycleTransformer, panel: pd.DataFrame, origins: NDArray[np.int64]) -> PeerTokens:
    """Return what forecasts know of the other series, each as it was when their context ended.

    Parameters
    ----------
    model : CycleTransformer
        Fitted with attention across series.
    panel : pandas.DataFrame
        All bars.
    origins : ndarray of int64, shape (W,)
        Rows of the panel that contexts end at.
    """
    fitted = model.fitted
    assert fitted is not None
    assert fitted.links is not None
    size = model.design.input_size
    tape = Tape.from_panel(panel, fitted.past, fitted.calendar)
    states = row_states(tape, fitted.start, size, measurable(tape, size))
    return PeerTable(PeerRows(tape, size, fitted.links), states).tokens(origins)


def _rounded(values: FloatArray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]
