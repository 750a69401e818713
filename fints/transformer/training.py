"""Training of the network: time-ordered validation, early stopping, averaged weights.

This module imports lightning, which takes seconds: import it where training happens.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import lightning.pytorch as lightning
import numpy as np
import torch
from lightning.pytorch.callbacks import Callback, EarlyStopping, EMAWeightAveraging, ModelCheckpoint
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset

from fints.encodings import effective_periods
from fints.errors import SeriesError, TrainingError
from fints.forecast import QUANTILES
from fints.series.scaling import standard_scaling
from fints.transformer.inputs import network_inputs
from fints.transformer.losses import pinball_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lightning.pytorch.utilities.types import OptimizerLRSchedulerConfig
    from numpy.typing import NDArray

    from fints.series.windows import Tape
    from fints.transformer.config import TrainingConfig
    from fints.transformer.model import CycleNetwork, Inputs

    Progress = Callable[[int, int], None]

Batch = tuple["Inputs", torch.Tensor]


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """What happened in training.

    Parameters
    ----------
    steps : int
        Optimiser steps taken.
    validation : tuple of (int, float)
        Step and loss of each look, in units of the window's spread.
    n_train, n_validation : int
        Windows trained on and looked at.
    periods : tuple of (int, mapping)
        Step and `fints.encodings.effective_periods` at each look; empty if the encoding learns no frequency.
    """

    steps: int
    validation: tuple[tuple[int, float], ...]
    n_train: int
    n_validation: int
    periods: tuple[tuple[int, Mapping[str, tuple[float, ...]]], ...] = ()

    @property
    def best(self) -> tuple[int, float]:
        """Step and loss of the weights that were kept."""
        return min(self.validation, key=lambda look: look[1])


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Training and validation windows, in time order with a purge between them.

    Parameters
    ----------
    train, validation : ndarray of int64
        Origins on the tape.
    """

    train: NDArray[np.int64]
    validation: NDArray[np.int64]

    @classmethod
    def by_time(cls, tape: Tape, input_size: int, h: int, share: float) -> Split:
        """Give the last windows of the panel to validation.

        One date divides all series: validation targets lie after it, training targets up to it, windows whose targets
        straddle it are dropped. So no series' validation period is seen through another one.

        Raises
        ------
        SeriesError
            If no window is left on one side.
        """
        origins = tape.origins(input_size, h)
        if len(origins) == 0:
            raise SeriesError(
                f"no series has the {input_size + h} bars that one window of input_size={input_size} and h={h} takes; "
                "give longer series or ask for less"
            )
        first_target, last_target = tape.ds[origins + 1], tape.ds[origins + h]
        border = np.sort(last_target)[int(len(origins) * (1 - share))]
        split = cls(origins[last_target < border], origins[first_target >= border])
        if min(len(split.train), len(split.validation)) == 0:
            raise SeriesError(
                f"{len(origins)} windows of input_size={input_size} and h={h} do not divide into training and "
                "validation; "
                "give longer series, a shorter horizon, or another validation_share"
            )
        return split


class WindowDataset(Dataset[Batch]):
    """Batches of windows, cut when they are asked for.

    Parameters
    ----------
    tape : Tape
    batches : sequence of ndarray of int64
        Origins of each batch.
    input_size, h : int
    """

    def __init__(self, tape: Tape, batches: Sequence[NDArray[np.int64]], input_size: int, h: int) -> None:
        self.tape, self.batches, self.input_size, self.h = tape, batches, input_size, h

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> Batch:
        windows = self.tape.cut(self.batches[index], self.input_size, self.h)
        scale = standard_scaling(windows.values[..., 0])
        target = scale.apply(cast("NDArray[np.float64]", windows.target))
        return network_inputs(windows, scale), torch.from_numpy(target).float()

    def __iter__(self) -> Iterator[Batch]:
        return (self[i] for i in range(len(self)))


class TrainingTask(lightning.LightningModule):
    """The network with its loss, optimiser and schedule.

    Parameters
    ----------
    network : CycleNetwork
    config : TrainingConfig
    """

    def __init__(self, network: CycleNetwork, config: TrainingConfig) -> None:
        super().__init__()
        self.network = network
        self.config = config
        self.register_buffer("probabilities", torch.tensor(QUANTILES), persistent=False)

    def training_step(self, batch: Batch, batch_idx: int) -> torch.Tensor:
        """Return the loss of one batch."""
        inputs, target = batch
        loss = pinball_loss(self.network(inputs), target, self.get_buffer("probabilities"))
        if not torch.isfinite(loss):
            raise TrainingError(
                f"the loss of step {batch_idx} is {loss.item()}; look for infinite values in the series, "
                "or lower the learning rate"
            )
        return loss

    def validation_step(self, batch: Batch, batch_idx: int) -> None:  # noqa: ARG002
        """Log the loss of one validation batch."""
        inputs, target = batch
        loss = pinball_loss(self.network(inputs), target, self.get_buffer("probabilities"))
        self.log("validation", loss, batch_size=len(target))

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:  # noqa: ARG002
        """Move a batch to the device of the network."""
        inputs, target = batch
        return inputs.to(device), target.to(device)

    def configure_optimizers(self) -> OptimizerLRSchedulerConfig:
        """Return AdamW with linear warm-up and cosine decay.

        Biases, norms, the query and learned frequencies are not decayed; the latter have a learning rate of their own.
        """
        frequencies = self.network.encoding.frequency_parameters()
        apart = {id(p) for p in frequencies}
        others = [p for p in self.parameters() if id(p) not in apart]
        groups: list[dict[str, object]] = [
            {"params": [p for p in others if p.ndim > 1], "weight_decay": self.config.weight_decay},
            {"params": [p for p in others if p.ndim <= 1], "weight_decay": 0.0},
        ]
        if frequencies:
            rate = self.config.frequency_rate * self.config.learning_rate
            groups.append({"params": frequencies, "weight_decay": 0.0, "lr": rate})
        optimizer = torch.optim.AdamW(groups, lr=self.config.learning_rate)
        warm_up = max(1, round(self.config.warm_up * self.config.max_steps))

        def factor(step: int) -> float:
            if step < warm_up:
                return (step + 1) / warm_up
            done = (step - warm_up) / max(1, self.config.max_steps - warm_up)
            return 0.5 * (1 + float(np.cos(np.pi * min(done, 1.0))))

        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": LambdaLR(optimizer, factor), "interval": "step"}}


