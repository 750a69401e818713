"""Several series as one set of rows to learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fints.baselines.features import PastFeatures
    from fints.baselines.history import History

    Member = tuple[History, PastFeatures]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of origin and step ahead, of several series.

    Parameters
    ----------
    members : sequence of (History, PastFeatures), length S
    stops : tuple of int, length S
        Targets of each series lie before this row.
    h : int
        Each origin has the steps 1 to h.
    """

    members: tuple[Member, ...]
    stops: tuple[int, ...]
    h: int

    @property
    def counts(self) -> list[int]:
        """Pairs of each series."""
        return [
            max(stop - self.h - features.first, 0) * self.h
            for (_, features), stop in zip(self.members, self.stops, strict=True)
        ]

    @property
    def count(self) -> int:
        """Pairs of all series."""
        return sum(self.counts)

    def drawn(self, most: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return features, shape (n, k), and scaled targets, shape (n,), of at most so many pairs.

        Parameters
        ----------
        most : int
            Where there are more, they are drawn without replacement, every pair alike.
        seed : int
        """
        total = self.count
        chosen = np.arange(total)
        if total > most:
            chosen = np.sort(np.random.default_rng(seed).choice(total, most, replace=False, shuffle=False))
        x, y, start = [], [], 0
        for (history, features), count in zip(self.members, self.counts, strict=True):
            low, high = np.searchsorted(chosen, [start, start + count])
            own = chosen[low:high] - start
            origins, steps = features.first + own // self.h, own % self.h + 1
            x.append(features.matrix(origins, origins + steps, steps))
            y.append((history.y[origins + steps] - features.centre[origins]) / features.spread[origins])
            start += count
        return np.vstack(x), np.concatenate(y)


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Series to learn from together.

    Parameters
    ----------
    members : sequence of (History, PastFeatures)
    h : int
        Bars ahead.
    """

    members: tuple[Member, ...]
    h: int

    def date_at(self, share: float) -> np.datetime64:
        """Date before which a share of all rows lies, one for all series.

        Split each at its own date and the rows of one series would tell of the days that are held out in another.
        """
        stamps = np.sort(np.concatenate([history.ds.to_numpy() for history, _ in self.members]))
        return np.datetime64(stamps[int(len(stamps) * share)])

    def before(self, date: np.datetime64 | None) -> Pairs:
        """All pairs whose targets lie before a date; None: all there are."""
        stops = tuple(
            len(history.y) if date is None else int(np.searchsorted(history.ds.to_numpy(), date))
            for history, _ in self.members
        )
        return Pairs(self.members, stops, self.h)

    def errors_since(
        self, date: np.datetime64, predict: Callable[[NDArray[np.float64]], NDArray[np.float64]], most: int
    ) -> dict[str, NDArray[np.float64]]:
        """Scaled errors of forecasts whose origin is the last row before a date, or later.

        Parameters
        ----------
        date : numpy.datetime64
        predict : callable
            From features to scaled forecasts.
        most : int
            Origins are thinned evenly so that about so many forecasts are made.

        Returns
        -------
        dict of str to ndarray, shape (n, h)
            By ``unique_id``; n may be 0.
        """
        firsts = [max(int(np.searchsorted(m.ds.to_numpy(), date)) - 1, f.first) for m, f in self.members]
        lasts = [len(history.y) - self.h for history, _ in self.members]
        total = sum(max(last - first, 0) for first, last in zip(firsts, lasts, strict=True)) * self.h
        errors = {}
        for (history, features), first, last in zip(self.members, firsts, lasts, strict=True):
            origins = np.arange(first, last, max(1, total // most))
            start, steps = np.repeat(origins, self.h), np.tile(np.arange(1, self.h + 1), len(origins))
            if len(origins):
                forecast = predict(features.matrix(start, start + steps, steps))
                truth = (history.y[start + steps] - features.centre[start]) / features.spread[start]
                errors[history.unique_id] = (truth - forecast).reshape(-1, self.h)
        return errors
