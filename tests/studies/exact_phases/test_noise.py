import numpy as np

from fints.studies.exact_phases.noise import instants, noisy_share, phase_error, plane_error

BETAS = np.geomspace(1e2, 1e8, 13)
NOW = instants()["any second, 2020 to 2030"]


def test_the_error_today_is_about_a_radian_at_100_seconds_and_falls_with_beta():
    error = plane_error(NOW, np.full(13, 1.03), BETAS)
    assert 1 < error[0] < 2
    assert np.all(np.diff(error[:8]) < 0)
    # Held to 128 s, a time is at most 64 s off; the angles that are made of it are rounded as coarsely.
    seconds = error * BETAS / 1.03
    assert np.all((seconds > 50) & (seconds < 250))


def test_numbers_that_float32_holds_have_no_error():
    assert np.all(phase_error(np.array([0.0, 100.0, 12_800.0]), np.ones(1), np.array([100.0])) == 0)


def test_dates_that_are_later_have_more_noise_and_longer_banks_less():
    near, far = (noisy_share(seconds, 12) for seconds in (NOW[:400] - 1.5e9, NOW[:400]))
    slow = noisy_share(NOW, 12, (1e5, 1e8))
    assert near.above_tenth < far.above_tenth
    assert slow.above_tenth == 0
    assert 0 < far.above_one < far.above_tenth < 0.5
