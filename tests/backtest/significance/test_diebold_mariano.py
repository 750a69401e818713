from __future__ import annotations

import random

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t, ttest_rel

from fints.backtest.significance import LEAST_WINDOWS, diebold_mariano, overlap_lag


@pytest.mark.parametrize("lag", [0, 1, 3])
@pytest.mark.parametrize("n", [8, 25, 100])
def test_agrees_with_a_regression_on_a_constant_with_newey_west_errors(n: int, lag: int) -> None:
    rng = np.random.default_rng(n + lag)
    loss, other = rng.gamma(2.0, size=n), rng.gamma(2.2, size=n)
    options = {"maxlags": lag, "use_correction": False}
    fit = sm.OLS(loss - other, np.ones(n)).fit(cov_type="HAC", cov_kwds=options)
    k = lag + 1
    statistic = fit.tvalues[0] * np.sqrt((n + 1 - 2 * k + k * (k - 1) / n) / n)
    test = diebold_mariano(loss, other, lag=lag)
    assert test.statistic == pytest.approx(statistic)
    assert test.p_value == pytest.approx(2 * (1 - t.cdf(abs(statistic), n - 1)))
    assert (test.windows, test.lag, test.reason) == (n, lag, "")


def test_a_worked_example_by_hand() -> None:
    # d = 1, 1, 3, 3, 1, 1, 3, 3: mean 2, γ0 = 1, γ1 = 1/8; with one lag the long-run variance is 1 + γ1
    loss = np.array([1.0, 1, 3, 3, 1, 1, 3, 3])
    factor = np.sqrt((8 + 1 - 4 + 2 / 8) / 8)
    assert diebold_mariano(loss, np.zeros(8), lag=1).statistic == pytest.approx(2 / np.sqrt((1 + 1 / 8) / 8) * factor)


def python_2_sample(generator: random.Random, n: int) -> np.ndarray:
    """Shuffle 0 … n − 1 as ``random.sample`` of Python 2 did."""
    pool, drawn = list(range(n)), []
    for taken in range(n):
        place = int(generator.random() * (n - taken))
        drawn.append(pool[place])
        pool[place] = pool[n - taken - 1]
    return np.array(drawn, dtype=float)


@pytest.mark.parametrize(
    ("power", "statistic", "p_value"),
    [
        (1, 1.3275742446369585, 0.18737195617455585),
        (2, 1.2112523589452902, 0.22868210381769466),
        (4, 0.9124498079287283, 0.36374861695187799),
    ],
)
def test_agrees_with_published_values(power: int, statistic: float, p_value: float) -> None:
    # J. Tsang (2017), Diebold-Mariano-Test, the example of its README: h = 1, losses |e|, e², e⁴
    generator = random.Random(123)
    actual, one, other = (python_2_sample(generator, 100) for _ in range(3))
    test = diebold_mariano(np.abs(actual - one) ** power, np.abs(actual - other) ** power, lag=0)
    assert test.statistic == pytest.approx(statistic, rel=1e-12)
    assert test.p_value == pytest.approx(p_value, rel=1e-12)


def test_without_correlated_windows_it_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(4)
    loss, other = rng.gamma(2.0, size=30), rng.gamma(2.4, size=30)
    expected = ttest_rel(loss, other)
    test = diebold_mariano(loss, other, lag=0)
    assert (test.statistic, test.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-12)


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), min_size=8, max_size=30))
def test_exchanging_the_models_turns_the_sign(pairs: list[tuple[float, float]]) -> None:
    loss, other = np.array(pairs).T
    one, two = diebold_mariano(loss, other, lag=1), diebold_mariano(other, loss, lag=1)
    assert one.reason == two.reason
    np.testing.assert_allclose([one.statistic, one.p_value], [-two.statistic, two.p_value])


def test_equal_models_are_rejected_about_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(3)
    losses = rng.chisquare(1, size=(2000, 2, 25))
    rejected = np.mean([diebold_mariano(a, b, lag=1).p_value < 0.05 for a, b in losses])
    assert 0.03 < rejected < 0.07


@pytest.mark.parametrize(
    ("n", "counted"), [(0, "0 windows are"), (1, "1 window is"), (LEAST_WINDOWS - 1, "7 windows are")]
)
def test_too_few_windows_withhold_the_test_and_say_so(n: int, counted: str) -> None:
    test = diebold_mariano(np.arange(float(n)), np.zeros(n), lag=1)
    assert np.isnan(test.p_value)
    assert test.reason == f"{counted} too few for a test to mean anything; it needs 8"


def test_identical_losses_withhold_the_test_and_say_so() -> None:
    loss = np.random.default_rng(0).gamma(2.0, size=12)
    assert diebold_mariano(loss, loss.copy(), lag=1).reason == "the two models lose the same in every window"


@pytest.mark.parametrize(("h", "step_size", "lag"), [(20, 20, 1), (20, 5, 4), (14, 5, 3), (5, 20, 1)])
def test_the_lag_covers_windows_that_overlap_and_one_more(h: int, step_size: int, lag: int) -> None:
    assert overlap_lag(h, step_size) == lag
