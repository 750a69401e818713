import numpy as np
import pytest

from fints.encodings.kernels import PeriodicGaussianKernel
from fints.studies.kernel_width.grid import DIVISORS, FULLEST, WIDTHS
from fints.studies.kernel_width.theory import Reading, enough


def circulant(harmonics, shares, period):
    phase = np.arange(period)
    return np.cos(2 * np.pi * np.subtract.outer(phase, phase)[..., None] * harmonics / period) @ shares


@pytest.mark.parametrize(("sigma", "truncation"), [(0.5, 2), (1.0, 12), (2.0, 6), (3.0, 14)])
def test_the_closed_form_is_the_error_of_the_regression(sigma, truncation):
    read = Reading(24, 1.5, 0.8, 3.0)
    harmonics = np.arange(-truncation, truncation + 1)
    pmf = PeriodicGaussianKernel(period=24, sigma=sigma, truncation=truncation).pmf()
    prior, truth = circulant(harmonics, pmf, 24), circulant(np.arange(24), read.law, 24)
    noise = 0.8**2 / 3 * np.eye(24)
    kept = prior @ np.linalg.inv(prior + noise)
    left = np.eye(24) - kept
    risk = np.trace(left @ truth @ left.T + kept @ noise @ kept.T) / 24
    assert read.expected_error(sigma, truncation) == pytest.approx(np.sqrt(risk))


@pytest.mark.parametrize("divisor", WIDTHS.values())
@pytest.mark.parametrize("noise", [0.5, 1.0, 2.0])
def test_the_theory_puts_the_optimum_at_the_width_of_the_routine_whatever_the_noise(divisor, noise):
    read = Reading(24, 24 / divisor, noise, 3.0)
    errors = {d: read.expected_error(24 / d, FULLEST) for d in DIVISORS}
    assert errors[divisor] == pytest.approx(min(errors.values()), rel=1e-3)


def test_enough_harmonics_hold_the_kernel():
    assert enough(24.0, 2.0) == pytest.approx(3.82, abs=0.01)
    read = Reading(24, 2.0, 1.0, 3.0)
    assert read.expected_error(2.0, 2) > 1.3 * read.expected_error(2.0, 12)
    assert read.expected_error(2.0, 6) == pytest.approx(read.expected_error(2.0, 12), rel=1e-2)
