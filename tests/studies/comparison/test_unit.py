from dataclasses import dataclass

import pytest

from fints.studies import Bench, Untracked
from fints.studies.comparison import (
    BARE,
    Arm,
    ArmTrial,
    Block,
    Comparison,
    Pair,
    Recipe,
    Scope,
    Shape,
    Task,
    Words,
)
from fints.studies.comparison.study import cells
from fints.studies.sources import Cycles
from fints.transformer import NetworkConfig, TrainingConfig

WAVE = Task(
    "wave",
    "a wave",
    Cycles((7.0,), (1.0,), sigma=0.1),
    Shape(trained=30, total=60, input_size=12, h=4, horizon=8, stride=5),
    Recipe(NetworkConfig(dim=16, n_layers=1, n_heads=2), TrainingConfig(max_steps=1, batch_size=2)),
)
ROPE, NONE = Arm("rope", "rope"), Arm("none", "none")


@dataclass(frozen=True)
class Read:
    """A unit that trains nothing and reads the kind of the encoding."""

    trial: ArmTrial

    def settings(self):
        return {"read": 1, **self.trial.settings()}

    def run(self):
        level = {"rope": 1.0, "none": 2.0}[self.trial.encoding.kind]
        return {"squared": [level] * 8, "learned": {}, "seconds": 0.0, "kind": self.trial.encoding.kind}


@pytest.fixture
def study():
    scope = Scope((Block((WAVE,), (ROPE, NONE), (BARE,), seeds=2), Block((WAVE,), (ROPE,), (BARE,), seeds=3)))
    words = Words(title="Readings", question="What is read?", why="", design="", limits="", consequences="")

    def verdict(results):
        return [" ".join(unit["kind"] for arm in results.arms for unit in results.units["wave", "bare", arm])]

    pairs = (Pair("rope", "none", bands=("all",)),)
    return Comparison("readings", words, pairs, {"quick": scope, "full": scope}, verdict, unit=Read)


def bench(folder, **given):
    return Bench(folder, "quick", 1, Untracked(), lambda done, total: None, **given)


def test_what_units_read_reaches_the_verdict_seed_by_seed(study, tmp_path):
    findings = study.run(bench(tmp_path))
    assert findings.verdicts[0] == "rope rope rope none none"
    assert findings.title == "Readings"
    assert (study.name, study.question) == ("readings", "What is read?")


def test_other_seeds_are_asked_for_as_of_any_study(study, tmp_path):
    assert study.run(bench(tmp_path, seeds=1)).verdicts[0] == "rope none"


def test_cells_come_in_rounds_of_a_seed_and_none_twice(study):
    listed = list(cells(study.scopes["quick"]))
    assert [(arm, seed) for _, _, arm, seed in listed] == [
        ("rope", 0),
        ("none", 0),
        ("rope", 1),
        ("none", 1),
        ("rope", 2),
    ]
