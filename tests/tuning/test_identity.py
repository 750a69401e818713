import logging

import pytest

from fints.errors import ConfigError
from fints.tuning import Identity

STORED = Identity({"guard": 0.35, "cycles": {"20 sessions": {"within": 0.35}}}, {"h": 20}, "data 1", "0.1").to_dict()


def test_the_same_search_is_let_through_whatever_its_values_were_before_json():
    Identity({"cycles": {"20 sessions": {"within": 0.35}}, "guard": 0.35}, {"h": 20}, "data 1", "0.1").require_same(
        STORED, "mine"
    )
    tuples = Identity({"a": (1, 2)}, {}).to_dict()
    Identity({"a": [1, 2]}, {}).require_same(tuples, "mine")


def test_every_difference_is_shown_key_by_key_with_both_values():
    other = Identity({"guard": 0.2, "cycles": {"21 sessions": {"within": 0.35}}}, {"h": 20}, "data 2", "0.1")
    with pytest.raises(ConfigError) as caught:
        other.require_same(STORED, "mine")
    told = str(caught.value)
    assert "'mine'" in told
    assert "space.guard: 0.35 there, 0.2 here" in told
    assert "space.cycles.20 sessions: {'within': 0.35} there, nothing here" in told
    assert "space.cycles.21 sessions: nothing there" in told
    assert "data: 'data 1' there, 'data 2' here" in told
    assert "settings" not in told


def test_another_version_of_the_code_is_told_and_not_refused(caplog):
    same = Identity({"guard": 0.35, "cycles": {"20 sessions": {"within": 0.35}}}, {"h": 20}, "data 1", "0.2")
    with caplog.at_level(logging.WARNING):
        same.require_same(STORED, "mine")
    assert "0.1" in caplog.text
    assert "0.2" in caplog.text
