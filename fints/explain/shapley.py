"""Shapley values of a few players, exact."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def coalitions(players: int) -> list[frozenset[int]]:
    """List every set of players; set number i holds player p if bit p of i is set, so the last one holds all."""
    return [frozenset(p for p in range(players) if number >> p & 1) for number in range(1 << players)]


def shapley_weights(players: int) -> NDArray[np.float64]:
    """Weights that make the Shapley values of a game from the values of its coalitions.

    What a player adds depends on who is there already; its Shapley value is the mean of that over all orders in which
    the players can arrive (Shapley, 1953, "A value for n-person games"). It is the only way of sharing a total out that
    sums to the total, gives equal players equal parts, and gives nothing to one that never changes anything; Lundberg
    and Lee (2017, "A unified approach to interpreting model predictions") brought it to the explanation of forecasts.

    Parameters
    ----------
    players : int
        A handful: there are 2^players coalitions.

    Returns
    -------
    ndarray, shape (players, 2^players)
        Times the values of `coalitions`. Each row sums to zero, and the rows sum to the last coalition's value less
        the first one's.
    """
    weights = np.zeros((players, 1 << players))
    for player in range(players):
        for number, members in enumerate(coalitions(players)):
            before = len(members - {player})
            share = factorial(before) * factorial(players - before - 1) / factorial(players)
            weights[player, number] = share if player in members else -share
    return weights
