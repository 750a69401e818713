import numpy as np
import pytest

from fints.encodings import build
from fints.studies.comparison import BARE, Results
from fints.studies.exact_phases import exact_phases
from fints.studies.exact_phases.noise import instants
from fints.studies.exact_phases.noise_chapter import noise_chapter
from fints.studies.exact_phases.study import ARMS, DAYS, MINUTES, PAIRS
from fints.studies.exact_phases.verdicts import verdict


@pytest.mark.parametrize("arm", ARMS, ids=[arm.name for arm in ARMS])
@pytest.mark.parametrize("task", [MINUTES, DAYS], ids=["minutes", "days"])
def test_every_arm_builds_on_every_task(arm, task):
    net = task.recipe.network
    built = build(arm.config(task), dim=net.dim, n_heads=net.n_heads, n_layers=net.n_layers, seed=0)
    if "β = 100" in arm.name:
        assert set(built.query.betas) == {100.0}


def test_pairs_differ_in_their_phases_alone():
    arms = {arm.name: arm for arm in ARMS}
    for pair in PAIRS[:3]:
        first, second = arms[pair.first], arms[pair.second]
        assert first.config(MINUTES) == second.config(MINUTES)
        assert (first.trial is None, second.trial is None) == (False, True)
    assert exact_phases().name == "exact-phases"
    assert all(block.seeds >= 5 for scope in exact_phases().scopes.values() for block in scope.blocks)


def made(times=1.0, fast=1.0, spread=0.01, seeds=8):
    """Errors of float32 are `times` those of exact phases, those of β = 100 s `fast` times those of no position."""
    luck, units = np.exp(spread * np.random.default_rng(0).standard_normal(seeds)), {}
    for arm in ARMS:
        lucky = luck[::-1] if arm.name.startswith("float32") else luck  # no difference on average
        level = fast if "β" in arm.name else 1.0
        level *= times if arm.name.startswith("float32") else 1.0
        units["minutes", "bare", arm.name] = [
            {"squared": [float(level * one) ** 2] * 72, "learned": {}, "seconds": 1.0} for one in lucky
        ]
    named = {arm.name: arm for arm in ARMS}
    return Results("full", named, {"minutes": MINUTES}, {"bare": BARE}, units, PAIRS)


def test_noise_that_costs_accuracy_is_said_to():
    shares, effect, fast = verdict(made(times=1.5))
    assert "above 1 rad" in shares
    assert effect.startswith("The noise costs accuracy: float32 has the larger error in 6 of 6")
    assert "better nowhere" in fast
    assert effect.count("times (") == 6


def test_noise_that_helps_is_said_to():
    assert verdict(made(times=0.5))[1].startswith("The noise does not cost accuracy, it helps")


def test_no_effect_is_said_with_the_seeds_that_it_needs():
    assert "are equal within 5 %" in verdict(made())[1]
    assert "would need" in verdict(made(spread=0.5))[1]


def test_phases_at_100_seconds_that_still_tell_something_are_no_noise_alone():
    assert "better in 2 of 2" in verdict(made(fast=0.3))[2]


def test_the_chapter_has_a_row_for_every_kind_of_bars_and_a_line_for_it():
    (chapter,) = noise_chapter(made())
    assert [len(table.frame) for table in chapter.tables] == [len(instants())] * 2
    by_beta, by_year = chapter.charts
    assert [line.name for line in by_beta.lines][1:] == list(instants())
    assert all(line.y[-1] > line.y[0] for line in by_year.lines)
