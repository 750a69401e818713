"""What the settings of every baseline share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.forecast import Forecaster

BANDS = (80, 95)
"""Bands of `predict` in percent, where nothing else is asked for."""


class BaselineConfig(BaseModel, ABC):
    """Settings of one baseline: immutable, and unknown options fail.

    The horizon and the bands are not among them: they belong to the comparison, and are the same for all its models.

    Attributes
    ----------
    kind : str
    name : str, optional
        Under which it stands in tables; what the forecaster calls itself, by default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    name: str | None = Field(default=None, min_length=1)

    @property
    def label(self) -> str:
        """Name under which it stands in tables."""
        return self.name or self.build(1).name

    @abstractmethod
    def build(self, h: int, level: Sequence[float] = BANDS) -> Forecaster:
        """Make the forecaster.

        Parameters
        ----------
        h : int
            Bars ahead.
        level : sequence of float
            Bands of `predict`, in percent.
        """
