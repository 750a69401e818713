"""From the entries of a backtest to unfitted models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.encodings import cycle_room
from fints.errors import ConfigError, EncodingError, PlanError
from fints.settings.backtest import TransformerEntry
from fints.transformer import CycleTransformer
from pipelines.model import left_out

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd

    from fints.forecast import Forecast, Forecaster
    from fints.plan import FrequencyPlan
    from fints.settings import BacktestSettings, Entry

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


def make_models(settings: BacktestSettings, plan: FrequencyPlan) -> list[Forecaster]:
    """Build the models of a backtest, unfitted, in the order of their entries.

    Raises
    ------
    UsageError
        If an encoding and its network do not fit together, or an option of a baseline is out of range; it names the
        entry.
    """
    models: list[Forecaster] = []
    for entry in settings.models:
        try:
            models.append(_make(entry, settings, plan))
        except (ConfigError, EncodingError, PlanError) as error:
            raise type(error)(f"the model {entry.label}: {error}") from error
    return models


def _make(entry: Entry, settings: BacktestSettings, plan: FrequencyPlan) -> Forecaster:
    if isinstance(entry, TransformerEntry):
        return make_transformer(entry, settings, plan)
    return Named(entry.build(settings.h, LEVELS), entry.label)


def make_transformer(entry: TransformerEntry, settings: BacktestSettings, plan: FrequencyPlan) -> CycleTransformer:
    """Build a transformer, unfitted, with the cycles that its heads have room for; see `cycles_left_out`."""
    model = CycleTransformer(
        settings.h,
        entry.input_size or settings.input_size,
        entry.encoding,
        plan.strongest(_room(entry, settings)),
        random_seed=settings.random_seed if entry.random_seed is None else entry.random_seed,
    )
    model = model.with_settings(settings.network_of(entry), settings.training_of(entry)).named(entry.label)
    model.design.network_for(0, 0)
    return model


def cycles_left_out(settings: BacktestSettings, plan: FrequencyPlan) -> tuple[str, ...]:
    """Say of every transformer which cycles of the plan its heads have no room for."""
    transformers = [entry for entry in settings.models if isinstance(entry, TransformerEntry)]
    return tuple(f"{entry.label}: {said}" for entry in transformers for said in left_out(plan, _room(entry, settings)))


def _room(entry: TransformerEntry, settings: BacktestSettings) -> int:
    network = settings.network_of(entry)
    return cycle_room(entry.encoding, network.dim // network.n_heads)
