from dataclasses import replace

import numpy as np
import pytest

from fints.studies.valley.protocol import PERIOD, PRIOR, TASK, ValleyProtocol, cramer_rao


def test_signal_and_noise_are_of_one_power():
    assert TASK.amplitudes[0] ** 2 / (2 * TASK.sigma**2) == pytest.approx(1.0)


def test_least_squares_reaches_the_bound_that_is_stated():
    """The bound of the period, against the scatter of the estimate that reaches it."""
    n, offs = 400, []
    t = np.arange(n)
    grid = np.linspace(-0.006, 0.006, 241)
    for seed in range(200):
        y = TASK.observed(n, seed)
        power = [abs(np.sum(y * np.exp(-2j * np.pi * t / (PERIOD * (1 + off))))) for off in grid]
        offs.append(grid[int(np.argmax(power))])
    assert np.std(offs) == pytest.approx(cramer_rao(n), rel=0.15)


def test_a_search_knows_what_is_before_the_test_period_and_no_more():
    how = ValleyProtocol()
    stages = how.tuner(seed=0).stages
    assert len(stages.panel) == how.bars
    assert len(stages.known) == how.known
    assert len(stages.test) == how.folds.test_windows
    assert len(stages.first) >= how.input_size + how.trained_h


def test_the_plan_holds_the_prior_and_random_search_learns_nothing():
    how = ValleyProtocol()
    assert [cycle.period for cycle in how.tuner(0).space.plan] == [PRIOR]
    assert how.tuner(0, "random").space.config.learn == "off"
    assert how.tuner(0).space.config.guard == how.tuner(0, "random").space.config.guard


def test_longer_is_longer_and_nothing_else():
    how = ValleyProtocol()
    short, long = (how.base({"kind": "cycle"}, 0, longer=longer).design for longer in (False, True))
    assert long.training.max_steps == how.longer * short.training.max_steps
    assert replace(long, training=short.training) == short


def test_settings_tell_results_apart():
    how = ValleyProtocol()
    assert how.settings() != replace(how, trials=41).settings()
    assert how.settings() != replace(how, folds=replace(how.folds, block=5)).settings()
