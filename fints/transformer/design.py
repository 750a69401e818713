"""What a model is before it sees data, and what fitting leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings import build
from fints.errors import ConfigError, ModelError
from fints.series.scaling import Scaling
from fints.transformer.inputs import network_inputs
from fints.transformer.model import CycleNetwork
from fints.transformer.peers.table import token_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.encodings import EncodingConfig
    from fints.plan import FrequencyPlan
    from fints.series.windows import Windows
    from fints.transformer.config import NetworkConfig, TrainingConfig
    from fints.transformer.peers.attention import PeerTokens
    from fints.transformer.peers.links import Links
    from fints.transformer.start import LinearStart
    from fints.transformer.training import TrainingRecord

_CHUNK = 256


DEFAULT_NAME = "CycleTransformer"

_SEED_STRIDE = 1_000_003


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

    def seed_of(self, member: int) -> int:
        """Seed of a member's first weights, batches and dropout; that of the first one is `random_seed` itself."""
        return self.random_seed + member * _SEED_STRIDE

    def network_for(self, n_past: int, n_cal: int, member: int = 0) -> CycleNetwork:
        """Build a member's network with its seeded first weights."""
        net, seed = self.network, self.seed_of(member)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            encoding = build(
                self.encoding,
                dim=net.dim,
                n_heads=net.n_heads,
                n_layers=net.n_layers,
                plan=self.plan,
                seed=seed,
            )
            # Seeded again: the other weights start alike whatever the encoding draws.
            torch.manual_seed(seed)
            n_peer = token_width(self.input_size, n_past) if net.cross_asset else 0
            return CycleNetwork(net, encoding, n_past, n_cal, self.h, n_peer)


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What fitting leaves behind.

    Parameters
    ----------
    networks : tuple of CycleNetwork
        The members, whose quantiles are averaged.
    start : LinearStart
        What they correct.
    past, calendar : tuple of str
        Columns of the panel that they read.
    until : str
        Last `ds` of the training panel, ISO 8601.
    records : tuple of TrainingRecord
        Of each member's training in this process; empty after loading.
    links : mapping of str to tuple of Link, optional
        Which other series each series listens to; None without cross-asset attention.
    interval : str
        Of the training panel's bars.
    """

    networks: tuple[CycleNetwork, ...]
    start: LinearStart
    past: tuple[str, ...]
    calendar: tuple[str, ...]
    until: str
    records: tuple[TrainingRecord, ...] = ()
    links: Links | None = None
    interval: str = "1d"

    def quantiles(self, windows: Windows, peers: PeerTokens | None = None) -> NDArray[np.float64]:
        """Forecast windows with every member and average, in chunks that bound the memory.

        Parameters
        ----------
        windows : Windows
        peers : PeerTokens, optional
            What each of them knows of other series.

        Returns
        -------
        ndarray, shape (B, H, len(QUANTILES))

        Raises
        ------
        ModelError
            If a forecast is not a number.
        """
        parts = []
        for first in range(0, len(windows), _CHUNK):
            part = slice(first, first + _CHUNK)
            inputs, scale = network_inputs(windows.rows(part), self.start)
            inputs = replace(inputs, peers=peers and peers.rows(part))
            with torch.inference_mode():
                members = torch.stack([network.eval()(inputs) for network in self.networks])
            mean = members.double().mean(dim=0).numpy()
            parts.append(Scaling(scale.center[..., None], scale.spread[..., None]).invert(mean))
        quantiles = np.concatenate(parts)
        if not np.isfinite(quantiles).all():
            raise ModelError(
                "the network's forecast is not a number; the history has infinite values, or weights are lost"
            )
        return quantiles
