"""How good forecasts of one target were, by stretch of the horizon and by how far one looks back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.conformal.bands import STRETCHES
from fints.verification.interval import Mean, mean_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

WINDOWS = (20, 60, None)
"""Nights that are looked back on; None is all of them."""

SMOOTH = 20
"""Nights that the share within the bands is averaged over where it is drawn."""

_MEANS = ("absolute", "crps", "error", "cov80", "cov95")
_PROMISED = ("p_squared", "p_absolute", "p_crps", "p_cov80", "p_cov95")


@dataclass(frozen=True, eq=False)
class Scorecard:
    """Forecasts of one target that were held against what happened.

    Parameters
    ----------
    target : str
    rows : pandas.DataFrame
        As `fints.verification.outcomes` gives them.
    lost : mapping of str to int
        Forecasts that could not be held against what was promised: ``unreadable``, or ``unpromised``.
    """

    target: str
    rows: pd.DataFrame
    lost: Mapping[str, int] = field(default_factory=dict)

    @property
    def counts(self) -> Mapping[str, int]:
        """Forecasts by what became of them; ``afterwards`` are those that were made when their bar was over."""
        late = (self.rows["state"] == "scored") & ~self.rows["live"].astype(bool)
        counts = self.rows.loc[~late, "state"].value_counts().to_dict()
        found = {str(state): int(n) for state, n in counts.items()}
        found |= {"afterwards": int(late.sum())} if late.any() else {}
        return found | {state: n for state, n in self.lost.items() if n}

    @cached_property
    def live(self) -> bool:
        """Whether any forecast that was made before its bar was over has been scored."""
        return bool(((self.rows["state"] == "scored") & self.rows["live"].astype(bool)).any())

    @cached_property
    def late(self) -> pd.DatetimeIndex:
        """Nights made when the session after them was over, as `fints.verification.missed` counts them.

        Only forecasts of bars that were still to come are live then. A series that was behind says nothing of its
        night, and neither does a session that was cancelled.
        """
        days = self.rows["ds"].dt.normalize()
        ahead = self.rows.assign(day=days)[(days > self.rows["as_of"].dt.normalize()) & (self.rows["state"] != "void")]
        next_ones = ahead[ahead["day"] == ahead.groupby("as_of")["day"].transform("min")]
        in_time = next_ones["live"].astype(float).groupby(next_ones["as_of"]).mean()
        return pd.DatetimeIndex(in_time.index[in_time < 0.5])  # noqa: PLR2004 — most of the series

    @cached_property
    def scored(self) -> pd.DataFrame:
        """Live forecasts that were scored; where there is none, those that were made afterwards."""
        done = self.rows[self.rows["state"] == "scored"]
        return done[done["live"].astype(bool) == self.live]

    @cached_property
    def stretches(self) -> tuple[tuple[str, int, int], ...]:
        """Name, first and last step of every stretch of the horizon, the whole of it last."""
        # pending ones count, or the name of the last stretch would change from night to night in the beginning
        last = int(self.rows["step"].max()) if len(self.rows) else 1
        ends = [end for end in STRETCHES if end < last]
        bounds = [(first + 1, end) for first, end in zip((0, *ends), (*ends, last), strict=True)]
        named = [(f"{first}" if first == end else f"{first}-{end}", first, end) for first, end in bounds]
        return (*named, ("all", 1, last)) if len(named) > 1 else tuple(named)

    @cached_property
    def nights(self) -> NDArray[np.datetime64]:
        """As-of of every night of which any forecast is scored, in order."""
        return np.sort(self.scored["as_of"].unique())

    def nightly(self, first: int, last: int, nights: int | None = None) -> pd.DataFrame:
        """Average every score over the forecasts of each night, the newest nights of which any is scored.

        Parameters
        ----------
        first, last : int
            Steps ahead.
        nights : int, optional
            How many; all by default.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``as_of``: one row per night, in order; ``n`` forecasts each.
        """
        sums = _newest(self._by_step.loc[self._by_step["step"].between(first, last)], nights)
        total = sums.groupby("as_of")[[*_MEANS, *_PROMISED, "n", "stated"]].sum()
        means = total[list(_MEANS)].div(total["n"], axis=0)
        promised = total[list(_PROMISED)].div(total["stated"].where(total["stated"] > 0), axis=0)
        return pd.concat([means, promised, total["n"]], axis=1)

    @cached_property
    def _by_step(self) -> pd.DataFrame:
        """Sums of scores by night and step, which all other averages are made of."""
        rows = self.scored
        columns = [*_MEANS, *_PROMISED]
        grouped = rows.groupby(["as_of", "step"])
        sums = grouped[columns].sum().astype(float)
        return sums.assign(n=grouped.size(), stated=grouped["p_absolute"].count()).reset_index()

    @cached_property
    def _by_name(self) -> pd.DataFrame:
        """Sums of squared errors by night, step and series."""
        grouped = self.scored.groupby(["as_of", "step", "unique_id"], observed=True)["squared"]
        return grouped.agg(["sum", "size"]).astype(float).reset_index()

    def table(self) -> pd.DataFrame:
        """Score every stretch of the horizon over every window that is shorter than what there is, and over all.

        Returns
        -------
        pandas.DataFrame
            ``nights`` (asked for; missing where all are), ``steps``, ``n_nights``, ``n_late`` (of these, those that
            are `late`), ``n``, then ``RMSE, MAE, CRPS, bias,
            cov80, cov95`` with ``_low`` and ``_high`` of a 95 % interval beside all but RMSE and CRPS, and
            ``_promised`` beside all but bias. RMSE is taken per series and averaged, as on the hold-out.
        """
        lines = []
        for nights in [window for window in WINDOWS if window is None or window < len(self.nights)]:
            for name, first, last in self.stretches:
                nightly = self.nightly(first, last, nights)
                if len(nightly):
                    rmse = self._rmse(first, last, nights)
                    late = int(nightly.index.isin(self.late).sum())
                    lines.append({"nights": nights, "steps": name, **_line(nightly, last, late), "RMSE": rmse})
        return pd.DataFrame(lines)

    def by_series(self) -> pd.DataFrame:
        """Score every series over all nights: ``unique_id, n, RMSE, MAE, bias, cov80, cov95`` and its last night."""
        rows = self.scored
        grouped = rows.groupby("unique_id", sort=True, observed=True)
        table = grouped[["squared", "absolute", "error", "cov80", "cov95"]].mean().astype(float)
        table.insert(0, "n", grouped.size())
        table["squared"] **= 0.5
        named = {"squared": "RMSE", "absolute": "MAE", "error": "bias"}
        return table.rename(columns=named).reset_index()

    def by_step(self) -> pd.DataFrame:
        """Mean absolute error at every step ahead, live and promised: ``step, MAE, MAE_promised, n``."""
        grouped = self.scored.groupby("step")
        table = grouped[["absolute", "p_absolute"]].mean().astype(float).assign(n=grouped.size())
        return table.rename(columns={"absolute": "MAE", "p_absolute": "MAE_promised"}).reset_index()

    def over_time(self) -> pd.DataFrame:
        """Share within the bands by night, averaged over `SMOOTH` nights, and as promised.

        Returns
        -------
        pandas.DataFrame
            ``as_of, cov80, cov95, cov80_promised, cov95_promised``.
        """
        columns = ["cov80", "cov95", "p_cov80", "p_cov95"]
        nightly = self.scored.groupby("as_of")[columns].mean().astype(float)
        smooth = nightly.rolling(SMOOTH, min_periods=1).mean()
        return smooth.rename(columns={"p_cov80": "cov80_promised", "p_cov95": "cov95_promised"}).reset_index()

    def _rmse(self, first: int, last: int, nights: int | None) -> float:
        sums = _newest(self._by_name.loc[self._by_name["step"].between(first, last)], nights)
        total = sums.groupby("unique_id", observed=True)[["sum", "size"]].sum()
        return float(np.sqrt(total["sum"] / total["size"]).mean())


def _newest(sums: pd.DataFrame, nights: int | None) -> pd.DataFrame:
    """Keep the rows of the newest nights among some."""
    if nights is None:
        return sums
    return sums[sums["as_of"].isin(np.sort(sums["as_of"].unique())[-nights:])]


def _line(nightly: pd.DataFrame, last: int, late: int) -> dict[str, float]:
    line: dict[str, float] = {"n_nights": len(nightly), "n_late": late, "n": int(nightly["n"].sum())}
    line["RMSE_promised"] = float(nightly["p_squared"].mean()) ** 0.5
    for column, name in zip(_MEANS, ("MAE", "CRPS", "bias", "cov80", "cov95"), strict=True):
        mean = mean_of(nightly[column].to_numpy(), last)
        line[name] = mean.value
        if name != "CRPS":
            line |= _ends(mean, name)
        if name != "bias":
            line[f"{name}_promised"] = float(nightly[f"p_{column}"].mean())
    return line


def _ends(mean: Mean, name: str) -> dict[str, float]:
    # what never varied, such as a band that held everything, says nothing of how sure it is
    low, high = mean.interval() if mean.error else (float("nan"), float("nan"))
    if name.startswith("cov"):
        low, high = (float(np.clip(end, 0, 1)) for end in (low, high))
    return {f"{name}_low": low, f"{name}_high": high}
