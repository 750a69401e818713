"""The estimator of Random Fourier Rotations, its law and its limits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.encodings.kernels import CosineKernel, GaussianKernel
from fints.studies.claims.convergence import bound, deviations, slope_of, tails
from fints.studies.claims.estimator import Pair, draw, scores
from fints.studies.claims.harmonics import cut_error, integrals, limit_law, mass_beyond, prior
from fints.studies.claims.kernels import FOLDED, SYMMETRIC, folded_sine
from fints.studies.claims.unbiasedness import DISTANCES, estimate


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 999), distance=st.floats(-100, 100), frequency=st.floats(-2, 2))
def test_one_draw_scores_by_cosine_and_sine_of_its_phase(seed, distance, frequency):
    pair = Pair.drawn(8, np.random.default_rng(seed))
    found = scores(pair, np.full((1, 4), frequency), [distance])[0, 0]
    phase = 2 * math.pi * frequency * distance
    expected = pair.dot * math.cos(phase) + pair.cross * math.sin(phase)
    assert found == pytest.approx(expected, abs=1e-5 * float(pair.size.sum()))


def test_many_draws_are_scored_as_one_by_one():
    pair = Pair.drawn(64, np.random.default_rng(0))
    frequencies = draw(GaussianKernel(length=3), (70_000, 32), 1)
    whole = scores(pair, frequencies, [2.0])
    assert whole.shape == (1, 70_000)
    picked = [0, 34_999, 35_000, 69_999]
    assert np.allclose(whole[0, picked], scores(pair, frequencies[picked], [2.0])[0], atol=1e-5)


def test_unit_planes_have_norm_one_and_the_turn_asked_for():
    pair = Pair.of_unit_planes(32, np.random.default_rng(3), math.pi / 3)
    assert np.allclose(pair.size, 1)
    assert pair.dot == pytest.approx(16 * math.cos(math.pi / 3))
    assert pair.cross == pytest.approx(16 * math.sin(math.pi / 3))
    assert pair.aligned().cross == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", sorted(SYMMETRIC))
def test_estimates_fail_a_kernel_that_they_were_not_drawn_from(name):
    kernel = SYMMETRIC[name]
    pair = Pair.drawn(32, np.random.default_rng(1))
    right = estimate(kernel, pair, 4000, 5)
    assert right.worst < 4.5
    squared = kernel.value(np.array(DISTANCES)) ** 2 - kernel.value(np.array(DISTANCES))
    assert right.plus(pair.dot * squared).worst > 4.5 or np.allclose(squared, 0, atol=1e-3)


@pytest.mark.parametrize("name", sorted(FOLDED))
def test_the_sine_term_of_a_folded_law_is_the_mean_sine_of_its_draws(name):
    kernel = FOLDED[name]
    frequencies = draw(kernel, (40_000, 1), 9)[:, 0]
    found = [np.sin(2 * math.pi * frequencies * d).mean() for d in DISTANCES]
    assert np.allclose(found, folded_sine(kernel, DISTANCES), atol=4.5 / math.sqrt(len(frequencies)))


def test_the_bound_is_equation_12_and_falls_in_both_arguments():
    assert bound(0.5, 64) == pytest.approx(2 * math.exp(-(0.5**2) * 64**2 / (8 * 32)))
    assert bound(0.01, 16) == 1
    assert bound(0.5, 128) < bound(0.5, 64) < bound(0.3, 64)


def test_tails_count_the_draws_that_deviate():
    assert tails(np.array([0.0, -0.15, 0.25, 0.6])).tolist() == [0.75, 0.5, 0.25, 0.25]


@given(st.floats(-2, 2), st.floats(0.1, 10))
def test_the_slope_of_a_power_law_is_its_exponent(exponent, factor):
    dims = np.array([16.0, 64.0, 512.0])
    assert slope_of(dims, factor * dims**exponent) == pytest.approx(exponent, abs=1e-9)


def test_a_law_of_two_frequencies_deviates_as_its_variance_says():
    # The cosine does not vary with the sign of the frequency, the sine does: its factor is sin 60°.
    found = deviations(CosineKernel(period=24), 64, 4000, 2)
    expected = math.sin(math.pi / 3) * math.sin(2 * math.pi * 3 / 24) / math.sqrt(32)
    assert float(np.sqrt(np.mean(found**2))) == pytest.approx(expected, rel=0.05)
    assert abs(found.mean()) < 5 * expected / math.sqrt(4000)


def test_more_harmonics_leave_less():
    cuts = [2, 3, 4, 6, 8]
    for left in (mass_beyond, cut_error):
        values = [left(s) for s in cuts]
        assert values == sorted(values, reverse=True)
    assert mass_beyond(0) == pytest.approx(1 - limit_law(0)[0], abs=1e-9)


def test_numerical_coefficients_resum_to_the_kernel():
    alpha, t = integrals(16), np.linspace(-12, 12, 49)
    k = np.arange(1, 17)
    resummed = alpha[0] + 2 * np.cos(2 * np.pi * np.outer(t, k) / 24) @ alpha[1:]
    assert np.allclose(resummed, prior().value(t), atol=1e-7)
