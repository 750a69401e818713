import numpy as np
import pytest

from fints.periods.background import Background, fit_background
from fints.periods.calendar import CalendarSampling, calendar_sampling
from fints.periods.scan import calendar_scan
from fints.periods.spectrum import fft_periodogram


@pytest.fixture
def samples(as_samples):
    return as_samples(np.zeros(700))


@pytest.mark.parametrize("d", [0.3, 0.8])
def test_the_information_is_the_double_sum_over_all_pairs_of_bars(samples, d):
    background = Background(1, 1.0, np.array([0.4, d, 0.3]), np.eye(3), 1.0)
    sampling = CalendarSampling(samples)
    frequency, information = sampling.frequency, sampling.information(background)
    inverse = background.inverse_covariance(samples.size)
    lag = np.abs(samples.slot[:, None] - samples.slot)
    matrix = inverse[lag] * samples.taper[:, None] * samples.taper
    for row in np.searchsorted(frequency, [0.01, 0.06, 0.12, 1 / 7, 0.15, 0.29, 0.45]):
        wave = np.exp(2j * np.pi * frequency[row] * samples.calendar)
        assert information[row] == pytest.approx((wave.conj() @ matrix @ wave).real, rel=0.02)


@pytest.mark.parametrize("phi", [0.0, 0.9, 0.99])
def test_noise_has_ratio_one_also_where_the_weekends_fold_its_slow_part(phi, as_samples, red_noise):
    rng, ratios = np.random.default_rng(3), []
    for _ in range(150):
        y = red_noise(500, phi, rng)
        samples = as_samples(y)
        background = fit_background(fft_periodogram(samples, y))
        scan = calendar_scan(calendar_sampling(samples), samples, y, background, (3.0, True))
        ratios.append(scan.ratio)
    mean = np.mean(ratios, axis=0)
    for centre in (0.02, 1 / 7 - 0.006, 1 / 7, 1 / 7 + 0.006, 0.2, 2 / 7, 3 / 7):
        near = np.abs(scan.frequency - centre) < 0.004
        assert mean[near].mean() == pytest.approx(1.0, abs=0.17)


def test_a_slow_wave_is_the_same_on_both_clocks_and_a_fast_one_is_not(samples):
    coherence = CalendarSampling(samples).coherence(np.array([1 / 400, 1 / 60, 1 / 7, 0.45]))
    assert coherence[0] > 0.98
    assert coherence[1] > 0.85
    assert (coherence[2:] < 0.5).all()


def test_series_with_the_same_bars_share_their_sampling(as_samples):
    one, other = as_samples(np.zeros(300)), as_samples(np.ones(300))
    assert calendar_sampling(one) is calendar_sampling(other)
    assert calendar_sampling(one) is not calendar_sampling(as_samples(np.zeros(301)))
