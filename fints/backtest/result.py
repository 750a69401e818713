"""What a walk-forward comparison found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.backtest.extrapolation import Extrapolation, measure
from fints.backtest.metrics import LEVELS, losses, summarise
from fints.backtest.significance import DieboldMariano, diebold_mariano, overlap_lag
from fints.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fints.backtest.folds import Folds
    from fints.backtest.jobs import Curves
    from fints.forecast import Forecaster

KEYS = ["unique_id", "cutoff", "ds"]
JOB_COLUMNS = ["model", "seed", "window", "windows", "seconds", "reused", "failure"]
HEADLINE_LEVELS: tuple[float, ...] = (80, 95)


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidation:
    """Forecasts of several models on the same windows, with what came.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``unique_id, cutoff, ds, step, y, model, seed, mean`` and the quantile columns ``q025`` … ``q975``; one row per
        forecast that can be scored.
    folds : Folds
        The windows.
    scales : pandas.Series
        Mean absolute seasonal difference of each series before the first cutoff, by ``unique_id``: the unit of MASE.
    failures : mapping of str to str
        Models that did not finish, with the cause.
    void : pandas.DataFrame
        Forecasts that cannot be scored: ``model, seed, unique_id, cutoff, ds, step, reason``; among them those for
        sessions that were cancelled after the cutoff.
    models : mapping of str to Forecaster
        Each model as fitted last, of several seeds the first; those whose jobs were kept on disk are not there.
    seconds : mapping of str to float
        Time each model took to fit and forecast, all its seeds together.
    curves : mapping of str to mapping
        What the diary told of each model as fitted last.
    timeline : pandas.DataFrame
        Spans of every window; see `fints.backtest.timeline.fold_timeline`.
    jobs : pandas.DataFrame
        ``model, seed, window`` (the first of those that share a fit), ``windows`` (how many), ``seconds, reused``
        (whether an earlier run had done it), ``failure``.
    """

    frame: pd.DataFrame
    folds: Folds
    scales: pd.Series
    failures: Mapping[str, str]
    void: pd.DataFrame
    models: Mapping[str, Forecaster]
    seconds: Mapping[str, float]
    curves: Mapping[str, Curves] = field(default_factory=dict)
    timeline: pd.DataFrame = field(default_factory=pd.DataFrame)
    jobs: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=JOB_COLUMNS))

    def shared(self) -> pd.DataFrame:
        """Return the rows that every seed of every finished model has, with their losses: the only fair ground."""
        count = self.frame.groupby(KEYS)["model"].transform("size")
        taking_part = self.frame[["model", "seed"]].drop_duplicates()
        rows = self.frame[count == len(taking_part)].reset_index(drop=True)
        return rows.join(losses(rows)) if len(rows) else rows

    def leaderboard(self, levels: Sequence[float] = HEADLINE_LEVELS) -> pd.DataFrame:
        """Score the models on the rows they share, best RMSE first; of several seeds, the mean of their scores.

        Parameters
        ----------
        levels : sequence of float
            Bands whose coverage is shown, in percent.

        Returns
        -------
        pandas.DataFrame
            ``model``, RMSE, MAE, MASE, CRPS (means over series), ``cov80`` … (share of values inside the band),
            ``n`` forecasts, ``windows``, ``void`` forecasts left out, ``seeds``, ``RMSE_sd`` (standard deviation of
            the RMSE between seeds, unknown with one), ``problem`` (why a model has no scores).

        Raises
        ------
        UnknownNameError
            If a level has no stated quantiles.
        """
        unknown = [level for level in levels if level not in LEVELS]
        if unknown:
            raise UnknownNameError("band level", f"{unknown[0]:g}", [f"{level:g}" for level in LEVELS])
        coverage = [f"cov{level:g}" for level in levels]
        columns = ["RMSE", "MAE", "MASE", "CRPS", *coverage, "n", "windows", "void", "seeds", "RMSE_sd", "problem"]
        rows = self.shared()
        table = self._scored(rows, []).set_index("model") if len(rows) else rows.set_index("model")
        if len(rows):
            each = summarise(rows, self.scales, ["model", "seed"]).groupby("model")["RMSE"]
            table = table.assign(seeds=each.size(), RMSE_sd=each.std()).sort_values("RMSE", kind="stable")
        table = table.reindex(columns=columns)
        table["windows"] = rows["cutoff"].nunique() if len(rows) else 0
        table["void"] = self.void.groupby("model").size().reindex(table.index, fill_value=0)
        # failed models come last, without scores
        table = table.reindex([*table.index, *self.failures])
        table["problem"] = [self.failures.get(str(model), "") for model in table.index]
        return table.rename_axis("model").reset_index()

    def by_step(self) -> pd.DataFrame:
        """Score each model at each step ahead: ``model, step``, RMSE, MAE, MASE, CRPS, coverage, ``n``."""
        return self._scored(self.shared(), ["step"])

    def by_series(self) -> pd.DataFrame:
        """Score each model on each series: ``model, unique_id``, RMSE, MAE, MASE, CRPS, coverage, ``n``."""
        rows = self.shared()
        table = self._scored(rows.assign(series=rows["unique_id"]), ["series"])
        return table.rename(columns={"series": "unique_id"})

    def extrapolation(self, panel: pd.DataFrame, trained_h: Mapping[str, int], context: int) -> Extrapolation:
        """Measure what models do beyond the horizon that they were trained for.

        Parameters
        ----------
        panel : pandas.DataFrame
            The one compared on.
        trained_h : mapping of str to int
            Bars ahead that each model was trained for.
        context : int
            Bars up to a cutoff whose standard deviation is the unit of errors, the same for all models.
        """
        return measure(self.shared(), self.folds, panel, trained_h, context)

    def _scored(self, rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
        """Score each model within groups: each seed for itself, then the mean over seeds; `n` is their sum."""
        keys = ["model", *by]
        each = summarise(rows, self.scales, ["model", "seed", *by]).drop(columns="seed").groupby(keys)
        return each.mean().assign(n=each["n"].sum()).reset_index()

    def significance(self, against: str | None = None, *, loss: str = "squared") -> pd.DataFrame:
        """Test every model against one by Diebold–Mariano.

        Parameters
        ----------
        against : str, optional
            Name of the model to beat; by default the one with the lowest RMSE.
        loss : {"squared", "absolute", "crps"}
            Loss, averaged within a window over series and steps.

        Returns
        -------
        pandas.DataFrame
            ``model, against, rmse_change`` (−0.02: RMSE 2 % lower), ``statistic, p_value, windows, lag, reason``
            (why a test was withheld).

        Raises
        ------
        UnknownNameError
            If there is no such model or loss.
        """
        board = self.leaderboard().set_index("model")
        reference = str(board.index[0]) if against is None else against
        rows = [
            {"model": model, "against": reference, "rmse_change": _change(board, model, reference)}
            | _as_row(self.compare(model, reference, loss=loss))
            for model in board.index
            if model != reference
        ]
        columns = ["model", "against", "rmse_change", "statistic", "p_value", "windows", "lag", "reason"]
        return pd.DataFrame(rows, columns=columns)

    def compare(self, model: str, against: str, *, loss: str = "squared") -> DieboldMariano:
        """Test one model against another.

        Parameters
        ----------
        model, against : str
            Names of models.
        loss : {"squared", "absolute", "crps"}

        Returns
        -------
        DieboldMariano
            Withheld, with a reason, where a model failed or windows are too few.

        Raises
        ------
        UnknownNameError
            If there is no such model or loss.
        """
        known = {*self.frame["model"].unique(), *self.failures, *self.models}
        for name in (model, against):
            if name not in known:
                raise UnknownNameError("model", name, known)
        if loss not in {"squared", "absolute", "crps"}:
            raise UnknownNameError("loss", loss, ["squared", "absolute", "crps"])
        lag = overlap_lag(self.folds.h, self.folds.step_size)
        for name in (model, against):
            if name in self.failures:
                return DieboldMariano(np.nan, np.nan, 0, lag, f"{name} did not finish: {self.failures[name]}")
        rows = self.shared()
        if rows.empty:
            return DieboldMariano(np.nan, np.nan, 0, lag, "they have no forecast in common that can be scored")
        windows = rows.groupby(["cutoff", "model"])[loss].mean().unstack("model").sort_index()
        return diebold_mariano(windows[model].to_numpy(float), windows[against].to_numpy(float), lag=lag)

    def verdict(self, model: str, against: str, *, alpha: float = 0.05) -> str:
        """Say in words whether a model is better than another.

        Parameters
        ----------
        model, against : str
            Names of models.
        alpha : float
            p-value below which a difference counts.

        Returns
        -------
        str
            One sentence with the difference in RMSE, the p-value and the number of windows.

        Raises
        ------
        UnknownNameError
            If there is no such model.
        """
        test = self.compare(model, against)
        if test.windows == 0:
            return f"{model} cannot be compared with {against}: {test.reason}."
        change = _change(self.leaderboard().set_index("model"), model, against)
        size = _in_words(change)
        if test.reason:
            return f"{model} is not distinguishable from {against}: {size}, but {test.reason}."
        numbers = f"{size} over {test.windows} windows (Diebold–Mariano p {_p_value(test.p_value)})"
        # losses pool the series, RMSE averages over them: where they disagree on the direction, nothing is claimed
        if test.p_value < alpha and change * test.statistic > 0:
            return f"{model} is {'better' if test.statistic < 0 else 'worse'} than {against}: {numbers}."
        return f"{model} is not distinguishable from {against}: {numbers}."


def _change(board: pd.DataFrame, model: str, against: str) -> float:
    rmse = board["RMSE"]
    return float(rmse[model]) / float(rmse[against]) - 1


def _as_row(test: DieboldMariano) -> dict[str, object]:
    return {
        "statistic": test.statistic,
        "p_value": test.p_value,
        "windows": test.windows,
        "lag": test.lag,
        "reason": test.reason,
    }


def _in_words(change: float) -> str:
    percent = abs(change) * 100
    if percent < 0.05:  # noqa: PLR2004 — what would print as 0.0 %
        return "the same RMSE to within 0.1 %"
    return f"RMSE {percent:.1f} % {'lower' if change < 0 else 'higher'}"


def _p_value(p: float) -> str:
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"  # noqa: PLR2004 — three digits are enough
