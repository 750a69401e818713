"""How an encoding is trained on a planted series and asked, the same for all."""

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

        Settings that this protocol does not state are left out, so that a new option of the network does not make old
        results void; all that matter to it are stated, whatever the defaults of the forecaster become.
        """
        return {
            "protocol": PROTOCOL,
            "bars": [self.trained, self.total],
            "window": [self.input_size, self.h],
            "network": self.network.model_dump(mode="json", exclude_unset=True),
            "training": self.training.model_dump(mode="json", exclude_unset=True),
        }

    @property
    def data_in_words(self) -> str:
        """What is planted, what training sees and what is asked, for a report."""
        return f"""\
A planted series has {self.total} daily bars on an exchange that never closes, so the index, session and calendar clocks
run alike and seconds run evenly. Training sees the first {self.trained} bars only, in windows of {self.input_size} bars
of context and {self.h} bars of horizon. The trained network is then given the last {self.input_size} of those bars and
forecasts the {self.beyond} that follow; the error is that of the median. Where there is noise, each seed draws its own.
"""

    @property
    def training_in_words(self) -> str:
        """How the network is made and trained, for a report."""
        net, training = self.network, self.training
        return f"""\
The network is the forecaster's own, with {net.n_layers} layers, {net.n_heads} heads and
{net.dim} channels; it gets no covariates, no companion series, no linear skip and no dropout, and minimises
the forecaster's loss over all quantiles. Every encoding is trained alike: {training.max_steps} steps of
{training.batch_size} windows, AdamW with a peak rate of {training.learning_rate:g}, {100 * training.warm_up:.0f} %
warm-up and cosine decay to zero, weight decay {training.weight_decay:g}, gradients clipped at {training.clip:g},
weights averaged with a decay of {training.average:g} per step, no early stopping.
"""

    def describe(self) -> Mapping[str, object]:
        """Return everything, flat, for a run's parameters."""
        network = {f"network.{key}": value for key, value in self.network.model_dump(mode="json").items()}
        used = ("max_steps", "batch_size", "learning_rate", "weight_decay", "warm_up", "clip", "average")
        training = {f"training.{key}": getattr(self.training, key) for key in used}
        window = {"trained": self.trained, "total": self.total, "input_size": self.input_size, "h": self.h}
        return {**window, **network, **training}
