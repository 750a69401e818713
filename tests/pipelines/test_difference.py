import numpy as np
import pandas as pd
import pytest

from fints.forecast import QUANTILE_COLUMNS
from pipelines.difference import first_difference


@pytest.fixture
def rows():
    key = [(name, "log_volume", step) for name in ("AAA", "BBB") for step in (1, 2, 3)]
    frame = pd.DataFrame(key, columns=["unique_id", "target", "step"])
    numbers = np.random.default_rng(0).normal(size=(len(frame), 1 + len(QUANTILE_COLUMNS)))
    frame[["mean", *QUANTILE_COLUMNS]] = numbers
    return frame.assign(ds=pd.Timestamp("2025-03-10"), model="HAR")


def test_equal_forecasts_have_no_difference_in_whatever_order(rows):
    assert first_difference(rows, rows.iloc[::-1].reset_index(drop=True)) == ""


def test_the_last_bit_of_one_number_is_a_difference(rows):
    stored = rows.copy()
    stored.loc[4, "q50"] = np.nextafter(stored.loc[4, "q50"], np.inf)
    said = first_difference(rows, stored)
    assert said.startswith("BBB, log_volume, step 2, q50: ")
    assert repr(float(stored.loc[4, "q50"])) in said
    assert "(1 such rows)" not in said
    assert said.endswith("(1 such row)")


def test_missing_numbers_are_equal_to_each_other_and_to_nothing_else(rows):
    gap = rows.copy()
    gap.loc[0, "mean"] = np.nan
    assert first_difference(gap, gap.copy()) == ""
    assert first_difference(gap, rows).startswith("AAA, log_volume, step 1, mean: ")


@pytest.mark.parametrize(("column", "value"), [("model", "Combination"), ("ds", pd.Timestamp("2025-03-11"))])
def test_another_model_or_another_bar_is_a_difference(rows, column, value):
    stored = rows.copy()
    stored.loc[2, column] = value
    assert first_difference(rows, stored).startswith(f"AAA, log_volume, step 3, {column}: ")


def test_rows_on_one_side_alone_are_named(rows):
    assert first_difference(rows, rows.iloc[:4]) == "BBB, log_volume, step 2 is not stored (2 such rows)"
    assert first_difference(rows.iloc[:5], rows) == "BBB, log_volume, step 3 is stored, and not made now (1 such row)"
    assert first_difference(rows, rows.iloc[:0]) == "the stored ones are gone"
