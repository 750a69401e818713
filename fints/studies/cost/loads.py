"""What is timed: networks with their batches, and encodings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fints.series.windows import Tape, feature_columns
from fints.transformer import CycleTransformer, NetworkConfig, TrainingConfig
from fints.transformer.training import TrainingWindows
from fints.transformer.training.windows import spread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.transformer.training import Batch

ROPE = "rope"
"""What everything is held against."""

CONTROL = "rope again"
"""Plain RoPE a second time: what a difference of nothing looks like."""

ENCODINGS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        CONTROL: {"kind": "rope"},
        "none": {"kind": "none"},
        "absolute_linear": {"kind": "absolute_linear"},
        "absolute_sinusoidal": {"kind": "absolute_sinusoidal"},
        "absolute_learned": {"kind": "absolute_learned"},
        "calendar_features": {"kind": "calendar_features"},
        "fourier_features": {"kind": "fourier_features"},
        "alibi": {"kind": "alibi"},
        "learned rope": {"kind": "rope", "learn": True},
        "xpos": {"kind": "xpos"},
        "cycle": {"kind": "cycle"},
        "learned cycle": {"kind": "cycle", "learn": True},
        "rfr": {"kind": "rfr"},
        "clock": {"kind": "clock"},
        "learned clock": {"kind": "clock", "learn": True},
        "t_rope": {"kind": "t_rope"},
        "to_rope": {"kind": "to_rope"},
        "rote": {"kind": "rote"},
        "time_rab": {"kind": "time_rab"},
        "interval_bias": {"kind": "interval_bias"},
        "time_rab + t_rope": {"kind": "sum", "parts": ["time_rab", "t_rope"]},
    }
)
"""Every kind with its defaults, learned twins of those that have one, and the sum that T-RoPE's authors train."""


@dataclass(frozen=True, slots=True)
class Load:
    """A network and a batch for it.

    Parameters
    ----------
    name : str
        Short, for keys and tables.
    title : str
        In words.
    network : NetworkConfig
    input_size, h, batch : int
        Bars of context and bars asked for, and windows of a batch.
    rounds : int
        Turns that an encoding and RoPE take in one repeat.
    """

    name: str
    title: str
    network: NetworkConfig
    input_size: int
    h: int
    batch: int
    rounds: int

    def settings(self) -> dict[str, object]:
        """Return everything that decides what is timed, as plain values."""
        return {
            "network": self.network.model_dump(mode="json", exclude_unset=True),
            "window": [self.input_size, self.h, self.batch],
            "rounds": self.rounds,
        }

    def model(self, encoding: Mapping[str, Any]) -> CycleTransformer:
        """Return the model with an encoding, its plan that of the product's prior."""
        # So many steps are timed that a schedule over fewer would have run out.
        training = TrainingConfig(max_steps=100_000, batch_size=self.batch)
        return CycleTransformer(self.h, self.input_size, encoding).with_settings(self.network, training)

    def windows(self) -> tuple[Batch, int, int]:
        """Return a batch of the sample, with the number of its companions and of its covariates."""
        tape, n_past, n_cal = _tape()
        windows = TrainingWindows(tape, self.input_size, self.h)
        return windows.batch(spread(windows.origins(), self.batch)), n_past, n_cal


NIGHTLY = Load(
    "nightly",
    "the nightly model",
    NetworkConfig(dim=48, n_layers=2, n_heads=2, dropout=0.1),
    input_size=252,
    h=20,
    batch=32,
    rounds=3,
)
LARGE = Load(
    "large",
    "a large one",
    NetworkConfig(dim=256, n_layers=2, n_heads=4, dropout=0.1),
    input_size=492,
    h=20,
    batch=4,
    rounds=3,
)
LOADS = MappingProxyType({load.name: load for load in (NIGHTLY, LARGE)})


@cache
def _tape() -> tuple[Tape, int, int]:
    from fints.bars.sources.sample import sample_bars
    from fints.series import make_panel

    panel = make_panel(sample_bars(), target="log_volume")
    past, known = feature_columns(panel)
    return Tape.from_panel(panel, past, known), len(past), len(known)
