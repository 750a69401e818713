import numpy as np
import pytest

from fints.studies.looking_back.distance import Peak, by_distance, ring


def lags(steps, length):
    """Bars from each bar asked for back to each of a context."""
    return (length + np.arange(steps)[:, None] - np.arange(length)[None, :])[None].astype(float)


def test_even_attention_is_one_at_every_distance():
    weights = np.full((1, 2, 3, 10), 0.1)
    found = by_distance([weights, weights], lags(3, 10), reach=12)
    assert found.shape == (2, 2, 13)
    assert np.isnan(found[..., 0]).all()
    assert found[..., 1:] == pytest.approx(1.0)


def test_attention_to_one_distance_alone_is_found_there():
    apart = lags(3, 10)
    weights = (apart == 7).astype(float)[:, None]
    found = by_distance([weights], apart, reach=9)[0, 0]
    assert found[7] == pytest.approx(10.0)
    assert found[[5, 6, 8, 9]] == pytest.approx(0.0)


def test_distances_beyond_the_reach_are_left_out():
    assert by_distance([np.full((1, 1, 3, 10), 0.1)], lags(3, 10), reach=4).shape == (1, 1, 5)


def test_a_height_is_held_against_what_is_around():
    peak = Peak("a week", 7, ring(7, 2), "four")
    profile = np.ones(12)
    assert peak.height(profile) == 1.0
    profile[7] = 6.0
    assert peak.height(profile) == 6.0
    profile[[5, 6, 8, 9]] = 3.0
    assert peak.height(profile) == 2.0
