import numpy as np
import pytest

from fints.studies.looking_back.routines import Echoes, Rhythms

ECHOES, RHYTHMS = Echoes(7, 35), Rhythms(7, 35)


@pytest.mark.parametrize("source", [ECHOES, RHYTHMS], ids=["echoes", "rhythms"])
def test_fewer_bars_of_a_seed_begin_more_of_them_and_another_seed_is_another_series(source):
    few, many, other = source.draw(100, 1), source.draw(200, 1), source.draw(200, 2)
    assert few.panel["y"].to_numpy() == pytest.approx(many.panel["y"].to_numpy()[:100])
    assert few.truth == pytest.approx(many.truth[:100])
    assert not np.allclose(many.truth, other.truth)


def test_what_echoes_leave_of_a_bar_is_a_new_cause_and_noise():
    drawn = Echoes(7, 35, rate=0.15, sigma=0.0).draw(4000, 3)
    new = drawn.panel["y"].to_numpy() - drawn.truth + 0.15
    caused = new > 0.25
    assert caused.mean() == pytest.approx(0.15, abs=0.02)
    assert new[~caused] == pytest.approx(0.0, abs=1e-9)
    assert new[caused].min() >= 0.5


def test_a_look_one_day_and_one_week_back_tells_what_no_other_lag_adds_to():
    values = ECHOES.draw(20_000, 0).panel["y"].to_numpy()
    back = (7, 35, 1, 14, 28, 42, 70)
    past = np.stack([values[70 - lag : len(values) - lag] for lag in back] + [np.ones(len(values) - 70)], axis=1)
    slopes = np.linalg.lstsq(past, values[70:], rcond=None)[0]
    assert slopes[:2] == pytest.approx(ECHOES.echo, abs=0.04)
    assert slopes[2:-1] == pytest.approx(0.0, abs=0.04)


def test_rhythms_repeat_by_the_week_and_not_by_the_day():
    truth = RHYTHMS.draw(140, 5).truth
    assert truth[35:] == pytest.approx(truth[:-35])
    assert np.abs(truth[7:] - truth[:-7]).max() > 0.1


@pytest.mark.parametrize("source", [ECHOES, RHYTHMS], ids=["echoes", "rhythms"])
def test_the_plan_says_day_and_week(source):
    assert sorted(cycle.period for cycle in source.plan("session").cycles) == [7, 35]
