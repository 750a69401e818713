import pandas as pd
import pytest

from fints.errors import SeriesError
from pipelines.holdout import Holdout, comparable
from tests.pipelines.conftest import panel


def test_a_holdout_comes_back_as_it_was():
    board = pd.DataFrame({"model": ["A", "B"], "RMSE": [0.1 + 1e-13, None], "problem": ["", "TrainingError: no"]})
    steps = pd.DataFrame({"model": ["A"], "step": [1], "RMSE": [1 / 3]})
    held = pd.DataFrame({"by": ["horizon"], "group": ["1"], "cov80": [0.8], "n": [12]})
    again = Holdout.from_json(Holdout(board, steps, ("better",), held).to_json())
    pd.testing.assert_frame_equal(again.coverage, held)
    assert again.events.empty
    pd.testing.assert_frame_equal(again.leaderboard, board, rtol=0, atol=1e-15)
    pd.testing.assert_frame_equal(again.by_step, steps, rtol=0, atol=1e-15)
    assert again.verdicts == ("better",)


def test_a_series_too_short_before_the_first_cutoff_is_not_compared():
    """On an exchange that never closes, more bars lie behind the cutoff than on the one that sets it."""
    history = panel(
        LONG=("XNYS", "2014-01-02", "2018-12-31"),
        COIN=("24/7", "2018-04-10", "2018-12-31"),
    )
    assert (history["unique_id"] == "COIN").sum() > 100 + 20 + 11 * 10
    kept, training, left_out = comparable(history, 100, 10, 12, 10)
    assert left_out == ["COIN"]
    assert kept["unique_id"].unique().tolist() == ["LONG"]
    assert len(training) == len(kept) - 12 * 10


def test_nothing_to_compare_says_why():
    history = panel(A=("XNYS", "2018-06-01", "2018-12-31"))
    with pytest.raises(SeriesError, match="A: too short"):
        comparable(history, 252, 20, 12, 20)
