"""Five forecasters that cheat, each at another stage, as people have written them in good faith."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.folds import Folds  # noqa: TC001 — read by the signatures of makers
from fints.conformal import ResidualQuantiles
from fints.forecast import QUANTILES, Forecast
from fints.periods import detect_periods
from fints.plan import FrequencyPlan
from fints.series import make_panel
from fints.series.panel import future_frame

if TYPE_CHECKING:
    from typing import Self

H = 5


class Honest:
    """The last value of each series, with the spread of its training rows."""

    name, h = "Honest", H

    def fit(self, panel: pd.DataFrame) -> Self:
        self.spread = panel.groupby("unique_id")["y"].std().to_dict()
        return self

    def forecast(
        self, panel: pd.DataFrame | None = None, *, at: object = None, known_at: pd.Timestamp | None = None
    ) -> Forecast:
        assert panel is not None
        future = future_frame(panel, self.h, known_at=known_at)[["unique_id", "ds", "step"]]
        mean = future["unique_id"].map(self.point(panel)).to_numpy(float)
        width = future["unique_id"].map(self.spread).to_numpy(float)
        return Forecast(future, mean, mean[:, None] + width[:, None] * (np.array(QUANTILES) - 0.5))

    def point(self, panel: pd.DataFrame) -> dict[str, float]:
        return panel.groupby("unique_id")["y"].last().to_dict()

    def predict(self, panel: pd.DataFrame | None = None, *, at: object = None, known_at: object = None) -> pd.DataFrame:
        return self.forecast(panel).to_wide(self.name)


class LeakyScaler(Honest):
    """Shrinks towards a mean that was taken over the whole series, before the windows were cut."""

    name = "LeakyScaler"

    def __init__(self, panel: pd.DataFrame) -> None:
        self.scaler = panel.groupby("unique_id")["y"].mean().to_dict()

    def point(self, panel: pd.DataFrame) -> dict[str, float]:
        return {name: 0.9 * last + 0.1 * self.scaler[name] for name, last in super().point(panel).items()}


class LeakyPeriod(Honest):
    """Repeats a cycle whose period was found on the whole panel."""

    name = "LeakyPeriod"

    def __init__(self, panel: pd.DataFrame) -> None:
        found = detect_periods(panel[["unique_id", "ds", "y", "exchange", "interval"]], clock="session")
        strongest = found.to_frame().sort_values("p_value")["period"]
        self.plan = FrequencyPlan.from_periods(
            [float(strongest.iloc[0]) if len(strongest) else float(panel["y"].mean())]
        )

    def point(self, panel: pd.DataFrame) -> dict[str, float]:
        back = max(1, round(self.plan.cycles[0].period))
        return {str(name): float(rows.iloc[-min(back, len(rows))]) for name, rows in panel.groupby("unique_id")["y"]}


class ReadsCompanion(Honest):
    """Adds a companion to the last value: honest itself, and misled by a panel that is not."""

    name = "LeakyCompanion"

    def point(self, panel: pd.DataFrame) -> dict[str, float]:
        last = panel.groupby("unique_id")["past_log_range"].last()
        return {name: value + 0.1 * last[name] for name, value in super().point(panel).items()}


class LeakyConformal(Honest):
    """Bands from the errors of all windows, also those that were still to come."""

    name = "LeakyConformal"

    def __init__(self, panel: pd.DataFrame) -> None:
        errors = panel.groupby("unique_id")["y"].diff().dropna().to_numpy(float)
        self.conformal = ResidualQuantiles.from_errors(np.repeat(errors[:, None], H, axis=1))

    def forecast(
        self, panel: pd.DataFrame | None = None, *, at: object = None, known_at: pd.Timestamp | None = None
    ) -> Forecast:
        plain = super().forecast(panel, known_at=known_at)
        steps = plain.frame["step"].to_numpy(np.int64)
        return Forecast(plain.frame, plain.mean, self.conformal.around(plain.mean, steps))


class LeakyCalendar(Honest):
    """Stamps its forecasts by the calendar as it is known today."""

    name = "LeakyCalendar"

    def forecast(
        self, panel: pd.DataFrame | None = None, *, at: object = None, known_at: pd.Timestamp | None = None
    ) -> Forecast:
        return super().forecast(panel, known_at=pd.Timestamp("2026-01-01"))


def honest_panel(bars: pd.DataFrame) -> pd.DataFrame:
    return make_panel(bars, "log_volume", known_at=bars["session"].max())


def panel_with_tomorrow(bars: pd.DataFrame) -> pd.DataFrame:
    """Centre a moving average of the companion, so that each row holds a bit of the next."""
    panel = honest_panel(bars)
    centred = panel.groupby("unique_id")["past_log_range"].rolling(3, center=True, min_periods=1).mean()
    return panel.assign(past_log_range=centred.to_numpy(float))


LEAKY = {
    "scaler": (LeakyScaler, honest_panel),
    "plan": (LeakyPeriod, honest_panel),
    "companion": (lambda _panel: ReadsCompanion(), panel_with_tomorrow),
    "conformal": (LeakyConformal, honest_panel),
    "calendar": (lambda _panel: LeakyCalendar(), honest_panel),
}
"""From the stage that leaks to a maker of the model from the whole panel, and of the panel from bars."""


def only(maker: object) -> object:
    """Return a maker of models for a recipe."""

    def models(panel: pd.DataFrame, folds: Folds) -> list[Honest]:
        return [maker(panel)]

    return models
