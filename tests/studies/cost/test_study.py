import dataclasses
from types import MappingProxyType

import pytest

from fints.studies import Bench, Untracked
from fints.studies.cost import Cost, trial
from fints.studies.cost.loads import ENCODINGS, NIGHTLY
from fints.studies.cost.study import EXTENT, Part
from fints.studies.cost.trial import CostTrial
from fints.studies.ledger import settings_key
from fints.transformer import NetworkConfig

TINY = dataclasses.replace(
    NIGHTLY, network=NetworkConfig(dim=32, n_layers=1, n_heads=2, dropout=0.0), input_size=12, h=2, batch=2, rounds=1
)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(trial, "LOADS", MappingProxyType({"nightly": TINY}))


def test_units_run_one_at_a_time_in_this_process_and_none_twice(tiny, tmp_path):
    study = Cost({"quick": (Part("nightly", ("rope again", "cycle", "none"), 3),)})
    counts = []
    bench = Bench(tmp_path, "quick", 8, Untracked(), lambda done, total: counts.append((done, total)), seeds=2)
    first = study.run(bench)
    assert counts[0] == (0, 6)
    counts.clear()
    assert study.run(bench).verdicts == first.verdicts
    assert counts == [(6, 6)]
    assert any("cycle" in sentence for sentence in first.verdicts)


def test_load_encoding_repeat_and_machine_are_in_the_key(monkeypatch):
    trials = [CostTrial(load, name, i) for load in ("nightly", "large") for name in ENCODINGS for i in range(2)]
    keys = {settings_key(one.settings()) for one in trials}
    assert len(keys) == len(trials)
    monkeypatch.setattr(trial.platform, "machine", lambda: "another")
    assert settings_key(trials[0].settings()) not in keys


def test_both_budgets_time_every_encoding_on_the_nightly_model_at_least_five_times():
    for parts in EXTENT.values():
        assert all(part.repeats >= 5 for part in parts)
        assert any(part.load == "nightly" and set(part.encodings) == set(ENCODINGS) for part in parts)
