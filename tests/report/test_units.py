from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.report.units import UNITS, compact, percent, signed_percent, unit_of
from fints.series.targets import TARGETS


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.42e9, "3.42 B"), (870e6, "870 M"), (12_345, "12.3 k"), (999.6, "1.00 k"), (0.01234, "0.0123"),
        (0, "0"), (-2.5e6, "−2.50 M"), (1e12, "1.00 T"), (7, "7.00"), (np.nan, "–"), (np.inf, "–"),
    ],
)  # fmt: skip
def test_numbers_have_three_digits_and_a_scale(value: float, text: str) -> None:
    assert compact(value) == text


@given(st.floats(1e-3, 9e14))
def test_a_written_number_is_within_half_a_percent(value: float) -> None:
    number, *scale = compact(value).split(" ")
    factor = {"": 1, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}[scale[0] if scale else ""]
    assert float(number) * factor == pytest.approx(value, rel=0.006)


@pytest.mark.parametrize(("ratio", "text"), [(1.124, "+12 %"), (0.8, "−20 %"), (1.001, "±0 %")])
def test_a_ratio_is_written_as_a_change(ratio: float, text: str) -> None:
    assert signed_percent(ratio) == text


def test_percents_keep_small_values() -> None:
    assert (percent(0.6361), percent(-12.34)) == ("0.636 %", "−12.3 %")


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_target_has_a_unit_that_keeps_the_order_of_quantiles(target: str) -> None:
    assert target in UNITS
    values = np.linspace(-8, 2, 50)
    assert (np.diff(unit_of(target).natural(values)) > 0).all()


def test_log_targets_come_back_to_what_was_measured() -> None:
    assert unit_of("log_volume").natural(np.log([3.5e9]))[0] == pytest.approx(3.5e9)
    assert unit_of("log_range").natural(np.log([0.008]))[0] == pytest.approx(0.8)
    assert unit_of("log_return").natural(np.log([1.02]))[0] == pytest.approx(2.0)


def test_an_unknown_target_is_shown_as_it_is() -> None:
    unit = unit_of("my_signal")
    assert unit.title == "My signal"
    assert unit.natural(np.array([1.5]))[0] == 1.5
    assert unit.write(1.5) == "1.50"
