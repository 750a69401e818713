import pytest

from fints.studies.learned_or_fixed.arms import BANK_FAST, FAST, FIXED, MAIN, PRIOR, ROPE, T_ROPE, WRONG_FAST, ZERO_FAST
from fints.studies.learned_or_fixed.chapters import chapters
from fints.studies.learned_or_fixed.study import TWO
from fints.studies.learned_or_fixed.verdicts import verdict


def test_equal_errors_are_a_no_that_keeps_the_default(make):
    said = verdict(make())[0]
    assert said.startswith("No: learning ClockRoPE's frequencies gains nothing")
    assert "6 are equal within 5 %" in said
    assert "`learn=False` stays" in said


def test_a_cost_of_learning_is_a_no_although_others_stay_open(make):
    said = verdict(make({FAST: 3.0}, spread=0.3))[0]
    assert said.startswith("No: learning ClockRoPE's frequencies costs more than it gains")
    assert "the larger in 2;" in said


def test_what_cannot_be_told_is_said_with_the_seeds_that_it_needs(make):
    said = verdict(make(spread=0.5))[0]
    assert "none is ruled out" in said
    assert "in seeds" in said


def test_a_gain_speaks_against_the_default(make):
    said = verdict(make({PRIOR: 0.5}))[0]
    assert "can gain" in said
    assert "speaks against `learn=False`" in said


def test_other_starts_banks_and_wrong_periods_have_a_sentence_each(make):
    said = verdict(make({ZERO_FAST: 2.0, T_ROPE: 3.0, BANK_FAST: 0.5, WRONG_FAST: 0.5}))
    starts, published, bank, learning, drawn, wrong = said[1:7]
    assert starts.startswith("Frequencies learned from zero")
    assert "the larger in 2;" in starts
    assert "Farthest: zero, learned fast has" in starts
    assert "Farthest: T-RoPE has" in published
    assert "smaller error in 4 of 4" in bank
    assert "smaller error in 2 of 2" in learning
    assert "2 are equal" in drawn
    assert "smaller error in 2 of 2" in wrong


@pytest.mark.parametrize(
    ("levels", "sign"),
    [({ZERO_FAST: 2.0}, "the same on two"), ({ROPE: 2.0}, "the opposite on two"), ({}, "no difference on two")],
)
def test_the_sign_that_was_reported_of_zero_is_found_or_not(make, levels, sign):
    (said,) = [one for one in verdict(make(levels)) if one.startswith("Of what was reported")]
    first = said.split(";")[0]
    assert "learned from zero is worse than the control" in first
    assert sign in first


def test_what_is_undecided_says_which_way_it_leans(make):
    (said,) = [one for one in verdict(make(spread=0.5)) if one.startswith("Of what was reported")]
    assert "cannot tell (leans" in said


def test_the_quick_budget_says_nothing_of_arms_that_it_lacks(make):
    said = verdict(make(arms=tuple(arm.name for arm in MAIN), tasks=(TWO,)))
    assert not any("5 % wrong" in one or "cosine" in one for one in said)
    assert "of 2 comparisons" in said[0]


def test_the_chapter_lists_every_claim_with_what_is_found_here(make):
    (reported,) = chapters(make({ZERO_FAST: 2.0}))
    frame = reported.tables[0].frame
    assert len(frame) == 12
    assert set(frame.loc[frame["by how much"] == "−1.44 %", "sign"]) == {"the same"}
    assert not chapters(make(arms=(FIXED,)))[0].tables
