import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.studies.planted import PlantedCycles
from fints.studies.trial import Trial
from fints.studies.unknown_period.arms import CLOCK, CYCLE, Arm
from fints.studies.unknown_period.tellings import KNOWN, Telling
from fints.studies.unknown_period.theory import expected_errors, phase_errors

periods = st.floats(5.0, 60.0)
offs = st.floats(-0.1, 0.1)


@given(periods)
def test_a_period_that_is_right_costs_nothing(period):
    np.testing.assert_allclose(expected_errors(period, period, 40, 200), 0.0, atol=1e-12)


@given(periods, offs, st.integers(1, 60))
def test_the_phase_is_right_in_the_middle_of_the_trained_horizon_and_drifts_by_the_same_at_every_bar(period, off, h):
    phase = phase_errors(period, period * (1 + off), h, 200)
    assert phase[:h].mean() == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(np.diff(phase), 2 * np.pi * (1 / (period * (1 + off)) - 1 / period), atol=1e-9)


@given(periods, st.floats(1e-6, 1e-4))
def test_a_small_phase_costs_its_size_over_the_root_of_two(period, off):
    phase = phase_errors(period, period * (1 + off), 40, 200)
    np.testing.assert_allclose(
        expected_errors(period, period * (1 + off), 40, 200), np.abs(phase) / np.sqrt(2), atol=1e-5
    )


@settings(max_examples=30)
@given(periods, offs, st.integers(5, 60))
def test_it_is_the_error_of_the_best_wave_of_that_period_over_all_phases_of_the_window(period, off, h):
    """Least squares over the trained horizon and many phases, one gain and one lag for all of them."""
    told, steps = period * (1 + off), 200
    starts = np.arange(64) / 64
    t = np.arange(1, steps + 1)
    signal = np.sin(2 * np.pi * (t / period + starts[:, None]))
    basis = [np.sin(2 * np.pi * (t / told + starts[:, None] + quarter)) for quarter in (0.0, 0.25)]
    trained = np.stack([wave[:, :h].ravel() for wave in basis], axis=1)
    gains = np.linalg.lstsq(trained, signal[:, :h].ravel(), rcond=None)[0]
    off_by = gains[0] * basis[0] + gains[1] * basis[1] - signal
    np.testing.assert_allclose(expected_errors(period, told, h, steps), np.sqrt((off_by**2).mean(axis=0)), atol=1e-7)


@pytest.mark.parametrize("encoding", [CYCLE, CLOCK])
def test_places_a_told_period_apart_are_one_place_to_the_network(small, encoding):
    """The premise: the forecast repeats with what was told, not with what is there."""
    task = PlantedCycles("x", "X", (6.0,), (1.0,))
    arm = Arm(encoding, KNOWN)
    told = Telling("wrong", off=-1 / 6)
    plan = Arm(encoding, told).plan(task, detected=0.0)
    assert [cycle.period for cycle in plan] == [5.0]
    beyond = np.array(Trial(task, arm.config, plan, 0, small).run()["beyond"])
    np.testing.assert_allclose(beyond[5:], beyond[:-5], atol=2e-6)
    assert np.ptp(beyond) > 1e-3
