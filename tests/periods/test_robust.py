import numpy as np
import pytest

from fints import detect_periods
from fints.periods.background import Background
from fints.periods.peeling import ESTIMATORS, peel
from fints.periods.robust import CLIPPED, pseudo_values
from fints.periods.search import Search

AR = 0.8
NOISE = Background(0, AR, np.array([0.0, 1.0]), np.eye(2), 1.0)


@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
def test_every_estimator_finds_a_planted_line(estimator, as_samples, red_noise):
    n = 800
    y = red_noise(n, 0.5, np.random.default_rng(0)) + 1.5 * np.cos(2 * np.pi * np.arange(n) / 7.3)
    peeled, _ = peel(as_samples(y), Search(clock="session", estimator=estimator))
    (tone,) = peeled.fit.tones
    assert 1 / tone.frequency == pytest.approx(7.3, abs=0.01)
    assert peeled.fit.amplitude[0] == pytest.approx(1.5, rel=0.1)


def test_an_outlier_is_moved_to_the_edge_of_what_noise_does_and_spoils_nothing_after_it(as_samples, red_noise):
    n = 600
    y = red_noise(n, AR, np.random.default_rng(1))
    spoilt = y.copy()
    spoilt[300] += 40.0
    fit = np.zeros(n)
    clean, bare = pseudo_values(as_samples(spoilt), fit, NOISE).value, pseudo_values(as_samples(y), fit, NOISE).value
    # before it nothing but the scale of the innovations, a median, moves
    np.testing.assert_allclose(clean[:300], bare[:300], atol=0.02 * CLIPPED)
    assert 0 < clean[300] - bare[300] < 2.5 * CLIPPED
    assert np.abs(clean[305:] - bare[305:]).max() < 1.0


def test_pseudo_values_of_normal_noise_are_noise_of_its_variance(as_samples):
    y = np.random.default_rng(2).standard_normal(4000)
    white = Background(0, 0.0, np.array([0.0]), np.eye(1), 1.0)
    pseudo = pseudo_values(as_samples(y), np.zeros(4000), white).value
    # Huber (1981): E ψ² / (E ψ')² = 1.01 for a clip at two standard deviations
    assert pseudo.var() / y.var() == pytest.approx(1.01, abs=0.02)
    assert np.corrcoef(pseudo, y)[0, 1] > 0.98


def test_in_noise_with_heavy_tails_the_robust_estimator_finds_what_squares_miss(as_samples):
    n, hits = 600, dict.fromkeys(ESTIMATORS, 0)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        samples = as_samples(rng.standard_t(2, n) + 0.45 * np.cos(2 * np.pi * np.arange(n) / 9.13))
        for estimator in ESTIMATORS:
            peeled, _ = peel(samples, Search(clock="session", max_lines=1, estimator=estimator))
            hits[estimator] += any(abs(tone.frequency * 9.13 - 1) < 0.02 for tone in peeled.fit.tones)
    assert hits["robust"] >= 7
    assert hits["linear"] <= hits["robust"] - 4


def test_the_method_says_that_innovations_were_clipped(as_panel):
    y = np.random.default_rng(3).standard_normal(300) + np.cos(2 * np.pi * np.arange(300) / 7.3)
    (only,) = detect_periods(as_panel(A=y), clock="session", estimator="robust")
    assert "innovations beyond 2 standard deviations clipped" in only.method
