"""Training of a network: time-ordered validation, early stopping, averaged weights, going on after a kill."""

from fints.transformer.training.checkpoints import Checkpoints
from fints.transformer.training.hardware import Hardware
from fints.transformer.training.learner import Learner
from fints.transformer.training.loop import train
from fints.transformer.training.optimiser import Optimiser
from fints.transformer.training.record import TrainingRecord
from fints.transformer.training.split import Split
from fints.transformer.training.windows import Batch, TrainingWindows, batches

__all__ = [
    "Batch",
    "Checkpoints",
    "Hardware",
    "Learner",
    "Optimiser",
    "Split",
    "TrainingRecord",
    "TrainingWindows",
    "batches",
    "train",
]
