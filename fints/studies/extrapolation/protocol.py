"""How every encoding is trained and asked, the same for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fints.transformer import NetworkConfig, TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

PROTOCOL = 1
"""Raise it when a change of the code changes results: what was kept from before is then done again."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """Windows, network and training.

    Parameters
    ----------
    trained : int
        Bars of the series that training sees, the first.
    total : int
        Bars of the series; those from `trained` on are extrapolated.
    input_size, h : int
        Context and horizon of the training windows.
    network : NetworkConfig
        The product's, a little narrower and without what would help beside the encoding. No dropout: three of the four
        series hold nothing but signal.
    training : TrainingConfig
        Chosen by the error on bars that training had seen, at horizons that it had not (`Trial.run`).
    """

    trained: int = 200
    total: int = 400
    input_size: int = 120
    h: int = 40
    network: NetworkConfig = field(
        default_factory=lambda: NetworkConfig(
            dim=32, n_layers=2, n_heads=2, dropout=0.0, covariates=False, companions=False, linear_skip=False
        )
    )
    training: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(
            max_steps=800, batch_size=4, learning_rate=3e-3, weight_decay=0.1, warm_up=0.1, clip=1.0, average=0.97
        )
    )

    @property
    def beyond(self) -> int:
        """Bars that are extrapolated."""
        return self.total - self.trained

    def settings(self) -> dict[str, object]:
        """Return what decides a result, as plain values.

        Settings at their defaults are left out, so that a new option of the network does not make old results void.
        """
        return {
            "protocol": PROTOCOL,
            "bars": [self.trained, self.total],
            "window": [self.input_size, self.h],
            "network": self.network.model_dump(mode="json", exclude_defaults=True),
            "training": self.training.model_dump(mode="json", exclude_defaults=True),
        }

    def describe(self) -> Mapping[str, object]:
        """Return everything, flat, for a run's parameters."""
        network = {f"network.{key}": value for key, value in self.network.model_dump(mode="json").items()}
        used = ("max_steps", "batch_size", "learning_rate", "weight_decay", "warm_up", "clip", "average")
        training = {f"training.{key}": getattr(self.training, key) for key in used}
        window = {"trained": self.trained, "total": self.total, "input_size": self.input_size, "h": self.h}
        return {**window, **network, **training}
