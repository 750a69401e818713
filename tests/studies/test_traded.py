import numpy as np
import pytest

from fints.errors import ConfigError
from fints.series import validate_panel
from fints.series.windows import clock_places
from fints.studies.traded import Traded

DAILY = Traded(by_order=(9.0,), by_time=(11 * 24.0,), sigma=0.0)
MINUTES = Traded(by_time=(0.8,), exchange="24/7", interval="1m", every=4, sigma=0.0)


@pytest.mark.parametrize("source", [DAILY, MINUTES], ids=["daily", "minutes"])
def test_the_truth_runs_with_the_order_of_bars_and_with_the_seconds_that_the_model_reads(source):
    drawn = source.draw(300, 1)
    seconds = clock_places(validate_panel(drawn.panel))["seconds"]
    since = seconds - seconds[0]
    waves = [np.sin(2 * np.pi * np.arange(300) / p) for p in source.by_order]
    waves += [np.sin(2 * np.pi * since / 3600 / p) for p in source.by_time]
    np.testing.assert_allclose(drawn.truth, np.sum(waves, axis=0), atol=1e-9)
    np.testing.assert_array_equal(drawn.panel["y"], drawn.truth)


def test_sessions_leave_weekends_out_so_that_order_and_time_differ():
    days = np.diff(DAILY.draw(300, 0).panel["ds"].to_numpy("datetime64[D]")).astype(int)
    assert set(days) == {1, 2, 3, 4}


def test_missing_bars_are_as_many_as_asked_for_at_random_places():
    minutes = [np.diff(MINUTES.draw(3000, seed).panel["ds"].to_numpy("datetime64[m]")).astype(int) for seed in (0, 1)]
    assert minutes[0].min() == 1
    assert minutes[0].mean() == pytest.approx(4, rel=0.05)
    assert not np.array_equal(*minutes)


@pytest.mark.parametrize("source", [DAILY, MINUTES], ids=["daily", "minutes"])
def test_more_bars_of_a_seed_continue_fewer(source):
    few, many = source.draw(50, 3), source.draw(120, 3)
    np.testing.assert_array_equal(few.truth, many.truth[:50])
    assert few.panel.equals(many.panel.head(50))


def test_the_plan_has_each_cycle_on_the_clock_on_which_it_runs():
    assert [(cycle.period, cycle.clock) for cycle in DAILY.plan("session")] == [(9.0, "session"), (11.0, "calendar")]


def test_a_series_without_a_cycle_is_refused():
    with pytest.raises(ConfigError, match="needs a cycle"):
        Traded()
