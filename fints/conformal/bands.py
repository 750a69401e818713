"""Corrections that make the bands of any forecaster hold what they promise."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fints.conformal.scores import MIDDLE, check_ends, scores, stretch_of, widths
from fints.errors import ConfigError, SchemaError, SeriesError
from fints.forecast import QUANTILE_COLUMNS, QUANTILES, Forecast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

STRETCHES: tuple[int, ...] = (1, 5, 10)
"""Last steps of the stretches of the horizon that are corrected apart, where nothing else is asked for."""

BLOCKS = 5
"""Blocks of time whose differences tell how far a correction can be trusted."""

OWN = 100
"""Origins from which on a series is corrected by its own errors; below, by those of all series."""

ALL = ""


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """Split-conformal corrections, by stretch of the horizon and by series.

    The point forecast and the median stay as they are: what the errors of a stretch of time have in common is that
    stretch's.

    Parameters
    ----------
    ends : tuple of int, length S - 1
        Last step of each stretch; the last stretch goes on without end.
    offsets : mapping of str to ndarray, shape (S, len(QUANTILES))
        Added to each quantile, in widths of the forecast's own central 80 %; by ``unique_id``. That under ``""`` serves
        every other series.
    """

    ends: tuple[int, ...]
    offsets: Mapping[str, NDArray[np.float64]]

    @classmethod
    def none(cls, ends: Sequence[int] = STRETCHES) -> Bands:
        """Correct nothing."""
        return cls(tuple(ends), {ALL: np.zeros((len(ends) + 1, len(QUANTILES)))})

    def of(self, unique_id: str) -> NDArray[np.float64]:
        """Offsets of a series, shape (S, len(QUANTILES))."""
        return self.offsets.get(unique_id, self.offsets[ALL])

    def apply(self, forecast: Forecast) -> Forecast:
        """Correct the quantiles of a forecast; its mean stays."""
        stretch = stretch_of(forecast.frame["step"].to_numpy(np.int64), self.ends)
        names = forecast.frame["unique_id"].astype(str).to_numpy()
        offsets = np.empty_like(forecast.quantiles)
        for name in np.unique(names):
            rows = names == name
            offsets[rows] = self.of(name)[stretch[rows]]
        moved = forecast.quantiles + offsets * widths(forecast.quantiles)[:, None]
        return Forecast(forecast.frame, forecast.mean, np.sort(moved, axis=1))

    def to_plain(self) -> dict[str, Any]:
        """Lay out as JSON can hold it."""
        return {"ends": list(self.ends), "offsets": {name: own.tolist() for name, own in self.offsets.items()}}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Bands:
        """Read what `to_plain` wrote.

        Raises
        ------
        ConfigError
            If it is something else.
        """
        try:
            offsets = {str(name): np.array(own, float) for name, own in plain["offsets"].items()}
            ends = tuple(map(int, plain["ends"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"these are no bands: {error!r}; calibrate again") from error
        shape = (len(ends) + 1, len(QUANTILES))
        if ALL not in offsets or any(own.shape != shape for own in offsets.values()):
            raise ConfigError(f"bands need offsets of shape {shape} for all series together; calibrate again")
        return cls(ends, offsets)


def calibrate(
    frame: pd.DataFrame, *, ends: Sequence[int] = STRETCHES, own: int = OWN, level: Sequence[float] = (80, 95)
) -> Bands:
    """Measure by how much forecasts have to be corrected, from forecasts whose outcome is known.

    Quantile p of a group is moved by the quantile p of its conformity scores (see `fints.conformal.scores`), with the
    rank that split conformal prediction asks for, less the median of the distances to the median. Forecasts of one
    origin share its news and count as one. A correction that differs as much between blocks of time as it is large says
    nothing about the time to come, and is shrunk to none accordingly.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``unique_id, step, y``, the quantile columns, and ``cutoff``, which tells origins apart. The model must not have
        been fitted on these ``y``.
    ends : sequence of int
        Last steps of the stretches of the horizon, except for the last one.
    own : int
        Origins a series needs to be corrected by itself.
    level : sequence of float
        Bands in percent that are asked for; if the errors are too few for one, a warning says so.

    Returns
    -------
    Bands

    Raises
    ------
    SeriesError
        If a stretch of the horizon has fewer than two known errors.
    SchemaError
        If a column is missing.

    Warns
    -----
    UserWarning
        If a band of `level` needs more errors than there are: it then reaches to the largest error seen.
    """
    check_ends(ends)
    missing = [c for c in ("unique_id", "cutoff", "step", "y", *QUANTILE_COLUMNS) if c not in frame.columns]
    if missing:
        raise SchemaError(f"forecasts to calibrate on need the columns {missing}")
    known = frame[np.isfinite(frame["y"].to_numpy(float))]
    last = int(known["step"].max()) if len(known) else 1
    ends = tuple(end for end in ends if end < last)
    fewest = _fewest(known, ends)
    _warn_of_few(fewest, level)
    offsets = {ALL: _offsets(known, ends)}
    for name, rows in known.groupby("unique_id", sort=False):
        if _fewest(rows, ends) >= own:
            offsets[str(name)] = _offsets(rows, ends)
    return Bands(ends, offsets)


def _fewest(rows: pd.DataFrame, ends: tuple[int, ...]) -> int:
    """Origins of the stretch that has the fewest."""
    stretch = stretch_of(rows["step"].to_numpy(np.int64), ends)
    counts = rows.groupby(stretch)[["unique_id", "cutoff"]].apply(lambda part: len(part.drop_duplicates()))
    counts = counts.reindex(range(len(ends) + 1), fill_value=0)
    return int(counts.min())


def _warn_of_few(origins: int, level: Sequence[float]) -> None:
    if origins < 2:
        raise SeriesError(
            f"bands need the errors of two origins at every stretch of the horizon; there are {origins}. Give a longer "
            "history, or a longer tail"
        )
    for percent in sorted(level, reverse=True):
        needed = int(np.ceil(2 / (1 - percent / 100) - 1 - 1e-9)) if percent < 100 else np.inf
        if origins < needed:
            warnings.warn(
                f"a band of {percent:g} % takes {needed} past errors, and there are {origins}: it reaches to the "
                f"largest error seen, which promises {(origins - 1) / (origins + 1):.0%}; give a longer tail",
                UserWarning,
                stacklevel=4,
            )
            return


def _offsets(rows: pd.DataFrame, ends: tuple[int, ...]) -> NDArray[np.float64]:
    stretch = stretch_of(rows["step"].to_numpy(np.int64), ends)
    missed = scores(rows["y"].to_numpy(float), rows[list(QUANTILE_COLUMNS)].to_numpy(float))
    block = pd.factorize(rows["cutoff"], sort=True)[0] * BLOCKS // max(rows["cutoff"].nunique(), 1)
    origins = rows.groupby(stretch)[["unique_id", "cutoff"]].apply(lambda part: len(part.drop_duplicates()))
    parts = [stretch == s for s in range(len(ends) + 1)]
    return np.stack([_shrunk(missed[part], block[part], int(origins[s])) for s, part in enumerate(parts)])


def _shrunk(missed: NDArray[np.float64], block: NDArray[np.int64], origins: int) -> NDArray[np.float64]:
    """Offsets at the conformal ranks, pulled to none by how much they differ between blocks of time.

    The share kept is that of James and Stein's positive part, from the offsets' squares and their squared standard
    errors. Quantiles further out than the errors reach stay at the outermost error.
    """
    p = np.array(QUANTILES)
    upper, lower = np.ceil((origins + 1) * p - 1e-9) / origins, (np.floor((origins + 1) * p + 1e-9) - 1) / origins
    rank = np.where(p > 0.5, upper, lower)  # noqa: PLR2004 — either side of the median
    rank[MIDDLE] = p[MIDDLE]
    offsets = _at(missed, np.clip(rank, 0, 1))
    apart = np.stack([_at(missed[block == b], p) for b in np.unique(block)])
    noise = apart.var(axis=0, ddof=1).sum() / len(apart) if len(apart) > 1 else 0.0
    signal = float(offsets @ offsets)
    kept = max(0.0, 1 - float(noise) / signal) if signal > 0 else 0.0
    shrunk: NDArray[np.float64] = np.where((rank <= 0) | (rank >= 1), offsets, kept * offsets)
    return shrunk


def _at(missed: NDArray[np.float64], rank: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quantile of each column at its rank, less the median of the middle one."""
    found = np.array([np.quantile(column, r) for column, r in zip(missed.T, rank, strict=True)])
    offsets: NDArray[np.float64] = found - found[MIDDLE]
    return offsets
