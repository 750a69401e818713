import pandas as pd
import pytest

from pipelines.shelf import Holdout, Shelf


def test_a_holdout_comes_back_as_it_was():
    board = pd.DataFrame({"model": ["A", "B"], "RMSE": [0.1 + 1e-13, None], "problem": ["", "TrainingError: no"]})
    steps = pd.DataFrame({"model": ["A"], "step": [1], "RMSE": [1 / 3]})
    again = Holdout.from_json(Holdout(board, steps, ("better",)).to_json())
    pd.testing.assert_frame_equal(again.leaderboard, board, rtol=0, atol=1e-15)
    pd.testing.assert_frame_equal(again.by_step, steps, rtol=0, atol=1e-15)
    assert again.verdicts == ("better",)


@pytest.mark.parametrize("name", [".ipynb_checkpoints", "notes", "2018-12-31T0000"])
def test_a_folder_that_holds_no_model_is_passed_over(tmp_path, name):
    (tmp_path / name).mkdir()
    assert Shelf(tmp_path).find(pd.Timestamp("2019-01-02"), "XNYS", 20) is None
