from dataclasses import replace

import numpy as np
import pytest

from fints.periods.background import PLAIN_ORDERS, fit_background
from fints.periods.cleaning import cleaned
from fints.periods.shifts import CLEAR, level_shifts, step_gains, steps
from fints.periods.spectrum import fft_periodogram
from fints.periods.whitening import whitened


def found(samples) -> list[int]:
    noise = fit_background(fft_periodogram(samples, samples.value), orders=PLAIN_ORDERS)
    return level_shifts(samples, samples.value, noise)


@pytest.mark.parametrize("gap", [False, True])
def test_the_gain_of_a_step_is_that_of_least_squares(gap, as_samples, red_noise):
    n = 500
    samples = as_samples(red_noise(n, 0.7, np.random.default_rng(0)))
    if gap:
        kept = np.r_[:200, 240:n]
        parts = {name: getattr(samples, name)[kept] for name in ("session", "calendar", "value", "slot")}
        samples = replace(samples, **parts)
    noise = fit_background(fft_periodogram(samples, samples.value), orders=PLAIN_ORDERS)
    count = len(samples.value)
    gains = step_gains(samples, samples.value, noise)
    time = np.linspace(-1, 1, count)
    for first in (40, 150, 230, count - 40):
        columns = np.column_stack([np.ones(count), time, steps(samples, [first]), samples.value])
        plain = whitened(samples, columns, noise)
        misfit = [np.linalg.lstsq(plain[:, :k], plain[:, 3], rcond=None)[1][0] for k in (2, 3)]
        assert gains[first] == pytest.approx(0.5 * (misfit[0] - misfit[1]), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("phi", [0.0, 0.99])
def test_a_shift_of_two_standard_deviations_is_found_on_its_day(phi, as_samples, red_noise):
    n = 1000
    for seed in range(3):
        y = red_noise(n, phi, np.random.default_rng(seed))
        (first,) = found(as_samples(y + 2 * y.std() * (np.arange(n) >= 430)))
        assert abs(first - 430) <= 3


def test_noise_hardly_ever_looks_shifted(as_samples, red_noise):
    counts = [
        len(found(as_samples(red_noise(600, phi, np.random.default_rng(seed)))))
        for phi in (0.0, 0.7, 0.99)
        for seed in range(12)
    ]
    assert sum(counts) <= 1


@pytest.mark.parametrize("cycles", [1.3, 3.5])
def test_a_slow_wave_is_no_shift(cycles, as_samples):
    n = 800
    y = 4 * np.cos(2 * np.pi * cycles * np.arange(n) / n) + np.random.default_rng(1).standard_normal(n)
    samples = as_samples(y)
    noise = fit_background(fft_periodogram(samples, y), orders=PLAIN_ORDERS)
    assert step_gains(samples, y, noise).max() > CLEAR
    assert found(samples) == []


def test_the_first_day_of_a_new_level_is_no_outlier(as_samples, red_noise):
    n = 1000
    y = red_noise(n, 0.99, np.random.default_rng(2))
    clean, columns = cleaned(as_samples(y + 20.0 * (np.arange(n) >= 500)), None)
    assert "outlier" not in clean.note
    assert "shift of level at 2002-01-02" in clean.note
    assert columns.shape[1] == 1
    assert np.abs(clean.value[495:505] - y[495:505] - np.mean(clean.value - y)).max() < 15


def test_an_outlier_is_no_shift(as_samples, red_noise):
    n = 1000
    y = red_noise(n, 0.9, np.random.default_rng(3))
    y[500] += 25.0
    clean, _ = cleaned(as_samples(y), None)
    assert "1 outliers taken out" in clean.note
    assert "shift" not in clean.note
