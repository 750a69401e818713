"""Weights on the simplex, learned from forecasts whose outcome is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.combination.scored import pinball
from fints.combination.weights import Weights
from fints.conformal.scores import check_ends, shares_of_quantiles, stretch_of
from fints.errors import SeriesError
from fints.forecast import QUANTILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.combination.scored import Scored

PENALTIES: tuple[float, ...] = (np.inf, 1.0, 0.3, 0.1, 0.03, 0.0)
"""Strengths of the pull to equal weights, strongest first, in units of the loss of equal weights."""

BLOCKS = 5
"""Blocks of time in which the strength of the pull is tried."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """Weights, and how they came about.

    Parameters
    ----------
    weights : Weights
    penalties : tuple of float, length S
        Pull to equal weights that did best in each stretch of the horizon; infinite where equal weights did.
    out_of_block : ndarray, shape (N, len(QUANTILES))
        Combined quantiles of the bars learned from, each with weights learned from the other blocks of time.
    shares : ndarray, shape (N, M)
        Those weights.
    value : pandas.DataFrame
        ``member``, ``alone`` and ``without`` (loss of the member on its own, and of the others combined, relative to
        the combination: 0.02 is 2 % worse), all out of block.
    """

    weights: Weights
    penalties: tuple[float, ...]
    out_of_block: NDArray[np.float64]
    shares: NDArray[np.float64]
    value: pd.DataFrame


def learn(scored: Scored, ends: Sequence[int] = (), blocks: int = BLOCKS) -> Learned:
    """Learn how much each member deserves.

    In every stretch of the horizon, the weights minimise the mean pinball loss of the averaged quantiles, each series
    counting the same, plus a penalty on the squared distance from equal weights (egalitarian ridge: Diebold & Shin
    2019, "Machine learning for regularized survey forecast combination", International Journal of Forecasting 35).
    The penalty is the strongest one that, on blocks of time from which the weights were not learned, does as well as
    the best within one standard error of their difference over the blocks: members that the tail cannot tell apart
    share alike.

    Parameters
    ----------
    scored : Scored
    ends : sequence of int
        Last steps of the stretches of the horizon, except for the last one.
    blocks : int
        Contiguous blocks of time, at least 2.

    Returns
    -------
    Learned

    Raises
    ------
    SeriesError
        If there are fewer than two origins, or a stretch of the horizon holds no forecast.
    """
    check_ends(ends)
    stretch = stretch_of(scored.keys["step"].to_numpy(np.int64), ends)
    if scored.keys["cutoff"].nunique() < 2 or len(np.unique(stretch)) <= len(ends):
        raise SeriesError(
            f"weights need forecasts of two origins at every stretch of the horizon; there are "
            f"{scored.keys['cutoff'].nunique()} origins and steps up to {scored.keys['step'].max()}. Give a longer tail"
        )
    number = scored.blocks(blocks)
    shares = np.empty((len(scored.y), len(scored.members)))
    values, parts = [], []
    for s in range(len(ends) + 1):
        part = stretch == s
        weights, penalty, shares[part] = _learn_stretch(scored.rows(part), number[part])
        values.append(weights)
        parts.append((part, penalty))
    combined = scored.mixed(shares)
    loss = float(scored.importance() @ pinball(scored.y, combined))
    return Learned(
        weights=Weights(scored.members, tuple(ends), np.stack(values)),
        penalties=tuple(penalty for _, penalty in parts),
        out_of_block=combined,
        shares=shares,
        value=_value(scored, number, parts, loss),
    )


def alike(scored: Scored) -> Learned:
    """Weigh all members alike: what is left where forecasts are too few to learn from."""
    count = len(scored.members)
    shares = np.full((len(scored.y), count), 1 / count)
    value = pd.DataFrame(columns=["member", "alone", "without"])
    return Learned(Weights.equal(scored.members), (PENALTIES[0],), scored.mixed(shares), shares, value)


def _learn_stretch(scored: Scored, number: NDArray[np.int64]) -> tuple[NDArray[np.float64], float, NDArray[np.float64]]:
    """Weights, the penalty that chose them, and each bar's weights learned out of block."""
    if len(scored.members) == 1:
        return np.ones(1), PENALTIES[0], np.ones((len(scored.y), 1))
    shares = _out_of_block(scored, number, PENALTIES)
    importance = scored.importance()
    losses = np.stack([importance * pinball(scored.y, scored.mixed(own)) for own in shares])
    chosen = _strongest(np.stack([losses[:, number == b].sum(axis=1) for b in np.unique(number)], axis=1))
    return _path(scored, PENALTIES[: chosen + 1])[-1], PENALTIES[chosen], shares[chosen]