class Record(Callback):
    """Keep what is seen at each validation and tell the caller how far training is.

    Parameters
    ----------
    progress : callable, optional
        Called with the step and the largest number of steps.
    """

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.validation: list[tuple[int, float]] = []
        self.periods: list[tuple[int, Mapping[str, tuple[float, ...]]]] = []

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: object) -> None:
        """Report a step."""
        if self.progress is not None:
            self.progress(trainer.global_step, trainer.max_steps)

    def on_validation_epoch_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Keep the learned periods of the averaged weights, which are in place by now and until the epoch's end."""
        periods = effective_periods(cast("TrainingTask", pl_module).network.encoding)
        if periods:
            self.periods.append((trainer.global_step, periods))

    def on_validation_end(self, trainer: lightning.Trainer, *_: object) -> None:
        """Keep a validation loss."""
        self.validation.append((trainer.global_step, float(trainer.callback_metrics["validation"])))


def train(
    network: CycleNetwork,
    tape: Tape,
    config: TrainingConfig,
    *,
    window: tuple[int, int],
    seed: int,
    progress: Progress | None = None,
) -> TrainingRecord:
    """Train a network in place and leave it with the best averaged weights.

    Parameters
    ----------
    network : CycleNetwork
    tape : Tape
        Training panel; the validation tail is taken from it.
    config : TrainingConfig
    window : tuple of int
        ``(input_size, h)``.
    seed : int
        Of the order of the windows and of dropout.
    progress : callable, optional
        Called with the step and the largest number of steps.

    Raises
    ------
    SeriesError
        If no window can be cut.
    TrainingError
        If the loss is not a number.
    """
    input_size, h = window
    split = Split.by_time(tape, input_size, h, config.validation_share)
    looked_at = _spread(split.validation, config.validation_windows)
    record = Record(progress)
    order = batches(split.train, config, np.random.default_rng(seed))
    train_data = WindowDataset(tape, order, input_size, h)
    chunks = np.array_split(looked_at, max(1, len(looked_at) // config.batch_size))
    validation_data = WindowDataset(tape, chunks, input_size, h)
    with tempfile.TemporaryDirectory() as folder, _quiet(), torch.random.fork_rng():
        torch.manual_seed(seed)
        # With save_weights_only=True the file would lack the average, which is what was validated.
        keep = ModelCheckpoint(folder, monitor="validation", save_top_k=1)
        trainer = _trainer(config, [record, keep, EarlyStopping("validation", patience=config.patience)])
        task = TrainingTask(network, config)
        trainer.fit(
            task,
            DataLoader(train_data, batch_size=None, shuffle=False),
            DataLoader(validation_data, batch_size=None),
        )
        best = torch.load(Path(keep.best_model_path), weights_only=True)["state_dict"]
        task.load_state_dict(best)
    network.eval()
    return TrainingRecord(
        trainer.global_step, tuple(record.validation), len(split.train), len(looked_at), tuple(record.periods)
    )


def _trainer(config: TrainingConfig, callbacks: list[Callback]) -> lightning.Trainer:
    return lightning.Trainer(
        accelerator="cuda" if torch.cuda.is_available() else "cpu",  # places are float64, which MPS lacks
        devices=1,
        max_steps=config.max_steps,
        val_check_interval=min(config.validate_every, config.max_steps),
        check_val_every_n_epoch=None,
        gradient_clip_val=config.clip,
        callbacks=[EMAWeightAveraging(decay=config.average), *callbacks],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )


def batches(origins: NDArray[np.int64], config: TrainingConfig, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Shuffle the windows, again for every pass, into as many batches as there are steps."""
    needed = config.max_steps * config.batch_size
    passes = [rng.permutation(origins) for _ in range(-(-needed // len(origins)))]
    return np.split(np.concatenate(passes)[:needed], config.max_steps)


def _spread(origins: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    if len(origins) <= most:
        return origins
    return origins[np.linspace(0, len(origins) - 1, most).round().astype(np.int64)]


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence lightning's advice: the run is unattended, and what matters is reported by us."""
    loggers = [logging.getLogger(name) for name in ("lightning.pytorch", "lightning.fabric")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
