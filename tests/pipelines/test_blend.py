import json

import numpy as np
import pandas as pd
import pytest

from fints.combination import Weights
from fints.conformal import AdaptiveBands, Bands
from fints.conformal.adaptive import Pace
from fints.errors import ModelError
from fints.settings import load_settings
from pipelines.blend import Blend, blend
from tests.combination.test_learning import planted

MEMBERS = ("good", "bad")


@pytest.fixture(scope="module")
def frame():
    rows = planted({"good": 0.4, "bad": 1.2, "other": 0.5}, origins=40)
    return rows.assign(mean=rows["q50"], seed=0)


@pytest.fixture(scope="module")
def made(frame):
    return blend(frame, MEMBERS, {}, Pace())


def test_weights_come_from_the_members_alone(made):
    learned, rows = made
    assert learned.name == "Combination"
    assert learned.weights.members == MEMBERS
    assert (learned.weights.values[:, 0] > 0.8).all()
    assert set(rows["model"]) == {"Combination"}
    assert set(learned.value["member"]) == set(MEMBERS)
    assert learned.dropped == {}


def test_bands_stand_at_the_end_of_the_rows(made, frame):
    learned, _ = made
    assert pd.Timestamp(learned.bands.until) == frame["ds"].max()
    assert set(learned.bands.drifts) == {"A"}


def test_it_comes_back_from_json_as_it_was(made):
    learned, _ = made
    again = Blend.from_plain(json.loads(json.dumps(learned.to_plain())))
    assert again.to_plain() == learned.to_plain()
    assert np.array_equal(again.weights.values, learned.weights.values)
    assert again.bands.to_json() == learned.bands.to_json()


@pytest.mark.parametrize("part", ["weights", "bands"])
def test_something_else_is_no_blend(made, part):
    with pytest.raises(ValueError, match="again"):
        Blend.from_plain({**made[0].to_plain(), part: {"x": 1}})


def test_a_member_that_failed_on_the_hold_out_is_dropped_and_named(frame):
    learned, rows = blend(frame, (*MEMBERS, "broken"), {"broken": "ValueError: no", "Naive": "no member"}, Pace())
    assert learned.dropped == {"broken": "ValueError: no"}
    assert learned.weights.members == MEMBERS
    alone, rows = blend(frame, ("good", "broken"), {"broken": "ValueError: no"}, Pace())
    assert alone.name == "good"
    assert set(rows["model"]) == {"good"}


def test_nothing_is_left_where_every_member_failed(frame):
    with pytest.raises(ModelError, match="every member of the night failed on the hold-out: broken: no"):
        blend(frame, ("broken",), {"broken": "no"}, Pace())


def test_too_few_windows_to_learn_from_weigh_alike_and_say_so(frame):
    one = frame[frame["cutoff"] == frame["cutoff"].min()]
    learned, _ = blend(one, MEMBERS, {}, Pace())
    assert (learned.weights.values == 0.5).all()
    assert "count the same" in learned.notes[0]
    assert "as the members state them" in learned.notes[1]
    assert all(note.endswith("a longer tail (raise holdout.n_windows).") for note in learned.notes)
    assert learned.bands.until == one["ds"].max().isoformat()


def test_too_few_errors_for_a_band_are_said(frame):
    few = frame[frame["cutoff"].isin(np.sort(frame["cutoff"].unique())[:12])]
    learned, _ = blend(few, MEMBERS, {}, Pace())
    (said,) = learned.notes
    assert said.startswith("A band of 95 % takes 39 past errors, and there are 12: it reaches to the largest error")
    assert said.endswith("give a longer tail (raise holdout.n_windows).")


def test_a_later_failure_leaves_its_weight_to_the_others(made):
    learned, _ = made
    rest = learned.without({"bad": "ValueError: no", "Naive": "no member"})
    assert rest.weights.members == ("good",)
    assert rest.dropped == {"bad": "ValueError: no"}
    assert learned.without({}) is learned
    with pytest.raises(ModelError, match="good: no"):
        rest.without({"good": "no"})


def test_without_a_hold_out_members_count_the_same():
    made = Blend.untaught(["a", "b"], load_settings().bands, pd.Timestamp("2018-12-31"))
    assert made.weights.to_plain() == Weights.equal(["a", "b"]).to_plain()
    assert made.notes == ("Nothing was held out to learn weights from: a, b count the same.",)
    same = AdaptiveBands(Bands.none(), load_settings().bands.pace, until="2018-12-31T00:00:00")
    assert made.bands.to_json() == same.to_json()
    assert Blend.untaught(["a"], load_settings().bands, pd.Timestamp("2018-12-31")).notes == ()
