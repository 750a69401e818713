import numpy as np

from fints.studies.sources import Undirected

SOURCE = Undirected(24, width=2.0, sigma=0.5)
PROFILES = np.array([SOURCE.profile(np.random.default_rng(seed)) for seed in range(4000)])


def test_the_truth_repeats_with_the_period():
    truth = SOURCE.draw(100, 0).truth
    np.testing.assert_array_equal(truth[24:], truth[:-24])


def test_two_phases_are_alike_by_their_distance_in_either_direction():
    covariance = PROFILES.T @ PROFILES / len(PROFILES)
    around = np.minimum(np.arange(24), 24 - np.arange(24))
    expected = np.exp(-(around**2) / (2 * SOURCE.width**2))
    np.testing.assert_allclose(covariance[0], expected, atol=0.08)
    np.testing.assert_allclose(covariance[7], np.roll(expected, 7), atol=0.08)
