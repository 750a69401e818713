import numpy as np
import pytest
from scipy.fft import next_fast_len

from fints.periods.leverage import Leverage


def spikes(n: int) -> np.ndarray:
    day = np.arange(n)
    return np.column_stack([day % 63 == 5, day % 21 == 2, day % 250 == 11]).astype(float)


def test_what_regressors_leave_is_the_power_of_noise_projected_off_them(as_samples):
    n = 600
    samples, columns, beside = as_samples(np.zeros(n)), spikes(n), np.ones((n, 1))
    leverage = Leverage.of(samples, columns, beside)
    basis = np.linalg.qr(columns - columns.mean(axis=0))[0]
    projection = np.eye(n) - basis @ basis.T
    length = next_fast_len(n, real=True)
    for turns in (7, 9, 29, 200):
        wave = samples.taper * np.exp(2j * np.pi * turns / length * samples.slot)
        left = (wave.conj() @ projection @ wave).real / np.sum(samples.taper**2)
        assert leverage.session[turns] == pytest.approx(left, abs=1e-9)
        wave = samples.taper * np.exp(2j * np.pi * turns / leverage.span * samples.calendar)
        left = (wave.conj() @ projection @ wave).real / np.sum(samples.taper**2)
        assert leverage.calendar[turns] == pytest.approx(left, abs=1e-9)


def test_regressors_that_depend_on_each_other_count_once(as_samples):
    n = 600
    samples, columns, beside = as_samples(np.zeros(n)), spikes(n), np.ones((n, 1))
    once, twice = (Leverage.of(samples, c, beside) for c in (columns, np.hstack([columns, columns[:, :2]])))
    np.testing.assert_allclose(twice.session, once.session, atol=1e-9)


def test_fewer_peaks_survive_the_higher_they_are(as_samples):
    n = 600
    leverage = Leverage.of(as_samples(np.zeros(n)), spikes(n), np.ones((n, 1)))
    for clock in ("session", "calendar"):
        shares = [leverage.surviving(clock, 3.0, exceedance) for exceedance in (0.0, 3.0, 9.0)]
        assert shares[0] == 1
        assert 1 > shares[1] > shares[2] > 0.5


def test_a_few_regressors_of_a_long_series_are_neglected(as_samples):
    samples = as_samples(np.zeros(4000))
    assert Leverage.of(samples, spikes(4000), np.ones((4000, 1))) is None
