"""A forecaster whose every step is written down."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fints.backtest.leakage.fingerprint import fingerprint
from fints.backtest.leakage.stages import stage_of_column, stage_of_state

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd

    from fints.forecast import Forecast, Forecaster

Piece = tuple[str, str]
"""Stage, and place within it."""


@dataclass(frozen=True, slots=True)
class Step:
    """What went into one call of a model and what came out.

    Parameters
    ----------
    at : pandas.Timestamp
        Last stamp that the model was shown.
    pieces : dict of (str, str) to str
        From stage and place to a hash.
    """

    at: pd.Timestamp
    pieces: dict[Piece, str]


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A forecaster that writes down what it was shown, what it learned and what it said; copies share the record.

    Parameters
    ----------
    model : Forecaster
    fits, forecasts : list of Step
        One for each call so far, in order.
    """

    model: Forecaster
    fits: list[Step] = field(default_factory=list)
    forecasts: list[Step] = field(default_factory=list)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return type(self)(deepcopy(self.model, memo), self.fits, self.forecasts)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    @property
    def h(self) -> int:
        """Bars ahead that it was trained for."""
        return self.model.h

    def fit(self, panel: pd.DataFrame) -> Self:
        """Fit the model; see `fints.forecast.Forecaster.fit`."""
        shown = _inputs(panel, "training")
        fitted = type(self)(self.model.fit(panel), self.fits, self.forecasts)
        self.fits.append(Step(panel["ds"].max(), {**shown, **_state(fitted.model)}))
        return fitted

    def forecast(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> Forecast:
        """Forecast with the model; see `fints.forecast.Forecaster.forecast`."""
        said = self.model.forecast(panel, at=at, known_at=known_at)
        if panel is not None:
            pieces = {**_inputs(panel, "history"), **_state(self.model), **_said(said)}
            self.forecasts.append(Step(panel["ds"].max(), pieces))
        return said

    def predict(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> pd.DataFrame:
        """Forecast as a wide frame under the model's name."""
        return self.forecast(panel, at=at, known_at=known_at).to_wide(self.name)


def _inputs(panel: pd.DataFrame, what: str) -> dict[Piece, str]:
    return {
        (stage_of_column(str(column)), f"{what} rows, column {column}"): digest
        for column in panel.columns
        for digest in fingerprint(panel[[column]]).values()
    }


def _state(model: Forecaster) -> dict[Piece, str]:
    return {(stage_of_state(path), path): digest for path, digest in fingerprint(model).items()}


def _said(forecast: Forecast) -> dict[Piece, str]:
    numbers = fingerprint({"mean": forecast.mean, "quantiles": forecast.quantiles})
    dates = fingerprint(forecast.frame[["ds", "step"]].rename(columns={"ds": "dates", "step": "steps"}))
    return {
        **{("calendar", f"{path} of the forecast"): digest for path, digest in dates.items()},
        **{("forecast", path): digest for path, digest in numbers.items()},
    }
