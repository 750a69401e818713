from dataclasses import dataclass

import pytest
import torch

from fints.studies.ledger import Ledger
from fints.studies.work import run_units


@dataclass
class Square:
    value: int

    def settings(self):
        return {"value": self.value}

    def run(self):
        return {"square": self.value**2, "threads": torch.get_num_threads()}


def test_results_come_in_the_order_of_the_units_and_nothing_is_done_twice(tmp_path):
    ledger, told = Ledger(tmp_path / "units.jsonl"), []
    run_units([Square(3), Square(1)], ledger, 1, lambda *at: told.append(at))
    results = run_units([Square(1), Square(2), Square(3)], ledger, 1, lambda *at: told.append(at))
    assert [r["square"] for r in results] == [1, 4, 9]
    assert told == [(0, 2), (1, 2), (2, 2), (2, 3), (3, 3)]


def test_units_of_equal_settings_are_done_once_and_answered_each(tmp_path, monkeypatch):
    ran = []
    run = Square.run
    monkeypatch.setattr(Square, "run", lambda self: (ran.append(self.value), run(self))[1])
    told = []
    units = [Square(3), Square(2), Square(3)]
    results = run_units(units, Ledger(tmp_path / "units.jsonl"), 1, lambda *at: told.append(at))
    assert [r["square"] for r in results] == [9, 4, 9]
    assert ran == [3, 2]
    assert told == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(("workers", "missing", "processes"), [(8, 2, 2), (2, 8, 2), (8, 0, 1)])
def test_no_more_processes_are_started_than_there_is_work(tmp_path, monkeypatch, workers, missing, processes):
    import joblib

    asked = []

    class Parallel(joblib.Parallel):
        def __init__(self, n_jobs, **options):
            asked.append(n_jobs)
            super().__init__(n_jobs=1, **(options | {"pre_dispatch": 1}))

    monkeypatch.setattr(joblib, "Parallel", Parallel)
    run_units([Square(i) for i in range(missing)], Ledger(tmp_path / "units.jsonl"), workers, lambda *_: None)
    assert asked == [processes]


def test_every_unit_has_one_thread_whatever_the_process_has_and_the_process_gets_its_own_back(tmp_path):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        (result,) = run_units([Square(1)], Ledger(tmp_path / "units.jsonl"), 1, lambda *_: None)
        assert result["threads"] == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
