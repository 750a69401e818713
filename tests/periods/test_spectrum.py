from dataclasses import replace

import numpy as np
import pytest
from scipy import signal
from scipy.fft import next_fast_len

from fints.periods.samples import TAPERED_SHARE
from fints.periods.spectrum import DESCRIPTIONS, METHODS, OVERSAMPLING, without_trend


def test_every_method_is_described():
    assert set(DESCRIPTIONS) == set(METHODS)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_white_noise_has_its_variance_as_power_at_every_frequency(method, as_samples):
    rng = np.random.default_rng(0)
    power = []
    for _ in range(60):
        samples = as_samples(rng.normal(0, 3, 400))
        power.append(METHODS[method](samples, samples.value).ordinates()[1])
    mean = np.mean(power, axis=0)
    assert mean.mean() == pytest.approx(9.0, rel=0.03)
    assert np.polyfit(np.linspace(-1, 1, len(mean)), mean, 1)[0] == pytest.approx(0, abs=0.5)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_planted_line_peaks_at_its_frequency_with_its_power(method, as_samples):
    n, period, amplitude = 1000, 20.37, 2.0
    samples = as_samples(amplitude * np.cos(2 * np.pi * np.arange(n) / period + 1.0))
    periodogram = METHODS[method](samples, samples.value)
    top = periodogram.power.argmax()
    assert periodogram.frequency[top] == pytest.approx(1 / period, abs=0.5 / (OVERSAMPLING * n) * 1.1)
    assert periodogram.power[top] == pytest.approx(amplitude**2 * n / 4, rel=0.1)


@pytest.mark.parametrize("n", [120, 251])
def test_the_fft_periodogram_is_scipy_s(n, as_samples):
    y = np.random.default_rng(n).standard_normal(n).cumsum()
    samples = as_samples(y)
    ours = METHODS["fft"](samples, y)
    window = signal.windows.tukey(n, TAPERED_SHARE)
    frequency, density = signal.periodogram(
        signal.detrend(y),
        window=window,
        nfft=OVERSAMPLING * next_fast_len(n, real=True),
        detrend=False,
        scaling="density",
    )
    np.testing.assert_allclose(ours.frequency, frequency)
    np.testing.assert_allclose(ours.power[1:-1], density[1:-1] / 2, rtol=1e-9)


def test_a_trend_does_not_leak(as_samples):
    y = np.random.default_rng(1).standard_normal(500)
    flat, steep = as_samples(y), as_samples(y + 40.0 * np.arange(500))
    before = METHODS["fft"](flat, flat.value).power
    np.testing.assert_allclose(METHODS["fft"](steep, steep.value).power, before, rtol=1e-6, atol=1e-9)


def test_lomb_scargle_of_the_observed_values_is_scipy_s(as_samples):
    n, rng = 300, np.random.default_rng(5)
    y = rng.standard_normal(n)
    kept = np.sort(rng.choice(np.arange(1, n - 1), 200, replace=False))
    whole = as_samples(y)
    slot = np.concatenate([[0], kept, [n - 1]])
    holed = replace(whole, session=whole.session[slot], calendar=whole.calendar[slot], value=y[slot], slot=slot)
    ours = METHODS["lomb_scargle"](holed, holed.value)
    flat, taper = without_trend(holed, holed.regular(holed.value))[slot], holed.taper[slot]
    rows = np.arange(40, 900, 60)
    theirs = signal.lombscargle(slot.astype(float), taper * flat, 2 * np.pi * ours.frequency[rows])
    # scipy's is Σ / 2 of the projections on one sine and one cosine, whose squares sum to n / 2 each
    np.testing.assert_allclose(ours.power[rows], theirs * len(slot) / np.sum(taper**2), rtol=0.15)


def test_many_holes_do_not_colour_white_noise(as_samples):
    rng = np.random.default_rng(1)
    whole = as_samples(np.zeros(400))
    slot = np.sort(rng.choice(400, 260, replace=False))
    slot[0] = 0
    power = []
    for _ in range(80):
        y = rng.normal(0, 2, len(slot))
        holed = replace(whole, session=whole.session[slot], calendar=whole.calendar[slot], value=y, slot=slot)
        power.append(METHODS["lomb_scargle"](holed, y).ordinates()[1])
    mean = np.mean(power, axis=0)
    assert mean.mean() == pytest.approx(4.0, rel=0.1)
    low, high = mean[10:60].mean(), mean[-60:].mean()
    assert low == pytest.approx(high, rel=0.25)
