"""What is kept of a fitted model after a job: the curves of its training."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fints.backtest.jobs import Curves
    from fints.forecast import Forecaster

MOST_PERIODS = 16
"""Curves of learned periods per parameter; an encoding may learn hundreds."""


def training_curves(model: Forecaster) -> Curves:
    """Return the validation loss and the learned periods of a transformer by step; nothing of other models.

    It is called where the model was fitted, in a worker: it imports nothing.
    """
    records = getattr(getattr(model, "fitted", None), "records", ())
    if not records:
        return {}
    record = records[0]
    curves: dict[str, dict[int, float]] = {"train/validation_crps": dict(record.validation)}
    for step, periods in record.periods:
        for parameter, values in periods.items():
            for i, value in enumerate(values[:MOST_PERIODS]):
                curves.setdefault(f"theta/{parameter}.{i}", {})[int(step)] = float(value)
    return curves
