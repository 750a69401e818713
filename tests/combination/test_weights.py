import numpy as np
import pytest

from fints.combination import Weights
from fints.errors import ConfigError

WEIGHTS = Weights(("a", "b", "c"), (5,), np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]))


def test_each_step_has_the_weights_of_its_stretch():
    at = WEIGHTS.at(np.array([1, 5, 6, 500]))
    assert np.array_equal(at, WEIGHTS.values[[0, 0, 1, 1]])


def test_those_who_stay_share_in_proportion_what_the_others_had():
    assert WEIGHTS.of(["b", "c"]).values == pytest.approx(np.array([[1.0, 0.0], [0.375, 0.625]]))
    assert WEIGHTS.of(["c"]).values == pytest.approx(np.ones((2, 1)))


def test_the_frame_names_each_stretch():
    frame = WEIGHTS.to_frame()
    assert frame.loc[frame["member"] == "a", ["first", "last", "weight"]].astype(object).values.tolist()[0] == [
        1,
        5,
        0.5,
    ]
    assert frame["last"].isna().sum() == 3


def test_plain_values_and_back():
    again = Weights.from_plain(WEIGHTS.to_plain())
    assert (again.members, again.ends) == (WEIGHTS.members, WEIGHTS.ends)
    assert np.array_equal(again.values, WEIGHTS.values)


@pytest.mark.parametrize("plain", [{}, {"members": 1, "ends": [], "values": []}, {"members": ["a"], "ends": ["x"]}])
def test_something_else_is_refused(plain):
    with pytest.raises(ConfigError, match="learn them again"):
        Weights.from_plain(plain)


@pytest.mark.parametrize("values", [[[0.5, 0.6]], [[1.5, -0.5]], [[1.0]]])
def test_what_lies_off_the_simplex_is_refused(values):
    with pytest.raises(ConfigError, match="weights"):
        Weights(("a", "b"), (), np.array(values))
