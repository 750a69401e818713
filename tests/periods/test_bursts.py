import numpy as np
import pytest

from fints import detect_periods
from fints.periods.bursts import find_bursts
from fints.periods.lines import Tone, fit_lines
from fints.periods.peeling import peel
from fints.periods.search import Search
from fints.periods.whitening import Whitening

N = 1250


def wave(place: np.ndarray, period: float) -> np.ndarray:
    return np.cos(2 * np.pi * place / period + 1)


def bursts(samples, tones):
    peeled, _ = peel(samples, Search())
    fit = fit_lines(Whitening(samples), samples.value, tones) if tones else peeled.fit
    return find_bursts(samples, fit, range(len(fit.tones)), peeled.background, ["session", "calendar"])


@pytest.mark.parametrize("clock", ["session", "calendar"])
@pytest.mark.parametrize("amplitude", [1.0, 4.0])
def test_a_cycle_of_one_year_is_one_line_that_is_not_stable(clock, amplitude, civil_days, as_panel):
    day = np.arange(N)
    place = civil_days(N) if clock == "calendar" else day
    inside = (day >= 500) & (day < 750)
    y = np.random.default_rng(1).standard_normal(N) + amplitude * inside * wave(place, 9.3)
    found = detect_periods(as_panel(A=y), alpha=0.001)
    near = [one for one in found if abs(one.period / 9.3 - 1) < 0.1]
    (only,) = near
    assert only.clock == clock
    assert not only.stable
    assert abs(only.period - 9.3) < 4 * only.period_se
    assert only.period_se < 0.03
    assert "only about 2002-01" in only.note
    assert "to 2002-12" in only.note


@pytest.mark.parametrize("envelope", [np.ones(N), np.linspace(2, 0, N), np.where(np.arange(N) < N // 2, 1, 2)])
def test_a_cycle_of_all_years_is_no_burst_even_if_its_size_changes(envelope, as_samples):
    y = envelope * wave(np.arange(N), 9.3) + np.random.default_rng(2).standard_normal(N)
    assert bursts(as_samples(y), [Tone("session", 1 / 9.3)]) == []


def test_two_lines_side_by_side_are_no_burst(as_samples):
    first, second = 0.1, 0.1 + 1.6 / N
    day = np.arange(N)
    y = 2 * wave(day, 1 / first) + 2 * wave(day, 1 / second) + np.random.default_rng(3).standard_normal(N)
    assert bursts(as_samples(y), [Tone("session", first), Tone("session", second)]) == []


def test_the_error_of_a_burst_is_the_bound_in_its_window(as_samples):
    day, amplitude = np.arange(N), 2.0
    inside = (day >= 500) & (day < 750)
    y = np.random.default_rng(4).standard_normal(N) + amplitude * inside * wave(day, 9.3)
    (burst,) = bursts(as_samples(y), [])
    bound = np.sqrt(24 / (amplitude**2 * 250**3)) / (2 * np.pi)
    assert burst.error == pytest.approx(bound, rel=0.25)
    assert burst.amplitude == pytest.approx(amplitude, rel=0.1)
    day_zero = 7570
    expected = 2 * np.pi * (day + day_zero) * burst.tone.frequency + burst.phase
    assert burst.tone.clock == "session"
    np.testing.assert_allclose(np.cos(expected[inside]), wave(day[inside], 9.3), atol=0.35)
    assert abs(burst.first - 500) <= 40
    assert abs(burst.last - 750) <= 40
