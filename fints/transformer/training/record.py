"""What happened in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Periods = tuple[int, "Mapping[str, tuple[float, ...]]"]


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """What happened in training.

    Parameters
    ----------
    steps : int
        Optimiser steps taken.
    validation : tuple of (int, float)
        Step and loss of each look, in units of the window's spread. The first look is at step 0, before any step.
    n_train, n_validation : int
        Windows trained on and looked at.
    periods : tuple of (int, mapping)
        Step and `fints.encodings.effective_periods` at each look; empty if the encoding learns no frequency.
    losses : tuple of float
        Validation loss of each window looked at, in time order within a series, by the weights that were kept.
    notes : tuple of str
        What became of the states that an earlier, killed training left; empty without any.
    """

    steps: int
    validation: tuple[tuple[int, float], ...]
    n_train: int
    n_validation: int
    periods: tuple[Periods, ...] = ()
    losses: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> tuple[int, float]:
        """Step and loss of the weights that were kept."""
        return min(self.validation, key=lambda look: look[1])
