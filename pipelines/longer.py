"""A transformer that is asked to look further back than it was trained to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fints.errors import ConfigError, ModelError, SeriesError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    import pandas as pd

    from fints.forecast import Forecast
    from fints.transformer import CycleTransformer
    from fints.transformer.design import Fitted


@dataclass(frozen=True, slots=True, eq=False)
class LongerContext:
    """A transformer that is trained on one context and forecasts from a longer one.

    Parameters
    ----------
    model : CycleTransformer
    context : int
        Bars of context when it forecasts.

    Raises
    ------
    ConfigError
        If that is shorter than the trained one.
    """

    model: CycleTransformer
    context: int

    def __post_init__(self) -> None:
        if self.context < self.model.design.input_size:
            raise ConfigError(
                f"a context of {self.context} bars is shorter than the {self.model.design.input_size} that it is "
                "trained on; raise context, or lower input_size"
            )

    @property
    def name(self) -> str:
        """Name under which it stands in tables."""
        return self.model.name

    @property
    def h(self) -> int:
        """Bars ahead that it is trained for."""
        return self.model.h

    @property
    def fitted(self) -> Fitted | None:
        """What fitting left behind."""
        return self.model.fitted

    def fit(self, panel: pd.DataFrame, *, checkpoints: Path | None = None) -> Self:
        """Train on the shorter context; see `fints.transformer.CycleTransformer.fit`."""
        self.model.fit(panel, checkpoints=checkpoints)
        return self

    def forecast(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
        h: int | None = None,
    ) -> Forecast:
        """Forecast from the longer context; see `fints.transformer.CycleTransformer.forecast`.

        Raises
        ------
        ModelError
            If what it learned does not apply to so long a context.
        """
        trained = self.model.design
        self.model.design = replace(trained, input_size=self.context)
        try:
            return self.model.forecast(panel, at=at, known_at=known_at, h=h)
        except SeriesError:
            raise
        except (ValueError, IndexError, RuntimeError) as error:
            raise ModelError(
                f"what was learned on {trained.input_size} bars does not apply to {self.context}: {error}; "
                "take a context nearer to it"
            ) from error
        finally:
            self.model.design = trained

    def predict(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> pd.DataFrame:
        """Forecast as a wide frame; see `fints.forecast.Forecaster.predict`."""
        return self.forecast(panel, at=at, known_at=known_at).to_wide(self.name, self.model.design.level)
