"""The forecaster that people use: fit, predict, save, load."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings import encoding_config
from fints.errors import ModelError, NotFittedError, SeriesError
from fints.forecast import Forecast
from fints.plan import PRIOR_PERIODS, FrequencyPlan
from fints.series import future_frame, usable, validate_panel
from fints.series.scaling import Scaling, standard_scaling
from fints.series.windows import Tape, feature_columns, require_columns
from fints.transformer.config import NetworkConfig, TrainingConfig
from fints.transformer.design import Design, Fitted
from fints.transformer.inputs import network_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    import pandas as pd
    from numpy.typing import NDArray

    from fints.encodings import EncodingConfig
    from fints.series.windows import Windows

_CHUNK = 256


class CycleTransformer:
    """Transformer whose attention knows the market's cycles.

    Parameters
    ----------
    h : int
        Bars ahead to train for. Longer forecasts can be asked for; they extrapolate.
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
    def plan(self) -> FrequencyPlan:
        """Cycles that its encoding was given."""
        return self.design.plan

    def fit(self, panel: pd.DataFrame, progress: Callable[[int, int], None] | None = None) -> Self:
        """Train on a panel.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``. Every series needs ``input_size + h`` bars; the latest windows are kept for validation.
        progress : callable, optional
            Called with the step and the largest number of steps.

        Raises
        ------
        SeriesError
            If a series cannot be used, naming all that cannot and why.
        TrainingError
            If the loss is not a number.
        """
        from fints.transformer.training import train

        design = self.design
        panel = validate_panel(panel)
        _require_usable(panel, design.input_size + design.h)
        past, known = feature_columns(panel)
        past = past if design.network.companions else ()
        known = known if design.network.covariates else ()
        network = design.network_for(len(past), len(known))
        record = train(
            network,
            Tape.from_panel(panel, past, known),
            design.training,
            window=(design.input_size, design.h),
            seed=design.random_seed,
            progress=progress,
        )
        self.fitted = Fitted(network, past, known, str(panel["ds"].max().isoformat()), record)
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
            The calendar as it was known then; by default at the close of each series' last bar.
        h : int, optional
            Bars ahead, the trained ones by default.

        Raises
        ------
        NotFittedError
            Before `fit`, or after `load` without a panel.
        SchemaError
            If the panel lacks a column that the model was fitted with.
        SeriesError
            If a series is shorter than the context.
        """
        fitted = self._require_fitted()
        if panel is None and self._panel is None:
            raise NotFittedError("a loaded model keeps no history; pass the panel to forecast from")
        history = validate_panel(panel) if panel is not None else self._panel
        assert history is not None
        require_columns(history, [*fitted.past, *fitted.calendar])
        _require_usable(history, self.design.input_size)
        future = future_frame(history, h or self.h, known_at=known_at, start=at)
        context = history.groupby("unique_id", sort=False).tail(self.design.input_size).reset_index(drop=True)
        tape = Tape.from_panel(context, fitted.past, fitted.calendar)
        windows = tape.last(self.design.input_size, future, fitted.calendar, known_at)
        quantiles = self._quantiles(windows).reshape(len(future), -1)
        frame = future[["unique_id", "ds", "step"]].reset_index(drop=True)
        return Forecast(frame, mean_of_quantiles(quantiles), quantiles)

    def predict(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
        h: int | None = None,
    ) -> pd.DataFrame:
        """Forecast as a wide frame: ``unique_id``, ``ds``, ``CycleTransformer`` and its bands; see `forecast`."""
        forecast = self.forecast(panel, at=at, known_at=known_at, h=h)
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
            If the folder is missing, damaged, or written by a newer version.
        """
        from fints.transformer.checkpoint import load

        design, fitted = load(path)
        model = cls(design.h, design.input_size, design.encoding, design.plan)
        model.design = design
        model.fitted = fitted
        return model

    def _bare(self) -> Self:
        other = type(self)(self.design.h, self.design.input_size, self.design.encoding, self.design.plan)
        other.design = self.design
        return other

    def _require_fitted(self) -> Fitted:
        if self.fitted is None:
            raise NotFittedError("the model has no weights yet; call fit(panel), or load a saved one")
        return self.fitted

    def _quantiles(self, windows: Windows) -> NDArray[np.float64]:
        """Run the network over windows, (B, H, Q), in chunks that bound the memory."""
        network = self._require_fitted().network.eval()
        parts = []
        for start in range(0, len(windows), _CHUNK):
            chunk = windows.rows(slice(start, start + _CHUNK))
            scale = standard_scaling(chunk.values[..., 0])
            with torch.inference_mode():
                scaled = network(network_inputs(chunk, scale)).double().numpy()
            parts.append(Scaling(scale.center[..., None], scale.spread[..., None]).invert(scaled))
        quantiles = np.concatenate(parts)
        if not np.isfinite(quantiles).all():
            raise ModelError(
                "the network's forecast is not a number; the history has infinite values, or weights are lost"
            )
        return quantiles


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

    p = np.array([0.0, *QUANTILES, 1.0])
    edges = np.concatenate((quantiles[:, :1], quantiles, quantiles[:, -1:]), axis=1)
    mean: NDArray[np.float64] = (0.5 * (edges[:, 1:] + edges[:, :-1]) * np.diff(p)).sum(axis=1)
    return mean


def _require_usable(panel: pd.DataFrame, length: int) -> None:
    """Refuse a panel with a series that cannot be used."""
    _, problems = usable(panel, length)
    reasons = [f"{p.unique_id}: {p.reason}" for p in problems]
    if reasons:
        raise SeriesError(
            f"{len(reasons)} series cannot be used; leave them out with fints.series.usable. " + "; ".join(reasons[:10])
        )
