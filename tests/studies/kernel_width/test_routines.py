import numpy as np
import pytest

from fints.errors import ConfigError
from fints.studies.kernel_width.routines import Routines, harmonic_law

MANY = Routines((24.0,), (2.0,), 0.0, series=400)


def by_series(drawn, source):
    return drawn.truth.reshape(source.series, -1)


def test_phases_are_alike_by_the_gaussian_of_the_width():
    profiles = by_series(MANY.draw(24, 0), MANY)
    for distance in (0, 1, 2, 4, 8):
        covariance = np.mean(profiles * np.roll(profiles, distance, axis=1))
        assert covariance == pytest.approx(np.exp(-0.5 * (distance / 2.0) ** 2), abs=0.1)


def test_every_series_repeats_its_own_profile():
    source = Routines((24.0,), (2.0,), 1.0, series=3)
    profiles = by_series(source.draw(72, 0), source)
    assert profiles[:, :24] == pytest.approx(profiles[:, 24:48])
    assert np.abs(np.corrcoef(profiles)[np.triu_indices(3, 1)]).max() < 0.99


def test_more_bars_of_a_seed_continue_fewer_and_rows_belong_to_their_truth():
    source = Routines((8.0, 21.7), (1.0, 2.0), 1e-9, series=101)
    short, long = source.draw(20, 5), source.draw(30, 5)
    assert by_series(long, source)[:, :20] == pytest.approx(by_series(short, source))
    assert long.panel["y"].to_numpy() == pytest.approx(long.truth, abs=1e-6)
    assert list(long.panel["unique_id"]) == sorted(long.panel["unique_id"])
    assert source.draw(20, 6).digest != short.digest


def test_periods_add_up():
    both, one = Routines((8.0, 24.0), (1.0, 2.0), 0.0, 200), Routines((24.0,), (2.0,), 0.0, 200)
    assert both.draw(48, 0).truth.var() == pytest.approx(2 * one.draw(48, 1).truth.var(), rel=0.2)


def test_the_law_of_harmonics_is_that_of_clock_rope():
    from fints.encodings.kernels import PeriodicGaussianKernel

    law = harmonic_law(24.0, 2.0)
    pmf = PeriodicGaussianKernel(period=24.0, sigma=2.0, truncation=len(law) - 1).pmf()[len(law) - 1 :]
    assert law == pytest.approx(np.concatenate((pmf[:1], 2 * pmf[1:])))


def test_a_width_is_needed_for_each_period():
    with pytest.raises(ConfigError, match="2 periods and 1 widths"):
        Routines((8.0, 24.0), (1.0,))
