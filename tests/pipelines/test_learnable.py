import pandas as pd
import pytest

from fints.errors import SeriesError
from fints.settings import BacktestSettings, read_settings
from pipelines.learnable import learnable
from tests.pipelines.conftest import panel


def settings(*overrides):
    small = ["h=5", "n_windows=3", "input_size=200", *overrides]
    return read_settings(BacktestSettings, None, small)


LISTED = {
    "OLD": ("XNYS", "2017-01-03", "2018-12-31"),
    "NEW": ("XNYS", "2018-10-01", "2018-12-31"),
    "LAST": ("XNYS", "2018-12-20", "2018-12-31"),
}


def kept_of(*overrides):
    kept, folds, problems = learnable(panel(**LISTED), settings(*overrides))
    return set(kept["unique_id"]), folds, {p.unique_id: p.reason for p in problems}


def test_a_transformer_leaves_out_what_is_shorter_than_its_context():
    kept, _, problems = kept_of("models=[transformer, har]")
    assert kept == {"OLD"}
    assert set(problems) == {"NEW", "LAST"}
    assert "205 to learn from" in problems["NEW"]


def test_baselines_among_themselves_leave_out_only_what_one_of_them_refuses_and_say_its_least_length():
    kept, _, problems = kept_of("models=[har, naive]")
    assert kept == {"OLD", "NEW"}
    kept, _, problems = kept_of("models=[{kind: har, spans: [1, 60]}, naive]")
    assert kept == {"OLD"}
    assert "known values are too few for HAR-1-60 with h = 5" in problems["NEW"]
    assert "it needs 70" in problems["NEW"]


def test_a_warm_up_is_asked_of_every_series():
    kept, folds, problems = kept_of("models=[naive]", "warm_up=100")
    assert (kept, folds.warm_up) == ({"OLD"}, 100)
    assert "100 to learn from" in problems["NEW"]


def test_the_settings_of_the_windows_reach_the_folds():
    _, folds, _ = kept_of("models=[naive]", "train_size=50", "embargo=2", "purge=1", "step_size=3")
    assert (folds.input_size, folds.embargo, folds.purge, folds.step_size) == (50, 2, 1, 3)
    whole = panel(OLD=LISTED["OLD"])
    assert len(folds.training(whole, folds.cutoffs[0])) == 50


def test_a_series_listed_after_the_first_cutoff_is_left_out():
    listed = panel(OLD=LISTED["OLD"], MID=("XNYS", "2018-12-11", "2018-12-31"))
    kept, folds, problems = learnable(listed, settings("models=[naive]", "n_windows=2"))
    assert set(kept["unique_id"]) == {"OLD"}
    assert "MID" in {p.unique_id for p in problems}
    assert folds.cutoffs[0] > pd.Timestamp("2018-12-11")


def test_a_series_that_ends_after_the_first_cutoff_stays_whatever_its_length():
    lives = {
        "OLD": ("XNYS", "2010-01-04", "2018-12-31"),
        "GONE": ("XNYS", "2013-01-02", "2014-12-31"),
        "DEAD": ("XNYS", "2010-01-04", "2012-12-31"),
    }
    chosen = settings("models=[har]", "n_windows=250")
    kept, folds, problems = learnable(panel(**lives), chosen)
    assert folds.cutoffs[0] < pd.Timestamp("2014-06-01")
    assert set(kept["unique_id"]) == set(lives)
    assert problems == []
    taking_part = [set(folds.history(kept, cutoff)["unique_id"]) for cutoff in (folds.cutoffs[0], folds.cutoffs[-1])]
    assert taking_part == [{"OLD", "GONE"}, {"OLD"}]


def test_where_no_series_is_left_every_cause_is_said():
    with pytest.raises(SeriesError, match=r"NEW: too short.*OLD: too short"):
        learnable(panel(**LISTED), settings("models=[transformer]", "input_size=600"))
