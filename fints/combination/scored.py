"""Forecasts of several members for the same bars, beside what came."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.conformal.scores import shares_of_quantiles
from fints.errors import ModelError
from fints.forecast import QUANTILE_COLUMNS, QUANTILES

if TYPE_CHECKING:
    from numpy.typing import NDArray


ORDER = ["cutoff", "unique_id", "step"]
"""By which rows are laid out."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Forecasts of several members for the same bars, and what came.

    Parameters
    ----------
    members : tuple of str, length M
    keys : pandas.DataFrame
        ``unique_id, cutoff, ds, step`` of N bars, ordered by cutoff.
    y : ndarray, shape (N,)
    quantiles : ndarray, shape (N, M, Q)
    """

    members: tuple[str, ...]
    keys: pd.DataFrame
    y: NDArray[np.float64]
    quantiles: NDArray[np.float64]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Scored:
        """Lay out the rows of a walk-forward comparison.

        Parameters
        ----------
        frame : pandas.DataFrame
            ``unique_id, cutoff, ds, step, y, model`` and the quantile columns.

        Raises
        ------
        ModelError
            If a member lacks a forecast that another has.
        """
        parts = {
            str(name): rows.sort_values(ORDER, kind="stable").reset_index(drop=True)
            for name, rows in frame.groupby("model", sort=False)
        }
        first = next(iter(parts.values()))
        longest = max(parts, key=lambda name: len(parts[name]))
        keys = first[["unique_id", "cutoff", "ds", "step"]]
        for name, rows in parts.items():
            if not rows[keys.columns].equals(parts[longest][keys.columns]):
                windows = len(parts[longest].groupby(ORDER[:2])) - len(rows.groupby(ORDER[:2]))
                raise ModelError(
                    f"{name} has {len(rows)} forecasts and {longest} {len(parts[longest])} ({windows} windows are "
                    "missing), so that they cannot be weighed against each other; leave it out or make its forecasts"
                )
        stacked = np.stack([rows[list(QUANTILE_COLUMNS)].to_numpy(float) for rows in parts.values()], axis=1)
        return cls(tuple(parts), keys, first["y"].to_numpy(float), stacked)

    def rows(self, chosen: NDArray[np.bool_]) -> Scored:
        """Select some of the bars."""
        keys = self.keys[chosen].reset_index(drop=True)
        return Scored(self.members, keys, self.y[chosen], self.quantiles[chosen])

    def without(self, member: str) -> Scored:
        """Leave a member out."""
        i = self.members.index(member)
        return replace(
            self, members=(*self.members[:i], *self.members[i + 1 :]), quantiles=np.delete(self.quantiles, i, 1)
        )

    def blocks(self, count: int) -> NDArray[np.int64]:
        """Say which block of time each bar belongs to, by its cutoff; shape (N,)."""
        cutoffs, place = np.unique(self.keys["cutoff"].to_numpy(), return_inverse=True)
        number: NDArray[np.int64] = place * min(count, len(cutoffs)) // len(cutoffs)
        return number

    def by_member(self) -> NDArray[np.float64]:
        """Quantiles with one row per member, shape (M, N · Q), as a matrix product reads them fastest."""
        return np.ascontiguousarray(self.quantiles.transpose(1, 0, 2)).reshape(len(self.members), -1)

    def mixed(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Average the members' quantiles.

        Parameters
        ----------
        weights : ndarray, shape (M,) or (N, M)
            The same for all bars, or of each its own.

        Returns
        -------
        ndarray, shape (N, Q)
        """
        if weights.ndim == 1:
            average: NDArray[np.float64] = weights @ self.quantiles
        else:
            average = np.einsum("nm,nmq->nq", weights, self.quantiles)
        return average

    def importance(self) -> NDArray[np.float64]:
        """Weight of each bar in a mean over all: every series counts the same, in units of its own loss.

        Returns
        -------
        ndarray, shape (N,)
            Times the `pinball` loss of equal weights, they sum to 1.
        """
        names = self.keys["unique_id"].to_numpy()
        loss = pd.Series(pinball(self.y, self.quantiles.mean(axis=1)))
        total = loss.groupby(names).transform("sum").to_numpy()
        shares: NDArray[np.float64] = 1 / np.maximum(total, np.finfo(float).tiny) / len(np.unique(names))
        return shares


def pinball(y: NDArray[np.float64], quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Twice the pinball loss, averaged over the stated quantiles: the CRPS of a distribution known at them.

    Parameters
    ----------
    y : ndarray, shape (N,)
    quantiles : ndarray, shape (N, len(QUANTILES))

    Returns
    -------
    ndarray, shape (N,)
    """
    error, p = y[:, None] - quantiles, np.array(QUANTILES)
    loss: NDArray[np.float64] = 2 * np.maximum(p * error, (p - 1) * error) @ shares_of_quantiles()
    return loss
