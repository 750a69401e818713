import math

from fints.tracking import Dataset, flat
from fints.tracking.contents import split_finite


def test_settings_are_flattened():
    assert flat({"a": 1, "b": {"c": 2, "d": {"e": 3}}}) == {"a": 1, "b.c": 2, "b.d.e": 3}


def test_what_mlflow_would_drop_or_bend_is_taken_out():
    points, odd = split_finite({"a": {0: 1.0, 1: math.inf}, "b": {3: math.nan}})
    assert points == [("a", 0, 1.0)]
    assert odd["a"] == math.inf
    assert math.isnan(odd["b"])


def test_the_digest_of_data_is_no_longer_than_mlflow_allows():
    assert len(Dataset("x", "7" * 80, "file", 1).to_dict()["digest"]) == 36
