import numpy as np
import pytest

from fints.errors import ConfigError
from fints.studies.kernel_width.optimum import Optimum, slope

DIVISORS = (48.0, 24.0, 12.0)


def made(own, best, spread, seeds=6):
    """Errors that are least at `best`, by a tenth, with luck of its own for every width."""
    luck = np.random.default_rng(0).standard_normal((seeds, 3))
    levels = np.where(np.array(DIVISORS) == best, 0.9, 1.0)
    return Optimum(own, DIVISORS, levels * np.exp(spread * luck))


def test_a_clear_optimum_is_found_and_sure():
    one = made(24.0, 24.0, 0.01)
    assert (one.best, one.ends, one.agrees, one.tells) == (24.0, (24.0, 24.0), True, True)
    assert not one.refuted
    assert one.rise(12.0).mean == pytest.approx(1 / 0.9, rel=0.02)


def test_an_optimum_elsewhere_contradicts_the_theory():
    one = made(48.0, 12.0, 0.01)
    assert not one.agrees
    assert one.refuted
    assert one.best == 12.0


def test_one_seed_refutes_nothing():
    assert not made(48.0, 12.0, 0.01, seeds=1).refuted


def test_luck_leaves_it_open():
    one = made(24.0, 24.0, 3.0)
    assert one.agrees
    assert not one.tells
    assert one.ends == (48.0, 12.0)


def test_the_slope_is_one_where_the_best_width_is_the_routines_own_and_zero_where_it_stays():
    follows = [made(own, own, 0.01) for own in DIVISORS]
    stays = [made(own, 24.0, 0.01) for own in DIVISORS]
    assert slope(follows).mean == pytest.approx(1.0)
    assert slope(follows).low == pytest.approx(1.0)
    assert slope(stays).mean == pytest.approx(0.0, abs=1e-12)


def test_the_grid_has_to_hold_the_routines_own_width():
    with pytest.raises(ConfigError, match="T/7"):
        Optimum(7.0, DIVISORS, np.ones((2, 3)))
