"""The forecaster that people use: fit, predict, save, load."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fints.encodings import encoding_config
from fints.errors import NotFittedError
from fints.forecast import Forecast
from fints.plan import PRIOR_PERIODS, FrequencyPlan
from fints.series import future_frame, validate_panel
from fints.series.schema import PANEL_COLUMNS
from fints.series.windows import feature_columns, require_columns
from fints.transformer.asked import ask
from fints.transformer.config import NetworkConfig, TrainingConfig
from fints.transformer.design import Design, Fitted
from fints.transformer.history import require_context, require_continued, require_interval, require_usable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    import pandas as pd
    from numpy.typing import NDArray

    from fints.encodings import EncodingConfig


class CycleTransformer:
    """Transformer whose attention knows the market's cycles.

    Parameters
    ----------
    h : int
        Bars ahead to train for. Longer forecasts can be asked for; they extrapolate, with a warning.
    input_size : int
        Bars of context.
    encoding : str, mapping or EncodingConfig
        A key of `fints.encodings.ENCODINGS`, or settings.
    plan : FrequencyPlan, optional
        Cycles of the market; 5, 20, 60 and 252 sessions by default.
    level : sequence of float
        Bands that `predict` returns, in percent.
    random_seed : int

    Examples
    --------
    >>> import fints
    >>> model = fints.CycleTransformer(h=20, input_size=252, encoding="cycle")
    >>> model.name
    'CycleTransformer'
    """

    def __init__(
        self,
        h: int,
        input_size: int,
        encoding: str | Mapping[str, object] | EncodingConfig = "cycle",
        plan: FrequencyPlan | None = None,
        *,
        level: Sequence[float] = (80, 95),
        random_seed: int = 0,
    ) -> None:
        self.design = Design(
            h=h,
            input_size=input_size,
            encoding=encoding_config(encoding),
            plan=plan or FrequencyPlan.from_periods(PRIOR_PERIODS),
            network=NetworkConfig(),
            training=TrainingConfig(),
            level=tuple(level),
            random_seed=random_seed,
        )
        self.fitted: Fitted | None = None
        self._panel: pd.DataFrame | None = None

    def with_seed(self, random_seed: int) -> Self:
        """Return an unfitted model like this one with another seed."""
        other = self._bare()
        other.design = replace(self.design, random_seed=random_seed)
        return other

    def with_settings(self, network: NetworkConfig | None = None, training: TrainingConfig | None = None) -> Self:
        """Return an unfitted model like this one with other settings of the network or of its training."""
        other = self._bare()
        other.design = replace(
            self.design, network=network or self.design.network, training=training or self.design.training
        )
        return other

    def named(self, name: str) -> Self:
        """Return an unfitted model like this one under another name, to stand beside its like in a comparison.

        Examples
        --------
        >>> import fints
        >>> fints.CycleTransformer(h=20, input_size=252, encoding="rope").named("CycleTransformer[rope]").name
        'CycleTransformer[rope]'
        """
        other = self._bare()
        other.design = replace(self.design, name=name)
        return other

    @property
    def name(self) -> str:
        """Name of its column in forecasts and of its row in tables; see `named`."""
        return self.design.name

    @property
    def h(self) -> int:
        """Bars ahead that it is trained for."""
        return self.design.h

    @property
    def lookback(self) -> int | None:
        """Bars that a forecast is made from, the last ones: the context. None where other series are read besides."""
        return None if self.design.network.cross_asset else self.design.input_size

    @property
    def plan(self) -> FrequencyPlan:
        """Cycles that its encoding was given."""
        return self.design.plan

    def fit(
        self,
        panel: pd.DataFrame,
        progress: Callable[[int, int], None] | None = None,
        checkpoints: str | Path | None = None,
    ) -> Self:
        """Train on a panel.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``. Every series needs ``input_size + h`` bars; the latest windows are kept for validation.
        progress : callable, optional
            Called with the step and the largest number of steps.
        checkpoints : path, optional
            Folder for the states of the training while it lasts. A fit that was killed goes on from there when the
            same one is asked for again, to the same weights; states of another one are removed. What happened to them
            is told in the notes of ``fitted.records``.

        Raises
        ------
        SchemaError
            If the panel breaks its schema, or has a covariate that no calendar continues.
        SeriesError
            If a series cannot be used, naming all that cannot and why.
        TrainingError
            If the loss or its gradient is not a number, naming the windows at fault.
        ConfigError
            If this machine lacks the devices or the precision that the settings ask for.
        BundleError
            If the checkpoints cannot be written.
        """
        from fints.transformer.fitting import fit

        panel = validate_panel(panel)
        if self.design.network.covariates:
            require_continued(feature_columns(panel)[1])
        require_usable(panel, self.design.input_size + self.design.h)
        self.fitted = fit(self.design, panel, progress, checkpoints)
        self._panel = panel
        return self

    def forecast(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
        h: int | None = None,
    ) -> Forecast:
        """Forecast as a distribution; see `fints.forecast.Forecaster.forecast`.

        Parameters
        ----------
        panel : pandas.DataFrame, optional
            History to forecast from, the training panel by default.
        at : date, optional
            Ask the same history about the bars from this date on, instead of those that follow it.
        known_at : date or instant, optional
            The calendar as it was known then; by default at the close of each series' last bar. Of other series, only
            bars that had ended by both are read.
        h : int, optional
            Bars ahead, the trained ones by default.

        Warns
        -----
        UserWarning
            If `h` is larger than the trained one.

        Raises
        ------
        NotFittedError
            Before `fit`, or after `load` without a panel.
        SchemaError
            If the panel breaks its schema, lacks a column that the model was fitted with, or holds bars of another
            interval.
        SeriesError
            If a series is shorter than the context, or with cross-asset attention than the context and one bar.
        """
        return self._forecast(panel, at, known_at, self._bars_ahead(h))

    def predict(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
        h: int | None = None,
    ) -> pd.DataFrame:
        """Forecast as a wide frame: ``unique_id``, ``ds``, ``CycleTransformer`` and its bands; see `forecast`."""
        forecast = self._forecast(panel, at, known_at, self._bars_ahead(h))
        return forecast.to_wide(self.name, self.design.level)

    def save(self, path: str | Path) -> None:
        """Write the model to a folder: ``weights.safetensors`` and ``model.json``.

        Raises
        ------
        NotFittedError
            Before `fit`.
        BundleError
            If the folder holds something else, or cannot be written.
        """
        from fints.transformer.checkpoint import save

        save(self.design, self._require_fitted(), path)

    @classmethod
    def load(cls, path: str | Path) -> CycleTransformer:
        """Read a model that `save` wrote.

        Raises
        ------
        BundleError
            If the folder is missing, damaged, or written by a version with another layout.
        """
        from fints.transformer.checkpoint import load

        design, fitted = load(path)
        model = cls(design.h, design.input_size, design.encoding, design.plan)
        model.design = design
        model.fitted = fitted
        return model

    def _forecast(
        self, panel: pd.DataFrame | None, at: str | pd.Timestamp | None, known_at: str | pd.Timestamp | None, h: int
    ) -> Forecast:
        fitted = self._require_fitted()
        if panel is None and self._panel is None:
            raise NotFittedError("a loaded model keeps no history; pass the panel to forecast from")
        history = validate_panel(panel) if panel is not None else self._panel
        assert history is not None
        require_columns(history, [*fitted.past, *fitted.calendar])
        read = [*PANEL_COLUMNS, *fitted.calendar, *fitted.past]
        history = history if list(history.columns) == read else history[read]
        require_interval(history, fitted)
        size = self.design.input_size
        if fitted.links is None:
            require_context(history, size)
        else:
            require_usable(history, size + 1)
        asked = ask(fitted, history, size, future_frame(history, h, known_at=known_at, start=at), known_at)
        future = asked.future
        quantiles = fitted.quantiles(asked.windows, asked.peers).reshape(len(future), -1)
        frame = future[["unique_id", "ds", "step"]].reset_index(drop=True)
        return Forecast(frame, mean_of_quantiles(quantiles), quantiles)

    def _bars_ahead(self, h: int | None) -> int:
        if h is None or h <= self.h:
            return self.h if h is None else h
        warnings.warn(
            f"{h} bars are asked for, and the model was trained for {self.h}: beyond them it extrapolates, and its "
            "bands do not widen as errors do; fit with the larger h to rely on them",
            UserWarning,
            stacklevel=3,
        )
        return h

    def _bare(self) -> Self:
        other = type(self)(self.design.h, self.design.input_size, self.design.encoding, self.design.plan)
        other.design = self.design
        return other

    def _require_fitted(self) -> Fitted:
        if self.fitted is None:
            raise NotFittedError("the model has no weights yet; call fit(panel), or load a saved one")
        return self.fitted


def mean_of_quantiles(quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of the distribution whose quantile function joins the stated quantiles by straight lines.

    Beyond the outermost ones it is flat, so the mean leans slightly towards the centre of heavy tails.

    Parameters
    ----------
    quantiles : ndarray, shape (n, len(QUANTILES))

    Returns
    -------
    ndarray, shape (n,)
    """
    from fints.forecast import QUANTILES
    from fints.transformer.layers import mean_weights

    mean: NDArray[np.float64] = quantiles @ np.array(mean_weights(QUANTILES))
    return mean
