from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from arch.bootstrap import MCS, SPA

from fints.backtest.significance import bootstrap, confidence_set, superior_ability
from fints.backtest.significance.bootstrap import REPETITIONS
from fints.errors import ConfigError, UnknownNameError


def losses(windows: int, seed: int, **worse: float) -> pd.DataFrame:
    """Skewed losses with a part in common, of models that are worse by so much on average."""
    rng = np.random.default_rng(seed)
    shared = rng.chisquare(3, size=windows)
    return pd.DataFrame({name: shared + by + 0.5 * rng.chisquare(2, size=windows) for name, by in worse.items()})


CLEAR = losses(25, 1, Naive=3.0, HAR=0.0, ETS=0.1, Drift=4.0)


def test_the_set_is_that_of_the_package_under_the_names_of_the_models() -> None:
    test = MCS(CLEAR, 0.1, reps=REPETITIONS, block_size=2, method="max", seed=0)
    test.compute()
    found = confidence_set(CLEAR, lag=1)
    assert set(found.models) == set(test.included) == {"HAR", "ETS"}
    assert set(found.left_out) == set(test.excluded)


def test_models_in_the_set_stand_in_the_order_of_their_losses() -> None:
    found = confidence_set(CLEAR, lag=1)
    assert list(found.models) == CLEAR[list(found.models)].mean().sort_values().index.tolist()
    best, second = found.models
    assert found.sentence() == (
        f"The best model is one of {best} and {second}, and none of Naive and Drift, "
        "over 25 windows (90 % model confidence set)."
    )


def test_a_copy_of_a_model_changes_nothing_and_shares_its_fate() -> None:
    copied = CLEAR.assign(Copy=CLEAR["HAR"], Twin=CLEAR["Naive"])
    alone, found = confidence_set(CLEAR, lag=1), confidence_set(copied, lag=1)
    assert found.p_values["Copy"] == found.p_values["HAR"]
    assert found.p_values["Twin"] == found.p_values["Naive"]
    assert {name: found.p_values[name] for name in CLEAR} == dict(alone.p_values)


def test_a_model_that_is_always_worse_by_the_same_is_left_out() -> None:
    found = confidence_set(CLEAR[["HAR"]].round().assign(More=CLEAR["HAR"].round() + 1), lag=1)
    assert (found.models, found.left_out) == (("HAR",), ("More",))


def test_the_best_model_is_left_out_no_more_often_than_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "REPETITIONS", 100)
    names = dict.fromkeys(["A", "B", "C", "D", "E"], 0.0)
    lost = ["A" in confidence_set(losses(15, seed, **names), lag=1).left_out for seed in range(30)]
    # with the statistic of the range, T_R, one in four are lost
    assert np.mean(lost) <= 0.15


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (CLEAR.head(14), "14 windows are too few for a test to mean anything; it needs 15"),
        (CLEAR[["HAR"]], "there is only one model"),
        (CLEAR[["HAR"]].assign(Copy=CLEAR["HAR"]), "all models lose the same in every window"),
    ],
)
def test_a_set_that_cannot_be_found_leaves_no_model_out_and_says_why(table: pd.DataFrame, said: str) -> None:
    found = confidence_set(table, lag=1)
    assert set(found.models) == set(table.columns)
    assert found.left_out == ()
    assert said in found.sentence()


def test_one_clear_winner_is_called_the_best() -> None:
    found = confidence_set(CLEAR[["HAR", "Naive"]], lag=1)
    assert found.sentence() == "HAR is the best of 2 models over 25 windows (90 % model confidence set)."


def test_equal_models_may_all_be_the_best() -> None:
    found = confidence_set(losses(25, 4, A=0.0, B=0.0), lag=1)
    assert found.sentence().startswith("Any of the 2 models may be the best one over 25 windows")


def test_a_beaten_benchmark_is_named_with_those_that_beat_it() -> None:
    found = superior_ability(CLEAR, "Naive", lag=1)
    assert set(found.better) == {"HAR", "ETS"}
    assert found.sentence() == (
        "HAR and ETS are better than Naive over 25 windows (superior predictive ability p < 0.001)."
    )


def test_the_p_value_is_the_consistent_one_of_the_package() -> None:
    table = losses(25, 7, HAR=0.15, ETS=0.1, ARIMA=0.0)
    test = SPA(table["HAR"], table[["ETS", "ARIMA"]], block_size=2, reps=REPETITIONS, seed=0)
    test.compute()
    found = superior_ability(table, "HAR", lag=1)
    assert found.p_value == pytest.approx(test.pvalues["consistent"])


def test_a_benchmark_that_is_not_beaten_is_said_so() -> None:
    found = superior_ability(CLEAR, "HAR", lag=1)
    assert found.better == ()
    assert found.sentence().startswith("No model is shown to be better than HAR over 25 windows (superior")


def test_trying_many_useless_models_does_not_beat_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "REPETITIONS", 100)
    names = {f"M{i}": 0.0 for i in range(8)}
    beaten = [superior_ability(losses(20, seed, **names), "M0", lag=1).p_value < 0.05 for seed in range(20)]
    assert np.mean(beaten) <= 0.15


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (CLEAR.head(14), "14 windows are too few"),
        (CLEAR[["HAR"]].assign(Copy=CLEAR["HAR"]), "no other model has other losses"),
    ],
)
def test_a_test_that_means_nothing_is_withheld(table: pd.DataFrame, said: str) -> None:
    found = superior_ability(table, "HAR", lag=1)
    assert np.isnan(found.p_value)
    assert said in found.sentence()


def test_unknown_models_and_confidences_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown model 'Cycle'"):
        superior_ability(CLEAR, "Cycle", lag=1)
    with pytest.raises(ConfigError, match="between 0 and 1"):
        confidence_set(CLEAR, lag=1, confidence=90)


def test_every_model_may_beat_the_baseline_in_more_than_one_step() -> None:
    rng, stepped = np.random.default_rng(1), 0
    for _ in range(10):
        noise = rng.normal(size=(25, 4)) ** 2
        table = pd.DataFrame({"Naive": noise[:, 0] + 3, "A": noise[:, 1], "B": noise[:, 2] + 1, "C": noise[:, 3] + 1.9})
        table[["B", "C"]] += 2 * rng.normal(size=(25, 2))
        found = superior_ability(table, "Naive", lag=1)
        once = SPA(table["Naive"].to_numpy(), table[["A", "B", "C"]].to_numpy(), block_size=2, reps=REPETITIONS, seed=0)
        once.compute()
        assert found.p_value == once.pvalues["consistent"]
        assert {"ABC"[i] for i in once.better_models(0.05)} <= set(found.better)
        stepped += len(found.better) == 3 > len(once.better_models(0.05))
    assert stepped
