"""A claim passes if and only if the number computed is the one stated."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.studies.claims.claim import Above, Below, Claim, Near, Value, number
from fints.studies.claims.evidence import Evidence

PUBLISHED = [("0.7071", 1e-4), ("0.7300", 1e-4), ("420", 1.0), ("-1.7e-10", 1e-11), ("1.523e-8", 1e-11)]


@pytest.mark.parametrize(("text", "unit"), PUBLISHED)
@given(share=st.floats(-0.499, 0.499))
def test_a_published_number_is_met_by_all_that_round_to_it(text, unit, share):
    assert Value(text).met_by(float(text) + share * unit)


@pytest.mark.parametrize(("text", "unit"), PUBLISHED)
@given(share=st.floats(0.501, 1e6), sign=st.sampled_from([-1, 1]))
def test_a_published_number_is_not_met_by_any_other(text, unit, share, sign):
    assert not Value(text).met_by(float(text) + sign * share * unit)


def test_trailing_zeros_of_a_published_number_count():
    assert not Value("0.7300").met_by(0.7304)
    assert Value("0.73").met_by(0.7304)


@given(limit=st.floats(1e-9, 1e9), share=st.floats(1e-6, 10))
def test_limits_are_met_on_their_own_side_only(limit, share):
    more = limit * (1 + share)
    assert Below(more).met_by(limit)
    assert not Below(limit).met_by(more)
    assert Above(limit).met_by(more)
    assert not Above(more).met_by(limit)
    assert Near(limit, 1.01 * share * limit).met_by(more)
    assert not Near(limit, 0.99 * share * limit).met_by(more)


@pytest.mark.parametrize("stated", [Value("0.5"), Below(1.0), Above(0.0), Near(0.5, 1.0)])
def test_what_is_not_a_number_meets_nothing(stated):
    claim = Claim("a number", stated, math.nan)
    assert not claim.passed
    assert claim.result == "FAILED"


@pytest.mark.parametrize(
    ("claim", "computed", "result"),
    [
        (Claim("a", Value("0.7071"), 0.70710678), "0.707107", "agrees to 4 digits"),
        (Claim("a", Value("2"), 2.0), "2", "agrees to 1 digit"),
        (Claim("a", Value("0.7071"), 0.7072), "0.7072", "FAILED"),
        (Claim("a", Below(1e-12), 7.1e-15), "7.1e-15", "passed"),
        (Claim("a", Near(-0.5, 0.02), -0.49987), "-0.4999", "passed"),
    ],
)
def test_claims_say_what_was_computed_and_what_it_means(claim, computed, result):
    assert (claim.computed_text, claim.result) == (computed, result)


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        (Claim("a", Value("0.5"), 0.5, "[A] §1"), "number"),
        (Claim("a", Below(1.0), 0.5, "[A] §1"), "proposition"),
        (Claim("a", Value("0.5"), 0.5), "own"),
        (Claim("a", Value("0.5"), 0.5, "[A] §1", refutes="[A] says 1"), "refutation"),
    ],
)
def test_claims_count_as_what_was_published_or_as_our_own(claim, kind):
    assert claim.kind == kind
    assert (claim.result == "refutes the source") is (kind == "refutation")


@given(st.floats(1e-300, 1e300), st.integers(1, 12))
def test_written_numbers_can_be_read_again(value, digits):
    written = number(value, digits)
    assert float(written) == pytest.approx(value, rel=0.51 * 10 ** (1 - digits))
    assert "e+" not in written
    assert "e-0" not in written


def evidence(*computed):
    claims = [Claim(f"number {i}", Below(1.0), value) for i, value in enumerate(computed)]
    return Evidence("Numbers", "Some numbers.", claims, "Every number is below 1.")


def test_evidence_says_what_holds():
    good = evidence(0.1, 0.2)
    assert good.verdict == "Every number is below 1."
    assert good.chapter().tables[0].caption == "2 of 2 claims hold."


def test_evidence_that_fails_names_the_claim_and_both_numbers():
    bad = evidence(0.1, 3.0)
    assert bad.verdict == "Numbers: 1 of 2 claims do not hold. number 1: stated < 1, computed 3."
    chapter = bad.chapter()
    assert chapter.tables[0].caption == "1 of 2 claims hold."
    assert list(chapter.tables[0].frame["result"]) == ["passed", "FAILED"]
