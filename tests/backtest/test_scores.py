from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scoringrules as sr
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad, trapezoid
from scipy.stats import norm

from fints.backtest.scores import crps, hit, pinball, qlike, smape, variance_of_log
from fints.forecast import QUANTILES


def brier_integral(y: float, quantiles: np.ndarray, probabilities: np.ndarray) -> float:
    """CRPS by its definition on the distribution function: the integral of (F(x) − 1{x ≥ y})²."""
    x = np.linspace(min(quantiles[0], y) - 1, max(quantiles[-1], y) + 1, 400_001)
    distribution = np.interp(x, quantiles, probabilities, left=0.0, right=1.0)
    return float(trapezoid((distribution - (x >= y)) ** 2, x))


@pytest.mark.parametrize("y", [-3.0, -0.7, 0.0, 0.31, 2.4])
def test_crps_is_the_integral_of_its_definition(y: float) -> None:
    probabilities = np.array([0.025, 0.1, 0.3, 0.5, 0.75, 0.8, 0.975])
    quantiles = np.array([-1.9, -1.1, -0.4, 0.05, 0.8, 0.81, 2.0])
    expected = brier_integral(y, quantiles, probabilities)
    assert crps(np.array([y]), quantiles[None], probabilities)[0] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("y", [-1.0, 0.2, 1.5])
def test_crps_of_a_finely_stated_normal_is_its_closed_form(y: float) -> None:
    probabilities = np.linspace(0.0005, 0.9995, 1000)
    exact = y * (2 * norm.cdf(y) - 1) + 2 * norm.pdf(y) - 1 / np.sqrt(np.pi)
    assert crps(np.array([y]), norm.ppf(probabilities)[None], probabilities)[0] == pytest.approx(exact, abs=2e-3)


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_crps_of_a_certain_forecast_is_its_absolute_error(y: float, forecast: float) -> None:
    certain = np.full((1, len(QUANTILES)), forecast)
    assert crps(np.array([y]), certain)[0] == pytest.approx(abs(y - forecast), abs=1e-9)


@given(st.lists(st.floats(-50, 50), min_size=len(QUANTILES), max_size=len(QUANTILES)), st.floats(-80, 80))
def test_crps_is_never_negative(quantiles: list[float], y: float) -> None:
    assert crps(np.array([y]), np.sort(quantiles)[None])[0] >= -1e-9


def test_crps_of_a_finely_stated_distribution_is_that_of_an_independent_package() -> None:
    rng = np.random.default_rng(1)
    y, mu, sigma = rng.normal(size=50), rng.normal(size=50), rng.uniform(0.5, 2, size=50)
    probabilities = np.linspace(0.0005, 0.9995, 2000)
    stated = norm.ppf(probabilities)[None] * sigma[:, None] + mu[:, None]
    np.testing.assert_allclose(crps(y, stated, probabilities), sr.crps_normal(y, mu, sigma), atol=2e-3)


def test_pinball_is_that_of_an_independent_package() -> None:
    rng = np.random.default_rng(3)
    y, quantiles = rng.normal(size=40), np.sort(rng.normal(size=(40, len(QUANTILES))), axis=1)
    expected = sr.quantile_score(y[:, None], quantiles, np.array(QUANTILES)[None])
    np.testing.assert_allclose(pinball(y, quantiles), expected, rtol=1e-12, atol=1e-15)


def test_smape_by_hand() -> None:
    np.testing.assert_allclose(smape(np.array([3.0, 0, -1, 2]), np.array([1.0, 0, 1, 2])), [1.0, 0, 2, 0])


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_smape_is_symmetric_and_within_its_bounds(y: float, forecast: float) -> None:
    one, other = smape(np.array([y]), np.array([forecast]))[0], smape(np.array([forecast]), np.array([y]))[0]
    assert one == other
    assert 0 <= one <= 2 + 1e-12


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_qlike_is_the_difference_of_gaussian_log_likelihoods(variance: float, forecast: float) -> None:
    # −2 log density of a return of that square, under the forecast variance, less that under its own
    own, told = (variance / v + np.log(v) for v in (variance, forecast))
    found = qlike(np.array([variance]), np.array([forecast]))[0]
    assert found == pytest.approx(told - own, rel=1e-9, abs=1e-9)
    assert found >= 0


def test_qlike_ranks_forecasts_alike_whatever_the_noise_of_the_proxy() -> None:
    # Patton (2011): the mean loss is least at the true variance, also with a proxy that is only right on average
    rng = np.random.default_rng(5)
    proxy = rng.chisquare(1, size=200_000)
    mean = [qlike(proxy, np.full_like(proxy, v)).mean() for v in (0.8, 1.0, 1.25)]
    assert mean[1] == min(mean)


def test_qlike_of_what_is_no_variance_is_not_a_number() -> None:
    assert np.isnan(qlike(np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, np.inf]))).all()


@pytest.mark.parametrize(("mu", "sigma"), [(0.0, 0.4), (-4.5, 0.3), (1.0, 0.0)])
def test_the_variance_to_expect_is_the_integral_over_the_quantile_function(mu: float, sigma: float) -> None:
    quantiles = mu + sigma * norm.ppf(QUANTILES)
    edges = np.concatenate([quantiles[:1], quantiles, quantiles[-1:]])
    stated = np.array([0.0, *QUANTILES, 1.0])
    expected = sum(
        quad(lambda p: np.exp(2 * np.interp(p, stated, edges)), low, high)[0] for low, high in pairwise(stated)
    )
    assert variance_of_log(quantiles[None])[0] == pytest.approx(expected, rel=1e-9)


def test_the_variance_to_expect_nears_that_of_the_lognormal() -> None:
    probabilities = np.linspace(1e-5, 1 - 1e-5, 100_000)
    found = variance_of_log((0.2 * norm.ppf(probabilities) - 1)[None], probabilities)[0]
    assert found == pytest.approx(np.exp(-2 + 2 * 0.2**2), rel=1e-4)


def test_a_hit_is_the_right_sign_and_a_forecast_of_zero_is_half_of_one() -> None:
    y, forecast = np.array([0.1, -0.1, 0.1, -0.2, 0.0]), np.array([0.2, 0.3, 0.0, -0.1, 0.5])
    np.testing.assert_array_equal(hit(y, forecast), [1, 0, 0.5, 1, np.nan])
