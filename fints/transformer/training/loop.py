"""The loop: steps, looks at the validation tail, early stopping, and going on after a kill."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from fints.encodings import effective_periods
from fints.transformer.start import to_plain
from fints.transformer.training.fingerprint import fingerprint
from fints.transformer.training.hardware import Hardware
from fints.transformer.training.learner import Learner
from fints.transformer.training.optimiser import encoding_of
from fints.transformer.training.processes import run_in_processes
from fints.transformer.training.record import TrainingRecord
from fints.transformer.training.split import Split
from fints.transformer.training.windows import batches, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from torch import Tensor, nn

    from fints.transformer.config import TrainingConfig
    from fints.transformer.training.checkpoints import Checkpoints
    from fints.transformer.training.record import Periods
    from fints.transformer.training.windows import TrainingWindows

    Progress = Callable[[int, int], None]
    Weights = dict[str, Tensor]


def train(
    network: nn.Module,
    windows: TrainingWindows,
    config: TrainingConfig,
    *,
    seed: int,
    progress: Progress | None = None,
    checkpoints: Checkpoints | None = None,
) -> TrainingRecord:
    """Train a network and leave it with the best averaged weights, in evaluation mode, on the device that it came on.

    The weights that it comes with are a candidate too: they stay where no later look is better. On one CPU the same
    arguments give the same weights to the bit, also when a killed training goes on from its checkpoints.

    Parameters
    ----------
    network : nn.Module
        From `fints.transformer.model.Inputs` to scaled quantiles, shape (B, H, len(QUANTILES)).
    windows : TrainingWindows
        Of the training panel; the validation tail is taken from them.
    config : TrainingConfig
    seed : int
        Of the order of the windows and of dropout.
    progress : callable, optional
        Called with the step and the largest number of steps.
    checkpoints : Checkpoints, optional
        Where to keep states, and to look for those of a killed training. They are left there at the end: a training
        that is asked for again returns at once. `Checkpoints.clear` removes them.

    Raises
    ------
    SeriesError
        If no window can be cut.
    TrainingError
        If the loss or its gradient is not a number, naming the windows that are at fault.
    ConfigError
        If this machine lacks the devices or the precision asked for.
    BundleError
        If the checkpoints cannot be written.
    """
    hardware = Hardware.chosen_by(config)
    training = Training(network, windows, config, seed, checkpoints)
    if hardware.world > 1:
        weights, record = run_in_processes(training, hardware, progress)
    else:
        weights, record = training.run(hardware, progress)
    network.load_state_dict(weights)
    network.eval()
    return record


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """What one training needs to know; see `train`."""

    network: nn.Module
    windows: TrainingWindows
    config: TrainingConfig
    seed: int
    checkpoints: Checkpoints | None

    def run(self, hardware: Hardware, progress: Progress | None) -> tuple[Weights, TrainingRecord]:
        """Train, and return the weights to keep and what happened."""
        config, split = self.config, Split.by_time(self.windows, self.config.validation_share)
        looked_at = spread(split.validation, config.validation_windows)
        order = batches(split.train, config, np.random.default_rng(self.seed))
        key = self._fingerprint(hardware)
        with torch.random.fork_rng(devices=hardware.forked_generators()):
            # A copy: a training that fails leaves the network as it was, and processes do not share one memory.
            learner = Learner(deepcopy(self.network), config, self.seed, hardware)
            history, notes = self._begin(learner, key)
            if not history.looks:
                history.add(learner, self._look(learner, looked_at))
            while learner.steps < config.max_steps and history.improves(config.patience):
                learner.step(self.windows.batch(hardware.share(order[learner.steps])))
                if progress is not None:
                    progress(learner.steps, config.max_steps)
                if learner.steps % config.validate_every == 0 or learner.steps == config.max_steps:
                    history.add(learner, self._look(learner, looked_at))
                    self._keep(learner, history, key)
        record = TrainingRecord(
            steps=learner.steps,
            validation=tuple(history.looks),
            n_train=len(split.train),
            n_validation=len(looked_at),
            periods=tuple(history.periods),
            losses=tuple(history.losses),
            notes=notes,
        )
        return history.weights, record

    def _fingerprint(self, hardware: Hardware) -> str:
        if self.checkpoints is None:
            return ""
        settings = {
            "config": self.config.model_dump(mode="json"),
            "window": [self.windows.input_size, self.windows.h],
            "start": to_plain(self.windows.corrected),
            "seed": self.seed,
            "purpose": self.checkpoints.purpose,
            "hardware": [hardware.device.type, hardware.world],
        }
        return fingerprint(settings, self.windows.tape, self.network)

    def _begin(self, learner: Learner, key: str) -> tuple[History, tuple[str, ...]]:
        if self.checkpoints is None:
            return History(), ()
        state, notes = self.checkpoints.newest(key)
        if state is None:
            return History(), notes
        learner.load_state_dict(state["learner"])
        return History(**state["history"]), notes

    def _keep(self, learner: Learner, history: History, key: str) -> None:
        if self.checkpoints is not None and learner.hardware.rank == 0:
            state = {"learner": learner.state_dict(), "history": history.state_dict()}
            self.checkpoints.write(learner.steps, key, state)

    def _look(self, learner: Learner, looked_at: NDArray[np.int64]) -> Tensor:
        """Loss of each window of the validation tail, by the averaged weights."""
        own = learner.hardware.share(looked_at)
        chunks = np.array_split(own, max(1, len(own) // self.config.batch_size))
        losses = torch.cat([learner.validate(self.windows.batch(chunk)) for chunk in chunks])
        return learner.hardware.joined(losses, len(looked_at))


@dataclass(slots=True, eq=False)
class History:
    """What the looks at the validation tail have shown, and the best weights among them.

    Parameters
    ----------
    looks : list of (int, float)
        Step and mean loss.
    periods : list of (int, mapping)
    losses : list of float
        Of each window, by the best weights.
    weights : dict of str to Tensor
        The best ones.
    """

    looks: list[tuple[int, float]] = field(default_factory=list)
    periods: list[Periods] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    weights: Weights = field(default_factory=dict)

    def add(self, learner: Learner, losses: Tensor) -> None:
        """Take in a look."""
        loss = float(losses.mean())
        if all(loss < earlier for _, earlier in self.looks):
            self.losses = losses.tolist()
            self.weights = {k: v.detach().cpu().clone() for k, v in learner.averaged.state_dict().items()}
        self.looks.append((learner.steps, loss))
        encoding = encoding_of(learner.averaged)
        periods = {} if encoding is None else effective_periods(encoding)
        if periods:
            self.periods.append((learner.steps, periods))

    def improves(self, patience: int) -> bool:
        """Whether one of the latest looks was better than those before.

        The look before the first step does not count: what the network starts from may be hard to improve on, and it
        gets as many looks as anything else.
        """
        losses = [loss for step, loss in self.looks if step]
        return not losses or len(losses) - 1 - int(np.argmin(losses)) < patience

    def state_dict(self) -> dict[str, Any]:
        """Plain values for a checkpoint."""
        return {"looks": self.looks, "periods": self.periods, "losses": self.losses, "weights": self.weights}
