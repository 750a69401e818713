import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.periods.lines import fit_lines, group_harmonics, is_stable


def wave(n: int, period: float, amplitude: float = 1.0, phase: float = 0.4, start: float = 7000.0) -> np.ndarray:
    return amplitude * np.cos(2 * np.pi * (np.arange(n) + start) / period + phase)


@settings(deadline=None, max_examples=40)
@given(
    period=st.floats(2.2, 150),
    off=st.floats(-0.4, 0.4),
    phase=st.floats(-3.1, 3.1),
    level=st.floats(-1e3, 1e3),
    slope=st.floats(-1, 1),
)
def test_a_noiseless_line_is_recovered_exactly_beside_a_mean_and_a_trend(as_samples, period, off, phase, level, slope):
    n = 600
    samples = as_samples(wave(n, period, 2.5, phase) + level + slope * np.arange(n))
    fit = fit_lines(samples, samples.value, [1 / period + off / n])
    assert fit.frequency[0] == pytest.approx(1 / period, abs=1e-9)
    assert fit.amplitude[0] == pytest.approx(2.5, rel=1e-6)
    rebuilt = fit.amplitude[0] * np.cos(2 * np.pi * fit.frequency[0] * samples.place + fit.phase[0])
    np.testing.assert_allclose(rebuilt, wave(n, period, 2.5, phase), atol=1e-4)


@pytest.mark.parametrize(("n", "period"), [(250, 6.7), (1000, 20.37)])
def test_frequency_errors_reach_the_cramer_rao_bound_and_the_stated_error(n, period, as_samples):
    rng = np.random.default_rng(n)
    amplitude = np.sqrt(2 * 10**0.5)
    errors, stated = [], []
    for _ in range(200):
        samples = as_samples(wave(n, period, amplitude, rng.uniform(-np.pi, np.pi)) + rng.standard_normal(n))
        fit = fit_lines(samples, samples.value, [1 / period + rng.uniform(-0.3, 0.3) / n])
        errors.append(fit.frequency[0] - 1 / period)
        stated.append(np.sqrt(fit.curvature[0]))
    textbook = np.sqrt(24 / (amplitude**2 * n * (n**2 - 1))) / (2 * np.pi)
    assert np.sqrt(np.mean(np.square(errors))) < 1.15 * textbook
    assert np.mean(stated) == pytest.approx(textbook, rel=0.03)


def test_two_lines_close_together_are_told_apart(as_samples):
    n = 1000
    samples = as_samples(wave(n, 10.0) + wave(n, 1 / (0.1 + 1.5 / n), phase=-1.0))
    fit = fit_lines(samples, samples.value, [0.1 - 0.1 / n, 0.1 + 1.6 / n])
    np.testing.assert_allclose(fit.frequency, [0.1, 0.1 + 1.5 / n], atol=1e-7)
    assert np.abs(fit.residual).max() < 1e-3


def test_a_line_of_one_part_of_the_series_is_not_stable(as_samples):
    n = 1200
    noise = 0.5 * np.random.default_rng(0).standard_normal(n)
    whole = as_samples(wave(n, 9.3) + noise)
    part = as_samples(np.where(np.arange(n) < n // 4, wave(n, 9.3), 0.0) + noise)
    assert is_stable(whole, fit_lines(whole, whole.value, [1 / 9.3]), 0)
    assert not is_stable(part, fit_lines(part, part.value, [1 / 9.3]), 0)


def test_harmonics_go_under_their_fundamental_and_others_stand_alone():
    frequency = np.array([0.41421, 0.20711, 0.0317, 0.62131])
    groups = group_harmonics(frequency, np.full(4, 1e-4), np.array([40.0, 30.0, 20.0, 9.0]))
    assert groups == {2: {1: 2}, 1: {1: 1, 2: 0, 3: 3}}


def test_a_strong_line_is_no_harmonic_of_a_faint_one():
    frequency, strength = np.array([0.0414, 0.2070]), np.array([12.0, 90.0])
    assert group_harmonics(frequency, np.full(2, 1e-4), strength) == {0: {1: 0}, 1: {1: 1}}
