import numpy as np
import pytest

from fints.studies.curves import score_curves, slug
from fints.studies.scores import Score


def test_curves_hold_the_headline_and_the_error_by_horizon_and_by_seed():
    errors = np.array([[3.0, 1.0], [4.0, 1.0]])
    curves = score_curves("task", Score("arm", errors, errors, errors, errors))
    assert curves["by_horizon/task.rmse"] == pytest.approx({1: np.sqrt(12.5), 2: 1.0})
    assert curves["by_seed/task.extrapolation_rmse"] == pytest.approx({0: np.sqrt(5.0), 1: np.sqrt(8.5)})
    assert curves["headline/task.extrapolation_rmse"][0] == pytest.approx((np.sqrt(5.0) + np.sqrt(8.5)) / 2)
    assert curves["headline/task.low"][0] < curves["headline/task.high"][0]


def test_of_one_seed_no_interval_is_kept():
    errors = np.ones((1, 3))
    assert "headline/task.low" not in score_curves("task", Score("arm", errors, errors, errors, errors))


def test_a_slug_has_no_sign_that_a_tracker_refuses():
    assert slug("cycle, learned, +1 %") == "cycle_learned_1"
