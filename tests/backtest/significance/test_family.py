from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.backtest.significance import diebold_mariano, family, holm


def losses(windows: int, seed: int, **worse: float) -> pd.DataFrame:
    """Losses with a part in common, of models that are worse by so much on average."""
    rng = np.random.default_rng(seed)
    shared = rng.chisquare(3, size=windows)
    return pd.DataFrame({name: shared + by + 0.5 * rng.chisquare(2, size=windows) for name, by in worse.items()})


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_steps_down_from_the_smallest(p_values: list[float]) -> None:
    ordered = sorted(range(len(p_values)), key=lambda i: p_values[i])
    expected, largest = np.empty(len(p_values)), 0.0
    for rank, i in enumerate(ordered):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        expected[i] = largest
    np.testing.assert_allclose(holm(p_values), expected)


def test_a_withheld_test_is_no_part_of_the_family() -> None:
    adjusted = holm([0.01, np.nan, 0.04])
    np.testing.assert_allclose(adjusted[[0, 2]], [0.02, 0.04])
    assert np.isnan(adjusted[1])
    assert np.isnan(holm([np.nan])).all()


def test_pairs_are_tested_by_diebold_mariano_and_adjusted_together() -> None:
    table = losses(25, 1, HAR=0.0, ETS=0.1, Naive=3.0)
    found = family(table, lag=1)
    assert found.pairs[["model", "against"]].to_numpy().tolist() == [["HAR", "ETS"], ["HAR", "Naive"], ["ETS", "Naive"]]
    alone = [diebold_mariano(table[a].to_numpy(), table[b].to_numpy(), lag=1) for a, b in found.pairs.to_numpy()[:, :2]]
    np.testing.assert_allclose(found.pairs["p_value"], [test.p_value for test in alone])
    np.testing.assert_allclose(found.pairs["p_holm"], holm([test.p_value for test in alone]))
    assert found.letters == {"HAR": "a", "ETS": "a", "Naive": "b"}
    assert found.sentence() == (
        "2 of 3 pairs of models differ over 25 windows, with at most 5 % chance of any false find (Holm); "
        "models that share a letter do not."
    )


def test_equal_models_get_one_letter_in_about_as_many_families_as_promised() -> None:
    names = dict.fromkeys(["A", "B", "C", "D"], 0.0)
    apart = [len(set(family(losses(25, seed, **names), lag=1).letters.values())) > 1 for seed in range(40)]
    assert np.mean(apart) < 0.08


def test_no_difference_is_said_in_words() -> None:
    found = family(losses(25, 3, HAR=0.0, ETS=0.0), lag=1)
    assert found.sentence().startswith("No two models can be told apart among 1 pair over 25 windows")


@pytest.mark.parametrize(
    ("windows", "names", "said"),
    [
        (5, {"HAR": 0.0, "ETS": 2.0}, "No two models were compared: 5 windows are too few"),
        (25, {"HAR": 0.0}, "No two models were compared."),
    ],
)
def test_without_a_test_there_are_no_letters(windows: int, names: dict[str, float], said: str) -> None:
    found = family(losses(windows, 1, **names), lag=1)
    assert found.letters == {}
    assert found.sentence().startswith(said)
