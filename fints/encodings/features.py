"""Time as input features, added to the tokens: the controls that rotary encodings are measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from fints.encodings.config import EncodingConfig
from fints.encodings.kinds import AddedEncoding, SmallEmbedding
from fints.encodings.rope import Plane, RotaryEncoding
from fints.encodings.rotation import TURN

if TYPE_CHECKING:
    from fints.encodings.base import TimeAxis
    from fints.plan import FrequencyPlan

HOUR = 3600
DAY = 24 * HOUR
EPOCH_WEEKDAY = 3
"""1970-01-01 was a Thursday; Monday is 0."""


class CalendarFeaturesConfig(EncodingConfig):
    """Hour of the day and day of the week of the bar's close, in UTC, from the seconds clock.

    Attributes
    ----------
    form : {"embedding", "projection"}
        One learned vector per hour and per day, or the two integers projected linearly.
    """

    kind: Literal["calendar_features"] = "calendar_features"
    form: Literal["embedding", "projection"] = "embedding"


class FourierFeaturesConfig(EncodingConfig):
    """``[cos, sin](2πt/T)`` of every line of the frequency plan, on its own clock, projected and added."""

    kind: Literal["fourier_features"] = "fourier_features"


def hour_and_weekday(seconds: Tensor) -> tuple[Tensor, Tensor]:
    """Read the UTC hour and weekday off Unix time.

    The hour of a session's close moves with daylight saving: UTC knows none, which is the point of this control.

    Parameters
    ----------
    seconds : Tensor, float64
        Unix time; may be negative.

    Returns
    -------
    hour, weekday : Tensor, int64, same shape
        0 … 23, and 0 (Monday) … 6.
    """
    hour = torch.floor(seconds / HOUR).long() % 24
    weekday = (torch.floor(seconds / DAY).long() + EPOCH_WEEKDAY) % 7
    return hour, weekday


class CalendarFeatures(AddedEncoding):
    """Hour of the day and day of the week, added to the tokens.

    Parameters
    ----------
    config : CalendarFeaturesConfig
    dim : int
        Width C of the model.
    n_layers : int
    """

    def __init__(self, config: CalendarFeaturesConfig, dim: int, n_layers: int) -> None:
        super().__init__(n_layers)
        self.hour: nn.Module
        self.weekday: nn.Module
        self.integers = config.form == "projection"
        if self.integers:
            self.hour, self.weekday = nn.Linear(1, dim), nn.Linear(1, dim, bias=False)
        else:
            self.hour, self.weekday = SmallEmbedding(24, dim), SmallEmbedding(7, dim)

    def _embedded(self, x_btc: Tensor, at: TimeAxis) -> Tensor:
        """Add the features to tokens of shape (B, T, C)."""
        hour, weekday = hour_and_weekday(at.clock("seconds"))
        if self.integers:
            # Centred to ±1/2. Both counts of steps are small enough to be told apart in bf16.
            hour, weekday = hour[..., None] / 23 - 0.5, weekday[..., None] / 6 - 0.5
            dtype = next(self.parameters()).dtype
            hour, weekday = hour.to(dtype), weekday.to(dtype)
        added: Tensor = self.hour(hour) + self.weekday(weekday)
        return x_btc + added.to(x_btc.dtype)


class FourierFeatures(AddedEncoding):
    """Cosine and sine of the plan's lines, added to the tokens.

    Parameters
    ----------
    plan : FrequencyPlan
    dim : int
        Width C of the model.
    n_layers : int
    """

    def __init__(self, plan: FrequencyPlan, dim: int, n_layers: int) -> None:
        super().__init__(n_layers)
        self.phases = RotaryEncoding(tuple(Plane(line.clock, line.frequency) for line in plan.lines), n_layers)
        self.project = nn.Linear(2 * len(plan.lines), dim, bias=False)

    def features(self, at: TimeAxis) -> Tensor:
        """Evaluate the features.

        Returns
        -------
        Tensor, shape (B or 1, T, 2 · lines), float64
            The cosines of all lines, then the sines.
        """
        turns = self.phases.turns(at)
        angle = (turns - turns.round()) * TURN
        return torch.cat((angle.cos(), angle.sin()), dim=-1)

    def _embedded(self, x_btc: Tensor, at: TimeAxis) -> Tensor:
        """Add the projected features to tokens of shape (B, T, C)."""
        added: Tensor = self.project(self.features(at).to(self.project.weight.dtype))
        return x_btc + added.to(x_btc.dtype)
