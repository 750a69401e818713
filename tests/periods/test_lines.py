import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.periods.background import fit_background
from fints.periods.lines import Tone, fit_lines
from fints.periods.spectrum import fft_periodogram
from fints.periods.whitening import Whitening, whitened

CLOCKS = ("session", "calendar")


def wave(place: np.ndarray, period: float, amplitude: float = 1.0, phase: float = 0.4) -> np.ndarray:
    return amplitude * np.cos(2 * np.pi * place / period + phase)


def cramer_rao(place: np.ndarray, period: float, amplitude: float, phase: float) -> float:
    """Standard error of the frequency in white noise of variance 1; amplitude, phase, mean and trend unknown too."""
    time = place - place.mean()
    angle = 2 * np.pi * place / period + phase
    gradient = np.column_stack(
        [
            -amplitude * 2 * np.pi * time * np.sin(angle),
            np.cos(angle),
            np.sin(angle),
            np.ones_like(time),
            time / time[-1],
        ]
    )
    return float(np.sqrt(np.linalg.inv(gradient.T @ gradient)[0, 0]))


@settings(deadline=None, max_examples=40)
@given(
    clock=st.sampled_from(CLOCKS),
    period=st.floats(2.2, 150),
    off=st.floats(-0.4, 0.4),
    phase=st.floats(-3.1, 3.1),
    line=st.tuples(st.floats(-1e3, 1e3), st.floats(-1, 1)),
)
def test_a_noiseless_line_is_recovered_exactly_beside_a_mean_and_a_trend(as_samples, clock, period, off, phase, line):
    n, (level, slope) = 600, line
    place = as_samples(np.zeros(n)).place(clock)
    samples = as_samples(wave(place, period, 2.5, phase) + level + slope * np.arange(n))
    fit = fit_lines(Whitening(samples), samples.value, [Tone(clock, 1 / period + off / samples.duration(clock))])
    assert fit.frequency[0] == pytest.approx(1 / period, abs=1e-9)
    assert fit.amplitude[0] == pytest.approx(2.5, rel=1e-6)
    rebuilt = fit.amplitude[0] * np.cos(2 * np.pi * fit.frequency[0] * place + fit.phase(0, samples))
    np.testing.assert_allclose(rebuilt, wave(place, period, 2.5, phase), atol=1e-3)
    np.testing.assert_allclose(fit.line(0, samples), rebuilt, atol=1e-4)


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize(("n", "period"), [(250, 6.7), (1000, 20.37)])
def test_frequency_errors_reach_the_cramer_rao_bound_and_the_stated_error(clock, n, period, as_samples):
    rng = np.random.default_rng(n)
    amplitude = np.sqrt(2 * 10**0.5)
    place = as_samples(np.zeros(n)).place(clock)
    errors, stated, bounds = [], [], []
    for _ in range(200):
        phase = rng.uniform(-np.pi, np.pi)
        samples = as_samples(wave(place, period, amplitude, phase) + rng.standard_normal(n))
        fit = fit_lines(
            Whitening(samples), samples.value, [Tone(clock, 1 / period + rng.uniform(-0.3, 0.3) / np.ptp(place))]
        )
        errors.append(fit.frequency[0] - 1 / period)
        stated.append(np.sqrt(fit.variance[0]))
        bounds.append(cramer_rao(place, period, amplitude, phase))
    bound = np.sqrt(np.mean(np.square(bounds)))
    assert np.sqrt(np.mean(np.square(errors))) < 1.15 * bound
    assert np.mean(stated) == pytest.approx(bound, rel=0.03)


def test_slow_noise_that_the_weekends_fold_onto_the_week_does_not_spoil_it(as_samples, red_noise):
    n, rng = 1000, np.random.default_rng(5)
    place = as_samples(np.zeros(n)).calendar
    plain, general = [], []
    for _ in range(60):
        alone = red_noise(n, 0.98, rng)
        samples = as_samples(alone + wave(place, 7.0, 2.0, rng.uniform(-3, 3)))
        noise = fit_background(fft_periodogram(samples, alone))
        guess = [Tone("calendar", 1 / 7)]
        plain.append(fit_lines(Whitening(samples), samples.value, guess).frequency[0] - 1 / 7)
        fit = fit_lines(Whitening(samples, noise), samples.value, guess)
        general.append((fit.frequency[0] - 1 / 7) / np.sqrt(fit.variance[0]))
        plain[-1] /= np.sqrt(fit.variance[0])
    assert np.sqrt(np.mean(np.square(general))) == pytest.approx(1, abs=0.25)
    assert np.sqrt(np.mean(np.square(plain))) > 1.1 * np.sqrt(np.mean(np.square(general)))


def test_two_lines_close_together_are_told_apart(as_samples):
    n = 1000
    place = as_samples(np.zeros(n)).session
    samples = as_samples(wave(place, 10.0) + wave(place, 1 / (0.1 + 1.5 / n), phase=-1.0))
    fit = fit_lines(Whitening(samples), samples.value, [Tone("session", 0.1 - 0.1 / n), Tone("session", 0.1 + 1.6 / n)])
    np.testing.assert_allclose(fit.frequency, [0.1, 0.1 + 1.5 / n], atol=1e-7)
    assert np.abs(fit.residual).max() < 1e-3


def test_a_regressor_beside_a_line_is_told_from_it(as_samples):
    n = 900
    samples = as_samples(np.zeros(n))
    spikes = (np.arange(n) % 21 == 0).astype(float)
    value = wave(samples.session, 20.8, 2.0) + 3.0 * spikes
    frame = Whitening(samples, beside=(spikes - spikes.mean())[:, None])
    fit = fit_lines(frame, value, [Tone("session", 1 / 20.81)])
    assert 1 / fit.frequency[0] == pytest.approx(20.8, rel=1e-8)
    assert np.ptp(fit.residual) < 1e-6


def test_lines_on_both_clocks_are_fitted_in_one_go(as_samples):
    samples = as_samples(np.zeros(1500))
    value = wave(samples.session, 12.3, 2.0) + wave(samples.calendar, 7.0, 3.0)
    fit = fit_lines(Whitening(samples), value, [Tone("session", 1 / 12.31), Tone("calendar", 1 / 7.001)])
    np.testing.assert_allclose(1 / fit.frequency, [12.3, 7.0], rtol=1e-8)
    np.testing.assert_allclose(fit.amplitude, [2.0, 3.0], rtol=1e-6)


def test_a_frequency_that_is_not_free_stays_and_has_no_error(as_samples):
    samples = as_samples(np.random.default_rng(0).standard_normal(400))
    tones = [Tone("session", 0.1), Tone("session", 0.2)]
    fit = fit_lines(Whitening(samples), samples.value, tones, free=[False, True])
    assert fit.tones[0] == tones[0]
    assert np.isnan(fit.variance[0])
    assert fit.variance[1] > 0


@pytest.mark.parametrize("phi", [0.0, 0.7, 0.95])
def test_whitened_noise_is_white_of_variance_one(phi, as_samples, red_noise):
    samples = as_samples(red_noise(4000, phi, np.random.default_rng(1)))
    noise = fit_background(fft_periodogram(samples, samples.value))
    plain = whitened(samples, samples.value[:, None], noise)[200:, 0]
    assert plain.var() == pytest.approx(1, abs=0.1)
    assert np.corrcoef(plain[1:], plain[:-1])[0, 1] == pytest.approx(0, abs=0.05)
