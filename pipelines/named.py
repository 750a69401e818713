"""A forecaster under a name of the user's choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd

    from fints.forecast import Forecast, Forecaster

LEVELS = (80, 95)


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A forecaster under another name, so that two of a kind can stand in one table.

    Parameters
    ----------
    model : Forecaster
    name : str
    """

    model: Forecaster
    name: str

    @property
    def h(self) -> int:
        """Bars ahead that it was trained for."""
        return self.model.h

    def fit(self, panel: pd.DataFrame) -> Self:
        """Fit the model; see `fints.forecast.Forecaster.fit`."""
        self.model.fit(panel)
        return self

    def forecast(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> Forecast:
        """Forecast with the model; see `fints.forecast.Forecaster.forecast`."""
        return self.model.forecast(panel, at=at, known_at=known_at)

    def predict(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> pd.DataFrame:
        """Forecast as a wide frame under this name."""
        return self.forecast(panel, at=at, known_at=known_at).to_wide(self.name, LEVELS)
