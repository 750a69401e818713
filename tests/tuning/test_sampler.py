import math

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution

from fints.tuning.quiet import quiet
from fints.tuning.refinement import Cell, Refinement
from fints.tuning.sampler import CoarseToFine, chosen, evenly, seed_of

FLOAT, CHOICE = FloatDistribution(0, 1), CategoricalDistribution([1, 2])


@pytest.mark.parametrize(
    ("name", "space", "multi", "expected"),
    [
        ("auto", {"a": FLOAT}, False, "gp"),
        ("auto", {str(i): FLOAT for i in range(9)}, False, "tpe"),
        ("auto", {"a": FLOAT, "b": CHOICE}, False, "tpe"),
        ("auto", {"a": FLOAT}, True, "tpe"),
        ("random", {"a": FLOAT}, False, "random"),
    ],
)
def test_a_gaussian_process_draws_where_all_is_smooth_and_small(name, space, multi, expected):
    assert chosen(name, space, multi=multi) == expected


def test_no_two_trials_have_one_seed():
    assert len({seed_of(7, number) for number in range(2000)} | {seed_of(8, number) for number in range(2000)}) == 4000


@pytest.mark.parametrize("name", ["gp", "tpe", "random"])
def test_a_study_that_goes_on_does_not_draw_again_what_it_drew(name):
    """Optuna's own samplers of one seed start over when a study is loaded again; this one may not."""
    storage = optuna.storages.InMemoryStorage()
    drawn = []
    with quiet():
        for _ in range(3):  # three processes, one after the other
            study = optuna.create_study(
                storage=storage, study_name="s", load_if_exists=True, sampler=CoarseToFine(name, 0, 100, None)
            )
            for _ in range(6):
                trial = study.ask({"a": FLOAT, "b": FLOAT})
                drawn.append(tuple(trial.params.values()))
                study.tell(trial, sum(trial.params.values()))
    assert len(set(drawn)) == 18


def test_what_a_trial_draws_does_not_depend_on_where_the_study_was_stopped():
    def drawn(stops):
        storage, found = optuna.storages.InMemoryStorage(), []
        with quiet():
            for number in range(6):
                if number == 0 or number in stops:
                    study = optuna.create_study(
                        storage=storage, study_name="s", load_if_exists=True, sampler=CoarseToFine("tpe", 0, 100, None)
                    )
                trial = study.ask({"a": FLOAT})
                found.append(trial.params["a"])
                study.tell(trial, trial.params["a"])
        return found

    assert drawn(()) == drawn((2, 3, 5))


def test_a_search_is_coarse_for_as_many_trials_as_were_said_then_fine():
    refinement = Refinement({"c": Cell(20.0, 0.35, 0.01)})
    with quiet():
        study = optuna.create_study(sampler=CoarseToFine("random", 0, 3, refinement))
        stages = []
        for _ in range(5):
            trial = study.ask({"delta[c]": FloatDistribution(-0.35, 0.35)})
            stages.append(study.sampler.fine)
            trial.set_user_attr("end", {"c": 21.0})
            study.tell(trial, abs(trial.params["delta[c]"]))
    assert stages == [False, False, False, True, True]


def test_a_sampler_that_asks_for_an_edge_again_is_sent_elsewhere(monkeypatch):
    class Stubborn(optuna.samplers.RandomSampler):
        def infer_relative_search_space(self, study, trial):
            return {"a": FLOAT, "b": FloatDistribution(1, 100, log=True)}

        def sample_relative(self, study, trial, search_space):
            return {"a": 1.0, "b": 1.0 + 1e-6 * trial.number}

    monkeypatch.setattr(
        "fints.tuning.sampler.make_sampler",
        lambda name, seed: optuna.samplers.RandomSampler(seed) if name == "random" else Stubborn(seed),
    )
    with quiet():
        study = optuna.create_study(sampler=CoarseToFine("gp", 0, 100, None))
        for number in range(4):
            trial = study.ask({"a": FLOAT, "b": FloatDistribution(1, 100, log=True)})
            study.tell(trial, float(number))
    assert [round(each.params["b"], 4) == 1 for each in study.trials] == [True, False, False, False]


def test_a_sampler_that_breaks_down_is_replaced_by_chance(monkeypatch):
    class Broken(optuna.samplers.RandomSampler):
        def infer_relative_search_space(self, study, trial):
            return {"a": FLOAT}

        def sample_relative(self, study, trial, search_space):
            raise ValueError("probabilities contain NaN")

    monkeypatch.setattr(
        "fints.tuning.sampler.make_sampler",
        lambda name, seed: optuna.samplers.RandomSampler(seed) if name == "random" else Broken(seed),
    )
    with quiet():
        study = optuna.create_study(sampler=CoarseToFine("gp", 0, 100, None))
        assert 0 <= study.ask({"a": FLOAT}).params["a"] <= 1


@pytest.mark.parametrize("count", [5, 10, 20, 40])
def test_first_draws_leave_no_gap_that_chance_would(count):
    points = np.sort([evenly(0, 1, seed=3, number=2 + i) for i in range(count)])
    gaps = np.diff(np.concatenate([points, [points[0] + 1]]))
    assert gaps.max() < 2 / count


def test_first_draws_fill_a_square_better_than_chance():
    """Largest distance from any place to the nearest point, on a torus."""
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 21)[:-1]] * 2), axis=-1).reshape(-1, 1, 2)

    def hole(points):
        apart = np.abs(grid - points[None])
        return np.sqrt((np.minimum(apart, 1 - apart) ** 2).sum(axis=-1)).min(axis=1).max()

    even = np.array([[evenly(k, 2, seed=0, number=n) for k in range(2)] for n in range(16)])
    chance = [hole(np.random.default_rng(seed).uniform(size=(16, 2))) for seed in range(50)]
    assert hole(even) < np.quantile(chance, 0.1)


def test_spread_parameters_are_drawn_evenly_by_number_and_others_are_not():
    space = {"a": FLOAT, "b": FloatDistribution(1, 100, log=True), "c": CHOICE}
    with quiet():
        study = optuna.create_study(sampler=CoarseToFine("tpe", 5, 100, None, ("a", "b", "c")))
        for number in range(6):
            trial = study.ask(space)
            study.tell(trial, float(number))
    drawn = [trial.params for trial in study.trials]
    begun = seed_of(5, 0)
    assert [each["a"] for each in drawn] == [evenly(0, 3, begun, n) for n in range(6)]
    assert [math.log(each["b"], 100) for each in drawn] == pytest.approx([evenly(1, 3, begun, n) for n in range(6)])
