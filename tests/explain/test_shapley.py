from itertools import permutations

import numpy as np
import pytest

from fints.explain.shapley import coalitions, shapley_weights


def by_all_orders(values, players):
    """The definition: the mean of what a player adds over all orders of arrival."""
    number = {members: i for i, members in enumerate(coalitions(players))}
    added = np.zeros(players)
    orders = list(permutations(range(players)))
    for order in orders:
        there = frozenset()
        for player in order:
            added[player] += values[number[there | {player}]] - values[number[there]]
            there |= {player}
    return added / len(orders)


@pytest.mark.parametrize("players", [1, 2, 3, 5])
def test_values_are_the_mean_over_all_orders(players):
    values = np.random.default_rng(players).standard_normal(1 << players)
    assert np.allclose(shapley_weights(players) @ values, by_all_orders(values, players))


@pytest.mark.parametrize("players", [1, 3, 5])
def test_values_sum_to_the_whole(players):
    values = np.random.default_rng(0).standard_normal((1 << players, 4))
    assert np.allclose((shapley_weights(players) @ values).sum(axis=0), values[-1] - values[0])


def test_who_changes_nothing_gets_nothing_and_equals_get_the_same():
    values = np.array([float({0, 1} <= members) for members in coalitions(3)])
    assert np.allclose(shapley_weights(3) @ values, [0.5, 0.5, 0.0])


def test_without_players_there_is_nothing_to_share_out():
    assert coalitions(0) == [frozenset()]
    assert shapley_weights(0).shape == (0, 1)
