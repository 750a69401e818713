"""What arms are tried on: series, windows, and how the network is trained on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import ConfigError
from fints.transformer import NetworkConfig, TrainingConfig

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fints.studies.sources import Drawn, Source


@dataclass(frozen=True, slots=True)
class Shape:
    """Windows and bars, all counted per series.

    Parameters
    ----------
    trained : int
        Bars that training sees, the first.
    total : int
        Bars that are drawn; origins lie after the trained ones. The sample has as many as it has.
    input_size, h : int
        Context and horizon of the training windows.
    horizon : int
        Bars that are asked for, more than `h`.
    stride : int
        Bars from one origin to the next.

    Raises
    ------
    ConfigError
        If nothing is asked beyond the trained horizon, or no window can be cut.
    """

    trained: int = 480
    total: int = 960
    input_size: int = 72
    h: int = 24
    horizon: int = 72
    stride: int = 8

    def __post_init__(self) -> None:
        if not 0 < self.h < self.horizon or self.stride < 1:
            raise ConfigError(f"the horizon of {self.horizon} must exceed the trained one of {self.h}, and both be ≥ 1")
        if self.trained < self.input_size + self.h or self.total < self.trained + self.horizon:
            raise ConfigError(
                f"{self.trained} trained bars of {self.total} hold no window of {self.input_size} + {self.h}, or leave "
                f"no origin with {self.horizon} bars after it; give more bars"
            )

    def origins(self, first: int, stop: int) -> NDArray[np.int64]:
        """Return the last context rows of the forecasts of a series that holds the rows `first` to `stop` − 1."""
        return np.arange(first + self.trained - 1, stop - self.horizon, self.stride)

    def settings(self) -> dict[str, object]:
        """Return them as plain values."""
        return {
            "bars": [self.trained, self.total],
            "window": [self.input_size, self.h],
            "asked": [self.horizon, self.stride],
        }


def synthetic_network() -> NetworkConfig:
    """Return the product's network, narrower and without dropout; a `Mode` says what else it is given."""
    return NetworkConfig(dim=32, n_layers=2, n_heads=2, dropout=0.0, companions=False)


def synthetic_training(max_steps: int = 400) -> TrainingConfig:
    """Return how a network of planted series is trained."""
    return TrainingConfig(
        max_steps=max_steps,
        batch_size=8,
        learning_rate=4e-3,
        weight_decay=0.1,
        warm_up=0.1,
        clip=1.0,
        average=0.97,
        validate_every=50,
        validation_windows=64,
        patience=8,
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """The network and its training, before mode and arm have their say.

    Parameters
    ----------
    network : NetworkConfig
    training : TrainingConfig
    """

    network: NetworkConfig = field(default_factory=synthetic_network)
    training: TrainingConfig = field(default_factory=synthetic_training)


@dataclass(frozen=True, slots=True)
class Task:
    """Something to forecast.

    Parameters
    ----------
    name : str
        Short, for keys and figures' files.
    title : str
        In words, as it stands in tables; it can follow "on".
    source : Source
    shape : Shape
    recipe : Recipe
    """

    name: str
    title: str
    source: Source
    shape: Shape = field(default_factory=Shape)
    recipe: Recipe = field(default_factory=Recipe)

    def draw(self, seed: int) -> Drawn:
        """Draw the series of a seed."""
        return self.source.draw(self.shape.total, seed)

    def seen(self, panel: pd.DataFrame) -> pd.DataFrame:
        """Return the bars that training sees."""
        return panel.groupby("unique_id", sort=False).head(self.shape.trained).reset_index(drop=True)
