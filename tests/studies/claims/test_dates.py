"""Phases, shifts and gradients of T-RoPE, each judged by something else than itself."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.encodings.t_rope import TRope, TRopeConfig
from fints.studies.claims.arithmetic import BETAS, apart, naive, ours
from fints.studies.claims.dates import breach_error, sine_error
from fints.studies.claims.exact import CLOSE, DAY, LAST, exact_phases
from fints.studies.claims.gradients import STANDARD, TRANSPOSED, Side
from fints.studies.claims.shifts import HEAD, TOKENS, change, scores, with_key


@given(alpha=st.floats(-2, 2), beta=st.floats(1e2, 1e8), seconds=st.integers(0, 100_000))
def test_exact_phases_are_those_of_float64_where_float64_is_exact_enough(alpha, beta, seconds):
    found = exact_phases([alpha], [beta], [seconds])[0, 0]
    assert abs(math.remainder(found - alpha * seconds / beta, 2 * math.pi)) < 1e-9
    assert abs(found) <= math.pi


def test_exact_phases_add_up_over_dates_that_float32_cannot_tell_apart():
    one, other, sum_of_both = exact_phases([1.0], [100.0], [LAST, 7, LAST + 7])[:, 0]
    assert abs(math.remainder(one + other - sum_of_both, 2 * math.pi)) < 1e-12


@given(st.floats(-10, 10), st.floats(-3.1, 3.1), st.integers(-5, 5))
def test_angles_are_apart_by_their_difference_less_whole_turns(angle, difference, turns):
    found = apart(np.array([angle]), np.array([angle + difference + 2 * math.pi * turns]))
    assert found[0] == pytest.approx(abs(difference), abs=1e-9)


def test_float32_phases_are_worse_the_shorter_the_scale():
    seconds = [CLOSE + 12_345 * i for i in range(50)]
    ones = [1.0] * len(BETAS)
    truth = exact_phases(ones, BETAS, seconds)
    rough = apart(naive(ones, seconds), truth).max(axis=0)
    assert rough[0] > 30 * rough[4] > 300 * apart(ours(ones, seconds), truth).max()


def test_scores_are_shares_of_the_largest():
    found = scores(TRope(TRopeConfig(), HEAD, 1))
    assert found.shape == (TOKENS, TOKENS)
    assert np.abs(found).max() <= 1 + 1e-6


@settings(max_examples=15, deadline=None)
@given(shift=st.integers(DAY, 3650 * DAY))
def test_only_a_standard_key_with_the_query_s_coefficients_forgets_the_date(shift):
    shared = TRope(TRopeConfig(shared=True, non_stationary=False), HEAD, 1)
    separate = TRope(TRopeConfig(non_stationary=False), HEAD, 1)
    assert change(shared, shift) < 1e-6
    assert change(separate, shift) > 1e-2
    assert change(with_key(separate, separate.query, 1.0), shift) < 1e-6


def test_the_breach_is_the_one_that_the_proof_predicts_for_any_draw():
    for seed in range(3):
        assert breach_error(TRope(TRopeConfig(seed_base=seed), HEAD, 1)) < 1e-6


def test_only_one_sign_of_the_sine_term_is_right():
    assert sine_error(1) < 1e-6
    assert sine_error(-1) > 0.1


@pytest.mark.parametrize("way", [STANDARD, TRANSPOSED])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 9999))
def test_algorithm_3_is_what_autograd_makes_of_algorithm_2(way, seed):
    rng = np.random.default_rng(seed)
    x, g = rng.standard_normal((2, 3, 8))
    phase = rng.uniform(-20, 20, (3, 4))
    side = Side(x, g, phase, way)
    tx, tphase = (torch.tensor(v, requires_grad=True) for v in (x, phase))
    c, s = tphase.cos(), way * tphase.sin()
    turned = torch.stack((tx[:, 0::2] * c - tx[:, 1::2] * s, tx[:, 0::2] * s + tx[:, 1::2] * c), dim=-1).flatten(1)
    assert np.allclose(turned.detach().numpy(), side.rotated(phase))
    turned.backward(torch.tensor(g))
    vectors, phases = side.gradients()
    assert np.allclose(tx.grad.numpy(), vectors)
    assert np.allclose(tphase.grad.numpy(), phases)
    assert np.allclose(side.differences(), phases, atol=1e-6)
