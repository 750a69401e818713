"""What a model is before it sees data, and what fitting leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from fints.encodings import build
from fints.errors import ConfigError
from fints.transformer.model import CycleNetwork

if TYPE_CHECKING:
    from fints.encodings import EncodingConfig
    from fints.plan import FrequencyPlan
    from fints.transformer.config import NetworkConfig, TrainingConfig
    from fints.transformer.training import TrainingRecord


DEFAULT_NAME = "CycleTransformer"


@dataclass(frozen=True, slots=True)
class Design:
    """Everything that decides what a `CycleTransformer` is before it sees data.

    Parameters
    ----------
    h : int
        Bars ahead that it is trained for.
    input_size : int
        Bars of context.
    encoding : EncodingConfig
    plan : FrequencyPlan
    network : NetworkConfig
    training : TrainingConfig
    level : tuple of float
        Bands of `CycleTransformer.predict`, in percent.
    random_seed : int
    name : str
        Of its column in forecasts and of its row in tables.
    """

    h: int
    input_size: int
    encoding: EncodingConfig
    plan: FrequencyPlan
    network: NetworkConfig
    training: TrainingConfig
    level: tuple[float, ...]
    random_seed: int
    name: str = DEFAULT_NAME

    def __post_init__(self) -> None:
        if self.h < 1 or self.input_size < 2:
            raise ConfigError(f"h ≥ 1 and input_size ≥ 2 are needed; got h={self.h}, input_size={self.input_size}")
        for percent in self.level:
            if not 0 < percent <= 95:
                raise ConfigError(f"a band's level is above 0 and at most 95 percent; got {percent:g}")

    def network_for(self, n_past: int, n_cal: int) -> CycleNetwork:
        """Build the network with its seeded first weights."""
        net = self.network
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.random_seed)
            encoding = build(
                self.encoding,
                dim=net.dim,
                n_heads=net.n_heads,
                n_layers=net.n_layers,
                plan=self.plan,
                seed=self.random_seed,
            )
            # Seeded again: the other weights start alike whatever the encoding draws.
            torch.manual_seed(self.random_seed)
            return CycleNetwork(net, encoding, n_past, n_cal)


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What fitting leaves behind.

    Parameters
    ----------
    network : CycleNetwork
    past, calendar : tuple of str
        Columns of the panel that it reads.
    until : str
        Last `ds` of the training panel, ISO 8601.
    record : TrainingRecord, optional
        Of the training in this process; None after loading.
    """

    network: CycleNetwork
    past: tuple[str, ...]
    calendar: tuple[str, ...]
    until: str
    record: TrainingRecord | None = None
