"""What MLflow gets of each model of a backtest: figures, tables, settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.settings.backtest import TransformerEntry, in_short
from fints.tracking import flat

if TYPE_CHECKING:
    from fints.report import ComparedTarget
    from fints.settings import BacktestSettings, Entry

MOST_POINTS = 200
"""Of a curve of training."""

DIGITS = 6
"""Of headline figures, which MLflow prints as they are; tables have all digits."""

HEADLINE = {
    "RMSE": "rmse",
    "MAE": "mae",
    "MASE": "mase",
    "sMAPE": "smape",
    "CRPS": "crps",
    "QLIKE": "qlike",
    "hit": "hit_rate",
    "IC": "ic",
    "skill": "skill",
    "cov80": "coverage80",
    "cov95": "coverage95",
}
"""Columns of the leaderboard and the names of their metrics."""

STEPS = {"RMSE": "rmse", "MAE": "mae", "CRPS": "crps", "cov80": "coverage80"}

Curves = dict[str, dict[int, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The tables of one target, made once for all of its models.

    Parameters
    ----------
    target : ComparedTarget
    board : pandas.DataFrame
        Leaderboard, by model.
    steps, folds : pandas.DataFrame
        Scores by step and by window.
    tests : pandas.DataFrame
        Diebold–Mariano against the baseline, or the best model where there is none, by model.
    """

    target: ComparedTarget
    board: pd.DataFrame
    steps: pd.DataFrame
    folds: pd.DataFrame
    tests: pd.DataFrame

    @classmethod
    def of(cls, found: ComparedTarget) -> Scores:
        """Score a target."""
        result, against = found.result, found.comparison.against
        tests = result.significance(against if against not in result.failures else None)
        return cls(
            found, found.board().set_index("model"), result.by_step(), result.scores("cutoff"), tests.set_index("model")
        )

    def curves(self, model: str) -> Curves:
        """Return the figures of a model by step; none where it failed."""
        result = self.target.result
        if model in result.failures:
            return {}
        line = self.board.loc[[model], [c for c in HEADLINE if c in self.board.columns]].astype(float).iloc[0]
        headline = {HEADLINE[str(column)]: float(value) for column, value in line.items()}
        headline["seconds"] = float(result.seconds[model])
        if model in self.tests.index:
            headline["dm_p"] = float(self.tests["p_value"].astype(float)[model])
        beyond = self._beyond(model)
        if beyond:
            headline["extrapolation_rmse"] = beyond.pop(0)
        own = self.steps[self.steps["model"] == model].set_index("step")
        windows = self.folds_of(model)
        told = {name: float(f"{value:.{DIGITS}g}") for name, value in headline.items() if not _untold(name, value)}
        curves: Curves = {f"headline/{name}": {0: value} for name, value in told.items()}
        curves |= {f"by_horizon/{name}": _by_step(own[column]) for column, name in STEPS.items()}
        curves |= {
            f"by_fold/{STEPS[column]}": dict(enumerate(windows[column].astype(float))) for column in ("RMSE", "CRPS")
        }
        if beyond:
            curves["extrapolation/rmse_in_sd"] = beyond
        return curves | {key: _thinned(dict(curve)) for key, curve in result.curves.get(model, {}).items()}

    def folds_of(self, model: str) -> pd.DataFrame:
        """Return the scores of a model in every window."""
        return self.folds[self.folds["model"] == model].sort_values("cutoff").reset_index(drop=True)

    def predictions_of(self, model: str) -> pd.DataFrame:
        """Return every forecast of a model that can be scored, with what came."""
        frame = self.target.result.frame
        return frame[frame["model"] == model].reset_index(drop=True)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return what stands in the tables of the parent run, by name."""
        result, beyond = self.target.result, self.target.extrapolation
        tables = {
            "leaderboard": self.board.reset_index(),
            "significance": self.tests.reset_index(),
            "by_step": self.steps,
            "by_series": result.by_series(),
            "jobs": result.jobs,
        }
        return tables if beyond is None else tables | {"extrapolation": beyond.by_band()}

    def _beyond(self, model: str) -> dict[int, float]:
        """RMSE in standard deviations of the context by step beyond the trained horizon; at 0, over all such steps."""
        if self.target.extrapolation is None:
            return {}
        rows = self.target.extrapolation.rows
        rows = rows[(rows["model"] == model) & (rows["distance"] > 1)]
        if rows.empty:
            return {}
        by_step = rows.assign(squared=rows["error"] ** 2).groupby("step")["squared"].mean() ** 0.5
        return {0: float(np.sqrt((rows["error"] ** 2).mean())), **_by_step(by_step)}


def settings_of(entry: Entry, settings: BacktestSettings) -> dict[str, object]:
    """Return the settings of a model, flat; a transformer's with what it takes over from the backtest."""
    params = entry.model_dump(mode="json")
    if isinstance(entry, TransformerEntry):
        params["encoding"] = {"is": in_short(entry.encoding), **params["encoding"]}
        params["network"] = settings.network_of(entry).model_dump(mode="json")
        params["training"] = settings.training_of(entry).model_dump(mode="json")
    return flat({key: value for key, value in params.items() if value is not None})


def joined(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Lay the tables of all targets below each other, the target in front."""
    parts = [table.assign(target=target) for target, table in tables.items()]
    whole = pd.concat(parts, ignore_index=True)
    return whole[["target", *(column for column in whole.columns if column != "target")]]


def _by_step(values: pd.Series) -> dict[int, float]:
    return {int(step): float(value) for step, value in zip(values.index, values, strict=True)}


def _untold(name: str, value: float) -> bool:
    """Whether a figure is unknown because it does not apply: there is no skill of a baseline over itself."""
    return name in {"skill", "dm_p"} and bool(np.isnan(value))


def _thinned(curve: dict[int, float]) -> dict[int, float]:
    """Keep evenly spread points of a long curve, its ends among them."""
    if len(curve) <= MOST_POINTS:
        return curve
    steps = sorted(curve)
    places = np.linspace(0, len(steps) - 1, MOST_POINTS).round().astype(int)
    return {steps[place]: curve[steps[place]] for place in places}
