import numpy as np
import pandas as pd
import pytest

from fints.plan import Cycle, FrequencyPlan
from fints.tuning import period_errors, spans_of


def lines(*rows):
    columns = ["unique_id", "period", "clock", "period_se", "q_value", "stable"]
    return pd.DataFrame(rows, columns=columns)


def test_lines_of_several_series_know_a_cycle_better_than_one():
    plan = FrequencyPlan((Cycle(20.0, origin="detected"), Cycle(7.0, "calendar", origin="detected"), Cycle(60.0)))
    found = lines(
        ("a", 20.1, "session", 0.3, 0.001, True),
        ("b", 19.9, "session", 0.4, 0.001, True),
        ("a", 20.0, "calendar", 0.001, 0.001, True),
        ("a", 7.0, "calendar", 0.01, 0.001, True),
        ("b", 7.0, "calendar", 0.001, 0.4, True),
        ("c", 7.0, "calendar", 0.001, 0.001, False),
        ("a", 60.0, "session", 0.1, 0.001, True),
    )
    assert period_errors(found, plan) == {"20 sessions": pytest.approx(0.24), "7 days": pytest.approx(0.01)}


def test_a_line_without_a_standard_error_says_nothing():
    plan = FrequencyPlan((Cycle(20.0, origin="detected"),))
    assert period_errors(lines(("a", 20.0, "session", np.nan, 0.001, True)), plan) == {}


def test_a_span_is_counted_on_each_clock(daily_panel):
    spans = spans_of(daily_panel)
    rows = daily_panel[daily_panel["unique_id"] == "AAA"]
    assert spans["session"] == len(rows) - 1
    assert spans["calendar"] == (rows["ds"].max() - rows["ds"].min()).days
