import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.errors import ConfigError
from fints.series import validate_panel
from fints.series.windows import Tape
from fints.studies.planted import PlantedCycles

NOISY = PlantedCycles("noisy", "Noisy", (5.0, 20.0), (0.5, 0.3), sigma=0.3)


@given(period=st.integers(2, 60), amplitude=st.floats(0.1, 10))
@settings(max_examples=30)
def test_a_planted_cycle_repeats_with_its_period_and_starts_at_phase_zero(period, amplitude):
    y = PlantedCycles("x", "X", (float(period),), (amplitude,)).clean(4 * period)
    assert y[0] == 0
    np.testing.assert_allclose(y[period:], y[:-period], atol=1e-12 * amplitude)


@pytest.mark.parametrize("period", [5.0, 20.0, 23.7])
def test_the_spectrum_of_a_planted_cycle_stands_at_its_frequency(period):
    n = 2370
    power = np.abs(np.fft.rfft(PlantedCycles("x", "X", (period,), (1.0,)).clean(n)))
    assert np.argmax(power) == round(n / period)


def test_several_cycles_are_the_sum_of_each():
    both = PlantedCycles("x", "X", (5.0, 20.0), (0.5, 0.3)).clean(100)
    each = [PlantedCycles("x", "X", (p,), (a,)).clean(100) for p, a in ((5.0, 0.5), (20.0, 0.3))]
    np.testing.assert_allclose(both, sum(each), atol=1e-15)


def test_noise_has_the_stated_size_and_changes_with_the_seed_alone():
    noise = NOISY.observed(4000, 1) - NOISY.clean(4000)
    assert abs(noise.std() - 0.3) < 0.3 * 4 / np.sqrt(2 * 4000)
    np.testing.assert_array_equal(NOISY.observed(4000, 1), NOISY.observed(4000, 1))
    assert not np.array_equal(NOISY.observed(4000, 1), NOISY.observed(4000, 2))


def test_a_longer_series_continues_a_shorter_one():
    np.testing.assert_array_equal(NOISY.observed(400, 3)[:200], NOISY.observed(200, 3))


def test_the_panel_is_valid_and_its_clocks_run_alike():
    panel = NOISY.panel(50, 0)
    assert validate_panel(panel).equals(panel)
    clocks = Tape.from_panel(panel, (), ()).clocks
    np.testing.assert_array_equal(np.diff(clocks["session"]), 1)
    np.testing.assert_array_equal(np.diff(clocks["calendar"]), 1)
    np.testing.assert_array_equal(np.diff(clocks["seconds"]), 86_400)


def test_least_squares_on_the_planted_periods_continue_a_clean_series_exactly():
    task = PlantedCycles("x", "X", (5.0, 20.0, 60.0), (0.5, 0.3, 0.2))
    np.testing.assert_allclose(task.least_squares(task.clean(200), 400), task.clean(400), atol=1e-12)


def test_least_squares_average_noise_away():
    off = NOISY.least_squares(NOISY.observed(4000, 0), 8000) - NOISY.clean(8000)
    assert np.sqrt((off**2).mean()) < 3 * NOISY.sigma * np.sqrt(5 / 4000)


def test_the_plan_holds_the_planted_periods():
    assert [c.period for c in NOISY.plan()] == [5.0, 20.0]
    assert {c.clock for c in NOISY.plan("calendar")} == {"calendar"}


@pytest.mark.parametrize(("periods", "amplitudes"), [((), ()), ((5.0,), (1.0, 2.0))])
def test_periods_without_amplitudes_are_refused(periods, amplitudes):
    with pytest.raises(ConfigError, match="one of each"):
        PlantedCycles("x", "X", periods, amplitudes)
