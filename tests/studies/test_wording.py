import re

from hypothesis import given
from hypothesis import strategies as st

from fints.studies.intervals import Interval
from fints.studies.wording import error, factor, number


@given(st.floats(1e-8, 1e8))
def test_a_number_is_written_to_two_digits_without_an_exponent(value):
    text = number(value)
    assert re.fullmatch(r"\d+(\.\d+)?", text)
    assert abs(float(text) - value) <= 0.051 * value
    assert len(text.replace(".", "").strip("0")) <= 2


def test_an_error_cannot_be_negative_but_its_interval_may():
    assert error(Interval(0.01, -0.005, 0.025, 5)) == "0.010 (95 % interval 0 to 0.025, 5 seeds)"


def test_one_seed_has_no_interval():
    nan = float("nan")
    assert error(Interval(0.01, nan, nan, 1)) == "0.010 (one seed)"
    assert factor(Interval(72.0, nan, nan, 1)) == "72 times"


def test_a_ratio_is_written_with_its_interval():
    assert factor(Interval(121.0, 57.2, 260.0, 5)) == "120 times (57 to 260)"
