"""Settings of the transformer and of its training."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt


def _text(value: object) -> object:
    """Take the number 32, as YAML reads it, for the word."""
    return str(value) if isinstance(value, int) else value


class NetworkConfig(BaseModel):
    """Shape of the network.

    Attributes
    ----------
    dim : int
        Width of a token.
    n_layers, n_heads : int
    block : {"softmax", "hstu"}
        What a layer is: softmax attention and a feed-forward layer, or pointwise attention under a gate (HSTU).
    feed_forward : int
        Width of the feed-forward layer as a multiple of `dim`; the HSTU block has none.
    dropout : float
    covariates : bool
        Whether tokens carry the known calendar (columns ``cal_…``). Switch it off to see what an encoding does alone.
    companions : bool
        Whether context tokens carry the companion series (columns ``past_…``).
    linear_skip : bool
        Whether the network starts at a linear forecast, in closed form, from the calendar and from means of the past
        over several memories, which it corrects. Switch it off to see what attention does alone.
    cross_asset : bool
        Whether forecasts attend to the panel's other series, each as it was known when the context's last bar ended.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dim: int = Field(default=48, ge=4)
    n_layers: int = Field(default=2, ge=1)
    n_heads: int = Field(default=2, ge=1)
    block: Literal["softmax", "hstu"] = "softmax"
    feed_forward: int = Field(default=2, ge=1)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    covariates: bool = True
    companions: bool = True
    linear_skip: bool = True
    cross_asset: bool = False


class TrainingConfig(BaseModel):
    """How the network is trained.

    Attributes
    ----------
    max_steps : int
        Optimiser steps at most; early stopping may end sooner.
    batch_size : int
        Windows per step.
    learning_rate : float
        Peak of a one-cycle schedule with linear warm-up and cosine decay.
    weight_decay : float
    frequency_rate : float
        Learning rate of an encoding's learned frequencies as a multiple of `learning_rate`; 0 keeps them where they
        start. They are not decayed.
    warm_up : float
        Share of `max_steps`.
    clip : float
        Largest norm of the gradient.
    average : float
        Decay per step of the exponential moving average of the weights, which is what is validated and kept.
    validation_share : float
        Share of each series' training windows, the latest ones, on which early stopping looks. Windows whose targets
        reach into it are not trained on (purge).
    validate_every : int
        Steps between two looks.
    validation_windows : int
        Windows looked at, evenly spread over the validation tail.
    patience : int
        Looks without improvement before training stops.
    members : int
        Networks that differ in their seeds alone, and whose quantiles are averaged.
    precision : {"32", "bf16"}
        Of matrix products in a step. With bf16 everything else stays in float32: weights, optimiser, average, looks.
    accelerator : {"auto", "cpu", "cuda"}
        By default a GPU if there is one. (Places are float64, which Apple's GPUs do not compute in.)
    devices : int or "auto"
        GPUs, or processes on the CPU, that share each batch; "auto" takes every GPU. Above 1 they are spawned
        processes, so a script needs its ``if __name__ == "__main__":``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_steps: int = Field(default=200, ge=1)
    batch_size: int = Field(default=32, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    weight_decay: float = Field(default=0.1, ge=0)
    frequency_rate: float = Field(default=10.0, ge=0)
    warm_up: float = Field(default=0.1, ge=0, lt=1)
    clip: float = Field(default=1.0, gt=0)
    average: float = Field(default=0.97, ge=0, lt=1)
    validation_share: float = Field(default=0.12, gt=0, lt=0.5)
    validate_every: int = Field(default=25, ge=1)
    validation_windows: int = Field(default=256, ge=1)
    patience: int = Field(default=4, ge=1)
    members: int = Field(default=1, ge=1)
    precision: Annotated[Literal["32", "bf16"], BeforeValidator(_text)] = "32"
    accelerator: Literal["auto", "cpu", "cuda"] = "auto"
    devices: PositiveInt | Literal["auto"] = 1