def _out_of_block(scored: Scored, number: NDArray[np.int64], penalties: Sequence[float]) -> NDArray[np.float64]:
    """Weights of each bar under each penalty, from the other blocks; shape (penalties, N, M)."""
    shares = np.empty((len(penalties), len(scored.y), len(scored.members)))
    for b in np.unique(number):
        held = number == b
        for i, weights in enumerate(_path(scored.rows(~held), penalties)):
            shares[i, held] = weights
    return shares


def _strongest(losses: NDArray[np.float64]) -> int:
    """Choose the strongest penalty that is not worse than the best by more than one standard error.

    Parameters
    ----------
    losses : ndarray, shape (penalties, blocks)
    """
    best = int(np.argmin(losses.sum(axis=1)))
    behind = losses - losses[best]
    error = behind.std(axis=1, ddof=1) * np.sqrt(losses.shape[1])
    return int(np.argmax(behind.sum(axis=1) <= error))


def _path(scored: Scored, penalties: Sequence[float]) -> list[NDArray[np.float64]]:
    """Weights under each penalty, strongest first; each search starts where the one before ended."""
    found, weights, importance = [], np.full(len(scored.members), 1 / len(scored.members)), scored.importance()
    for penalty in penalties:
        if np.isfinite(penalty):
            weights = _minimise(scored, importance, penalty, weights)
        found.append(weights)
    return found


def _value(
    scored: Scored, number: NDArray[np.int64], parts: Sequence[tuple[NDArray[np.bool_], float]], loss: float
) -> pd.DataFrame:
    """Loss of each member alone, and of the others under the same penalties, relative to that of all."""
    importance, rows = scored.importance(), []
    for i, member in enumerate(scored.members):
        alone, without = float(importance @ pinball(scored.y, scored.quantiles[:, i])), np.nan
        if len(scored.members) > 1:
            others, rest = scored.without(member), np.empty_like(scored.quantiles[:, 0])
            for part, penalty in parts:
                own = others.rows(part)
                rest[part] = own.mixed(_out_of_block(own, number[part], [penalty])[0])
            without = float(importance @ pinball(scored.y, rest))
        rows.append((member, alone / loss - 1, without / loss - 1))
    return pd.DataFrame(rows, columns=["member", "alone", "without"])


def _minimise(
    scored: Scored, importance: NDArray[np.float64], penalty: float, start: NDArray[np.float64]
) -> NDArray[np.float64]:
    from scipy.optimize import Bounds, LinearConstraint, minimize

    p, equal = np.array(QUANTILES), 1 / len(start)
    per_row = 2 * importance[:, None] * shares_of_quantiles()
    above, below = (per_row * p).ravel(), (per_row * (p - 1)).ravel()
    members = scored.by_member()
    y = np.repeat(scored.y, len(p))

    def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        error = y - weights @ members
        slope = np.where(error > 0, above, below)
        away = weights - equal
        return float(slope @ error) + penalty / 2 * float(away @ away), penalty * away - members @ slope

    found = minimize(
        objective,
        start,
        jac=True,
        method="SLSQP",
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(np.ones((1, len(start))), 1, 1),
        options={"ftol": 1e-8, "maxiter": 50},
    )
    weights = np.clip(found.x, 0, None)
    normal: NDArray[np.float64] = weights / weights.sum()
    return normal
