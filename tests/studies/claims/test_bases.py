"""Bases are what the encodings give, and least squares finds what lies in them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.studies.claims.bases import (
    TRAINED,
    constant_basis,
    cycling,
    errors,
    linear_basis,
    rotary_basis,
    sines,
    turning,
)
from fints.studies.claims.scan import GRID, TRUTH, refine, scan, valley
from fints.studies.claims.score_maps import absolute_scores, largest_step, rotary_scores

PERIODS = st.floats(3.0, 60.0)


def test_absolute_encodings_add_a_constant_and_a_line():
    assert np.array_equal(constant_basis(50), np.ones((50, 1)))
    assert np.array_equal(linear_basis(50), np.stack((np.ones(50), np.arange(50)), axis=1))


@settings(max_examples=20, deadline=None)
@given(period=PERIODS, amplitude=st.floats(0.1, 10), phase=st.floats(0, 6))
def test_a_cycle_in_its_own_basis_is_continued_exactly_at_any_phase(period, amplitude, phase):
    t = np.arange(400)
    y = amplitude * np.cos(2 * np.pi * t / period + phase)
    assert errors(rotary_basis(cycling([period])), y).extrapolated < 1e-10 * amplitude


@settings(max_examples=20, deadline=None)
@given(theta=st.floats(0.02, 3.1))
def test_the_scan_of_one_frequency_is_the_error_of_its_basis(theta):
    y = sines({20.0: 1.0})
    assert scan([theta], y)[0] == pytest.approx(errors(rotary_basis(turning([theta])), y).extrapolated, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(period=PERIODS, off=st.floats(-0.45, 0.45))
def test_refinement_finds_the_frequency_from_anywhere_within_half_a_bin(period, off):
    start = 2 * np.pi * (1 / period + off / TRAINED)
    assert refine(start, sines({period: 1.0})) == pytest.approx(2 * np.pi / period, abs=1e-9)


def test_the_valley_is_as_wide_as_its_theory_says_at_any_amplitude():
    for amplitude in (1.0, 7.0):
        found = valley(sines({20.0: amplitude}))
        assert found.width == pytest.approx(found.expected, rel=0.03)


def test_the_scan_is_lowest_next_to_the_truth():
    best = GRID[scan(GRID, sines({20.0: 1.0})).argmin()]
    assert abs(best - TRUTH) < GRID[1] - GRID[0]


def test_steps_tell_main_diagonals_from_anti_diagonals():
    m, n = np.meshgrid(np.arange(9.0), np.arange(9.0), indexing="ij")
    assert largest_step(m - n, (1, 1)) == 0
    assert largest_step(m - n, (1, -1)) == 2
    assert largest_step(m + n, (1, -1)) == 0
    assert largest_step(m + n, (1, 1)) == 2


@pytest.mark.parametrize("periods", [[20.0], [5.0, 20.0, 60.0]])
def test_rotary_scores_are_the_mean_cosine_of_their_planes(periods):
    m, n = np.meshgrid(np.arange(40), np.arange(40), indexing="ij")
    expected = np.mean([np.cos(2 * np.pi * (m - n) / p) for p in periods], axis=0)
    assert np.allclose(rotary_scores(cycling(periods)), expected, atol=1e-6)


def test_absolute_scores_grow_with_both_places():
    scores = absolute_scores()
    assert (np.diff(scores[1:], axis=1) > 0).all()
    assert np.array_equal(scores, scores.T)
