from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from fints.backtest.significance import compact_letters

MODELS = ["M1", "M2", "M3", "M4", "M5", "M6"]
PAIRS = list(combinations(MODELS, 2))


@settings(max_examples=200)
@given(st.sets(st.sampled_from(PAIRS)))
def test_two_models_share_a_letter_exactly_where_they_do_not_differ(different: set[tuple[str, str]]) -> None:
    letters = compact_letters(MODELS, sorted(different))
    for pair in PAIRS:
        shared = set(letters[pair[0]]) & set(letters[pair[1]])
        assert bool(shared) == (pair not in different)


@settings(max_examples=100)
@given(st.sets(st.sampled_from(PAIRS)), st.permutations(PAIRS))
def test_the_order_of_the_tests_and_of_a_pair_does_not_matter(
    different: set[tuple[str, str]], order: list[tuple[str, str]]
) -> None:
    turned = [(b, a) for a, b in order if (a, b) in different]
    assert compact_letters(MODELS, turned) == compact_letters(MODELS, sorted(different))


def test_the_example_of_piepho_with_no_difference_has_one_letter_and_the_first_model_has_a() -> None:
    assert set(compact_letters(MODELS, []).values()) == {"a"}
    apart = compact_letters(MODELS, PAIRS)
    assert list(apart.values()) == ["a", "b", "c", "d", "e", "f"]


def test_letters_go_on_after_z() -> None:
    models = [f"M{i}" for i in range(30)]
    letters = compact_letters(models, combinations(models, 2))
    assert letters["M25"] == "z"
    assert letters["M26"] == "a2"
    assert len(set(letters.values())) == 30
