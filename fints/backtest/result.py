"""What a walk-forward comparison found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fints.backtest.board import ranked, scored
from fints.backtest.comparison import Comparison, compare_all
from fints.backtest.extrapolation import Extrapolation, measure
from fints.backtest.metrics import losses
from fints.backtest.significance import DieboldMariano, diebold_mariano, holm
from fints.backtest.spans import Spans
from fints.backtest.verdict import Pairwise, relative
from fints.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fints.backtest.folds import Folds
    from fints.backtest.jobs import Curves
    from fints.forecast import Forecaster

KEYS = ["unique_id", "cutoff", "ds"]
JOB_COLUMNS = ["model", "seed", "window", "windows", "seconds", "reused", "failure"]
HEADLINE_LEVELS: tuple[float, ...] = (80, 95)
LOSSES = ("squared", "absolute", "crps")


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
    target : str
        What was forecast: ``log_range``, ``log_return`` … It decides on the scores that only some targets have.
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
    target: str = ""
    # what was worked out before: tests by resampling are slow, and the value never changes
    _known: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def shared(self) -> pd.DataFrame:
        """Return the rows that every seed of every finished model has, with their losses: the only fair ground."""
        return self._rows().copy()

    def _rows(self) -> pd.DataFrame:
        if "rows" not in self._known:
            self._known["rows"] = self._shared()
        rows: pd.DataFrame = self._known["rows"]
        return rows

    def _shared(self) -> pd.DataFrame:
        count = self.frame.groupby(KEYS)["model"].transform("size")
        taking_part = self.frame[["model", "seed"]].drop_duplicates()
        rows = self.frame[count == len(taking_part)].reset_index(drop=True)
        return rows.join(losses(rows, self.target))

    def leaderboard(self, levels: Sequence[float] = HEADLINE_LEVELS, against: str | None = None) -> pd.DataFrame:
        """Score the models on the rows they share, best RMSE first; of several seeds, the mean of their scores.

        Parameters
        ----------
        levels : sequence of float
            Bands whose coverage is shown, in percent.
        against : str, optional
            Baseline of the skill.

        Returns
        -------
        pandas.DataFrame
            ``model``, RMSE, MAE, MASE, sMAPE, CRPS (means over series), for variances QLIKE, for returns ``hit`` (share
            of directions foreseen) and ``IC``, ``IC_cross`` (see `correlation`), ``cov80`` … (share of values inside
            the band), ``letters`` (models that share one cannot be told apart; see `Family`), ``in_set`` (whether it
            may be the best; see `ConfidenceSet`), with a baseline ``skill``, ``skill_low``, ``skill_high`` (share of
            its RMSE saved), ``n`` forecasts, ``windows``, ``void`` forecasts left out, ``seeds``, ``RMSE_sd`` (standard
            deviation of the RMSE between seeds, unknown with one), ``problem`` (why a model has no scores).

        Raises
        ------
        UnknownNameError
            If a level has no stated quantiles, or there is no such baseline.
        """
        board = self._board(levels)
        found = self.comparison(against).table().reindex(board["model"]).reset_index(drop=True)
        found["letters"] = found["letters"].fillna("")
        place = board.columns.get_loc("n")
        return pd.concat([board.iloc[:, :place], found, board.iloc[:, place:]], axis=1)

    def comparison(self, against: str | None = None) -> Comparison:
        """Compare all models at once, on squared errors.

        Parameters
        ----------
        against : str, optional
            Baseline to be beaten.

        Raises
        ------
        UnknownNameError
            If there is no such model.
        """
        key = f"comparison {against}"
        if key not in self._known:
            self._known[key] = self._compared(against)
        found: Comparison = self._known[key]
        return found

    def scores(self, *by: str) -> pd.DataFrame:
        """Score each model within groups, each seed for itself, then the mean over seeds.

        Parameters
        ----------
        *by : str
            Columns that make the groups: ``"step"``, ``"unique_id"``, ``"cutoff"``, or several.

        Returns
        -------
        pandas.DataFrame
            ``model``, `by`, RMSE, MAE, MASE, sMAPE, CRPS, pinball, what the target has besides, coverage, mean widths,
            ``n``.
        """
        rows = self._rows()
        own = {"unique_id": "series"}
        table = scored(rows.assign(series=rows["unique_id"]), self.scales, [own.get(column, column) for column in by])
        return table.rename(columns={"series": "unique_id"})

    def by_step(self) -> pd.DataFrame:
        """Score each model at each step ahead; see `scores`."""
        return self.scores("step")

    def by_series(self) -> pd.DataFrame:
        """Score each model on each series; see `scores`."""
        return self.scores("unique_id")

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
            ``model, against, rmse_change`` (−0.02: RMSE 2 % lower), ``statistic, p_value, p_holm`` (held against all
            rows together), ``windows`` (those that overlap counted together), ``lag, reason`` (why a test was
            withheld), ``sentence``.

        Raises
        ------
        UnknownNameError
            If there is no such model or loss.
        """
        models = self._board()["model"].astype(str).tolist()
        reference = models[0] if against is None else against
        pairs = self._pairs([(model, reference) for model in models if model != reference], loss)
        rows = [
            (
                *(pair.model, pair.against, pair.change, pair.test.statistic, pair.test.p_value, pair.p_holm),
                *(pair.test.windows, pair.test.lag, pair.test.reason, pair.sentence()),
            )
            for pair in pairs
        ]
        columns = ["model", "against", "rmse_change", "statistic", "p_value", "p_holm", "windows", "lag", "reason"]
        return pd.DataFrame(rows, columns=[*columns, "sentence"])

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
        return self._pairs([(model, against)], loss)[0].test

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
        return self.verdicts([(model, against)], alpha=alpha)[0]

    def verdicts(
        self, pairs: Sequence[tuple[str, str]], *, alpha: float = 0.05, baseline: str | None = None
    ) -> list[str]:
        """Say in words of each pair whether its first model is better, all pairs held together by Holm's adjustment.

        Parameters
        ----------
        pairs : sequence of (str, str)
            Names of models.
        alpha : float
            Chance of a single false "better" or "worse" among them.
        baseline : str, optional
            A model that all are tested against besides; sentences on it say where that test finds otherwise.

        Raises
        ------
        UnknownNameError
            If there is no such model.
        """
        found = self._pairs(pairs, "squared")
        if baseline is not None:
            named = self.comparison(baseline).named
            found = [replace(p, named=named(p.model)) if p.against == baseline else p for p in found]
        return [pair.sentence(alpha) for pair in found]

    def _board(self, levels: Sequence[float] = HEADLINE_LEVELS) -> pd.DataFrame:
        key = f"board {tuple(levels)}"
        if key not in self._known:
            self._known[key] = ranked(self, self._rows(), levels)
        board: pd.DataFrame = self._known[key]
        return board.copy()

    def _compared(self, against: str | None) -> Comparison:
        if against is not None:
            self._require([against])
        rows = self._spans.joined(self._rows())
        order = [str(name) for name in self._board()["model"] if name not in self.failures]
        if rows.empty:
            return compare_all(pd.DataFrame(), pd.DataFrame(), lag=self._spans.lag, against=against)
        columns = ["model", "unique_id", "seed"]
        pooled = rows.pivot_table(index="cutoff", columns="model", values="squared").reindex(columns=order)
        cells = rows.groupby(["cutoff", *columns])["squared"].agg(["sum", "count"]).unstack(columns)
        # windows weigh by their forecasts, so that the mean over windows is that over forecasts, as in the scores
        by_series = pd.DataFrame(cells["sum"] / cells["count"].mean())
        return compare_all(pooled, by_series, lag=self._spans.lag, against=against, overlapping=self._overlapping)

    @property
    def _spans(self) -> Spans:
        return Spans.of(self.folds)

    @property
    def _overlapping(self) -> int:
        return self._rows()["cutoff"].nunique() if self._spans.together > 1 else 0

    def _require(self, names: Sequence[str]) -> None:
        known = {*self.frame["model"].unique(), *self.failures, *self.models}
        for name in names:
            if name not in known:
                raise UnknownNameError("model", name, known)

    def _pairs(self, pairs: Sequence[tuple[str, str]], loss: str) -> list[Pairwise]:
        """Test pairs of models, held together by Holm's adjustment."""
        self._require([name for pair in pairs for name in pair])
        if loss not in LOSSES:
            raise UnknownNameError("loss", loss, LOSSES)
        rows = self._spans.joined(self._rows())
        rmse = self._board().set_index("model")["RMSE"]
        windows = rows.groupby(["cutoff", "model"])[loss].mean().unstack("model").sort_index() if len(rows) else rows
        tests = [self._test(windows, model, against) for model, against in pairs]
        adjusted = holm([test.p_value for test in tests])
        together = int(np.isfinite(adjusted).sum())
        return [
            Pairwise(model, against, test, relative(rmse.get(model), rmse.get(against)), p, together, self._overlapping)
            for (model, against), test, p in zip(pairs, tests, map(float, adjusted), strict=True)
        ]

    def _test(self, windows: pd.DataFrame, model: str, against: str) -> DieboldMariano:
        for name in (model, against):
            if name in self.failures:
                why = f"{name} did not finish: {self.failures[name]}"
                return DieboldMariano(np.nan, np.nan, 0, self._spans.lag, why)
        if windows.empty:
            return DieboldMariano(
                np.nan, np.nan, 0, self._spans.lag, "they have no forecast in common that can be scored"
            )
        return diebold_mariano(windows[model].to_numpy(float), windows[against].to_numpy(float), lag=self._spans.lag)
