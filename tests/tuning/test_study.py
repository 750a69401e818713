"""How a study is begun, by one process or by two at once."""

import threading

import pytest

from fints.errors import StoreError
from fints.tuning import Identity, StudyStore, summaries
from fints.tuning.space import Point
from fints.tuning.study import IDENTITY, begin, load

POINTS = (Point("as it stands", {"a": 0.0}, fixed=True), Point("from the plan", {"a": 0.0}))
SAME = Identity({"a": 1}, {})


def test_points_that_share_their_parameters_all_wait_in_order(store):
    begin(store, SAME, ["minimize"], POINTS)
    waiting = summaries(store)
    assert [(each.state, each.origin, each.fixed) for each in waiting] == [
        ("waiting", "as it stands", True),
        ("waiting", "from the plan", False),
    ]


def test_two_that_begin_at_once_begin_it_once(store):
    faults = []

    def one():
        try:
            begin(StudyStore(store.name, store.url), SAME, ["minimize"], POINTS)
        except Exception as error:  # noqa: BLE001 — told below
            faults.append(error)

    crew = [threading.Thread(target=one) for _ in range(4)]
    for each in crew:
        each.start()
    for each in crew:
        each.join()
    assert faults == []
    assert len(summaries(store)) == len(POINTS)


def test_a_study_whose_beginner_died_half_way_is_begun_to_its_end(store, monkeypatch):
    import optuna

    from fints.tuning import study as module
    from fints.tuning.quiet import quiet

    monkeypatch.setattr(module, "_BEGIN_SECONDS", 0.2)
    with quiet():
        half = optuna.create_study(storage=store.open(), study_name=store.name)
        module.enqueue(half, POINTS[0])
    begin(store, SAME, ["minimize"], POINTS)
    assert [each.origin for each in summaries(store)] == ["as it stands", "from the plan"]
    assert load(store).user_attrs[IDENTITY]["space"] == {"a": 1}


def test_a_study_that_is_not_there_is_named_with_its_storage(store):
    with pytest.raises(StoreError, match="no study 'valley'"):
        summaries(store)
