import numpy as np
import pytest
from scipy.linalg import toeplitz

from fints.periods.background import Background, fit_background
from fints.periods.spectrum import fft_periodogram


@pytest.mark.parametrize("phi", [0.0, 0.7, 0.95])
def test_the_null_level_is_the_spectrum_of_the_noise_in_spite_of_lines(phi, as_samples, red_noise):
    rng = np.random.default_rng(3)
    y = red_noise(4000, phi, rng) + 3 * np.cos(2 * np.pi * np.arange(4000) / 7.3)
    samples = as_samples(y)
    background = fit_background(fft_periodogram(samples, y))
    frequency = np.array([0.01, 0.05, 0.1, 0.2, 0.4])
    truth = 1 / np.abs(1 - phi * np.exp(-2j * np.pi * frequency)) ** 2
    np.testing.assert_allclose(background.level(frequency), truth, rtol=0.25)
    assert (background.log_variance(frequency) > 0).all()


def test_a_long_series_is_fitted_from_fewer_ordinates_to_the_same_level(as_samples, red_noise, monkeypatch):
    y = red_noise(6000, 0.7, np.random.default_rng(9))
    periodogram = fft_periodogram(as_samples(y), y)
    frequency = np.array([0.003, 0.05, 0.2, 0.4])
    every = fit_background(periodogram)
    monkeypatch.setattr("fints.periods.background._MOST_ORDINATES", 1000)
    thinned = fit_background(periodogram)
    np.testing.assert_allclose(thinned.level(frequency), every.level(frequency), rtol=0.15)
    assert (thinned.log_variance(frequency) > every.log_variance(frequency)).all()


def test_the_level_on_a_grid_is_the_level(as_samples, red_noise):
    y = red_noise(500, 0.7, np.random.default_rng(2))
    background = fit_background(fft_periodogram(as_samples(y), y))
    np.testing.assert_allclose(background.grid_level(64, 30)[1:], background.level(np.arange(1, 30) / 64))


def test_the_inverse_covariance_undoes_the_covariance_of_an_ar_1():
    phi, n = 0.8, 60
    background = Background(0, phi, np.array([0.0, 1.0]), np.eye(2), 1.0)
    covariance = toeplitz(phi ** np.arange(n) / (1 - phi**2))
    inverse = toeplitz(background.inverse_covariance(n))
    product = inverse @ covariance
    np.testing.assert_allclose(product[1:-1], np.eye(n)[1:-1], atol=1e-4)
    value = np.random.default_rng(0).standard_normal(n)
    np.testing.assert_allclose(background.inverse_filtered(value), inverse @ value, atol=1e-4)


@pytest.mark.parametrize("corner", [0.0, 0.9, 1.0])
def test_the_whitening_filter_has_the_inverse_level_as_its_power(corner):
    cosines = [0.3, -0.2, 0.1]
    coefficients = np.array([0.5, *([0.4] if corner else []), *cosines])
    background = Background(3, corner, coefficients, np.eye(len(coefficients)), 1.0)
    n = 4096
    impulse = np.zeros((1, n))
    impulse[0, 0] = 1.0
    response = np.abs(np.fft.rfft(background.whitened(impulse)[0])) ** 2
    at = np.array([200, 700, 1500])
    np.testing.assert_allclose(response[at] * background.level(at / n), 1.0, rtol=5e-3)
