"""The end of a panel, forecast by models that have not seen it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.backtest import cross_validation
from fints.errors import ConfigError, SeriesError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from fints.backtest import CrossValidation
    from fints.forecast import Forecaster

    Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Tail:
    """How much of a panel's end is held out to learn weights and bands from.

    Models are fitted once on what lies before it, and forecast it from origins evenly apart. No row that they are
    fitted on has its target in it.

    Parameters
    ----------
    origins : int
        Forecasts of each series at most: what the tail costs is proportional to them.
    step_size : int, optional
        Bars from one origin to the next; by default the bars ahead, so that no bar is forecast twice.
    share : float
        Largest share of the longest series that may be held out; a shorter series means fewer origins.
    embargo : int
        Bars between what models are fitted on and the tail.

    Raises
    ------
    ConfigError
        If a number is out of range.
    """

    origins: int = 40
    step_size: int | None = None
    share: float = 0.3
    embargo: int = 0

    def __post_init__(self) -> None:
        if self.origins < 1 or (self.step_size is not None and self.step_size < 1) or self.embargo < 0:
            raise ConfigError(
                f"a tail has 1 origin or more, 1 bar or more apart, and no negative embargo; got {self.origins}, "
                f"{self.step_size} and {self.embargo}"
            )
        if not 0 < self.share < 1:
            raise ConfigError(f"share is the part of a series that is held out, between 0 and 1; got {self.share:g}")

    def forecast(
        self, panel: pd.DataFrame, models: Sequence[Forecaster], progress: Progress | None = None
    ) -> CrossValidation:
        """Fit models on what lies before the tail and forecast it.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``.
        models : sequence of Forecaster
            Unfitted and of one horizon; they are copied.
        progress : callable, optional
            Called as ``progress(model, origins done, origins)``.

        Raises
        ------
        SeriesError
            If the panel is too short for two origins.
        """
        h = models[0].h
        step = self.step_size or h
        longest = int(panel.groupby("unique_id").size().max())
        origins = min(self.origins, (int(self.share * longest) - h) // step + 1)
        if origins < 2:
            raise SeriesError(
                f"the longest series has {longest} bars; a tail of {self.share:.0%} of them has no room for two "
                f"forecasts of {h} bars, {step} apart. Give a longer history, or lower h or step_size"
            )
        return cross_validation(
            panel, models, h=h, n_windows=origins, step_size=step, embargo=self.embargo, progress=progress
        )
