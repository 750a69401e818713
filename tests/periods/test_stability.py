from dataclasses import replace

import numpy as np
import pytest

from fints import detect_periods
from fints.periods.lines import Tone, fit_lines
from fints.periods.stability import is_stable, rolling_amplitudes
from fints.periods.whitening import Whitening


@pytest.fixture(params=["session", "calendar"])
def clock(request):
    return request.param


def wave(place: np.ndarray, period: float) -> np.ndarray:
    return np.cos(2 * np.pi * place / period + 0.4)


def test_a_line_of_one_year_of_five_is_not_stable(as_samples, clock):
    n = 1250
    place = as_samples(np.zeros(n)).place(clock)
    noise = 0.5 * np.random.default_rng(0).standard_normal(n)
    whole = as_samples(wave(place, 9.3) + noise)
    part = as_samples(np.where(np.arange(n) < n // 5, wave(place, 9.3), 0.0) + noise)
    assert is_stable(whole, fit_lines(Whitening(whole), whole.value, [Tone(clock, 1 / 9.3)]), 0)
    assert not is_stable(part, fit_lines(Whitening(part), part.value, [Tone(clock, 1 / 9.3)]), 0)


def test_rolling_amplitudes_follow_a_line_that_fades(as_samples, clock):
    n = 2000
    place = as_samples(np.zeros(n)).place(clock)
    size = np.linspace(2.0, 0.0, n)
    samples = as_samples(size * wave(place, 7.7) + 0.2 * np.random.default_rng(1).standard_normal(n))
    seen = rolling_amplitudes(samples, fit_lines(Whitening(samples), samples.value, [Tone(clock, 1 / 7.7)]), 0)
    expected = np.interp(seen.session, samples.session, size)
    assert np.abs(seen.amplitude - expected).max() < 6 * seen.error.max()
    assert seen.error.max() < 0.1
    assert (np.diff(seen.calendar) > 0).all()
    assert np.abs(seen.across).max() < 6 * seen.error.max()
    assert seen.whole == pytest.approx(1.0, abs=0.1)


def test_a_short_series_has_one_window(as_samples):
    samples = as_samples(wave(np.arange(100.0), 40.0))
    seen = rolling_amplitudes(
        samples, fit_lines(Whitening(samples), samples.value, [Tone("session", 1 / 40)]), 0, windows=5
    )
    assert len(seen.amplitude) == 5
    np.testing.assert_allclose(seen.amplitude, 1.0, atol=1e-6)


def test_a_phase_that_drifts_shows_across(as_samples):
    n = 2000
    drift = np.linspace(-1.2, 1.2, n)
    samples = as_samples(
        np.cos(2 * np.pi * np.arange(n) / 7.7 + drift**2) + 0.1 * np.random.default_rng(2).standard_normal(n)
    )
    seen = rolling_amplitudes(samples, fit_lines(Whitening(samples), samples.value, [Tone("session", 1 / 7.7)]), 0)
    np.testing.assert_allclose(np.hypot(seen.amplitude, seen.across), 1.0, atol=0.1)
    turned = np.arctan2(-seen.across, seen.amplitude)
    assert np.ptp(turned) > 0.7


def test_the_amplitude_that_is_drawn_is_that_of_a_line_that_was_fitted(as_panel):
    n = 1000
    t = np.arange(n)
    y = np.random.default_rng(1).standard_normal(n) + np.cos(2 * np.pi * t / 20.4) + np.cos(2 * np.pi * t / 9.1)
    found = detect_periods(as_panel(A=y), clock="session", alpha=0.01)
    fast = next(one for one in found if one.period == pytest.approx(9.1, rel=0.01))
    # its second harmonic, which was not fitted, is nearer to the other line
    third = replace(fast, period=3 * fast.period, harmonics=(2, 3))
    for one in (fast, third):
        assert found.stability(one).period == pytest.approx(9.1, rel=0.01)
