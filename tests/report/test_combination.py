from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fints.combination import Weights
from fints.report import NightlyReport, TargetReport, nightly_table, render_nightly
from fints.report.combination import coverage, events, in_words, members
from tests.report.conftest import HOSTILE
from tests.report.test_terminal import printed

WEIGHTS = Weights(("Cycle", "HAR", "Trees"), (5,), np.array([[0.5, 0.3, 0.2], [0.2, 0.8, 0.0]])).to_frame()
VALUE = pd.DataFrame(
    {"member": ["Cycle", "HAR", "Trees"], "alone": [0.031, 0.02, 0.1], "without": [0.012, 0.005, -0.001]}
)
COVERAGE = pd.DataFrame(
    {
        "by": ["horizon", "horizon", "series", "regime"],
        "group": ["1", "2-5", HOSTILE, "stormy"],
        "cov80": [0.8123, 0.79, 0.8, 0.755],
        "cov95": [0.95, 0.94, 0.96, 0.91],
        "n": [90, 360, 900, 600],
    }
)
EVENTS = pd.DataFrame(
    {
        "event": ["ordinary day", "early close", "option expiry"],
        "RMSE": [0.15, 0.31, np.nan],
        "bias": [0.01, -0.2, np.nan],
        "cov80": [0.8, 0.5, np.nan],
        "cov95": [0.95, 0.75, np.nan],
        "sessions": [220, 3, 0],
        "n": [1760, 24, 0],
        "few": [False, True, True],
    }
)


@pytest.fixture(scope="module")
def target(report: NightlyReport) -> TargetReport:
    return replace(
        report.targets[0],
        model="Mix",
        weights=WEIGHTS,
        value=VALUE,
        dropped={HOSTILE: "ValueError: <b>no</b>"},
        coverage=COVERAGE,
        events=EVENTS,
    )


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_every_member_has_its_weight_by_stretch_and_its_worth(target: TargetReport) -> None:
    table = members(target, "session")
    assert table.columns == (
        "Member", "Weight, sessions 1 to 5", "Weight, sessions 6 on", "Loss without it", "Loss alone",
    )  # fmt: skip
    assert texts(table)[:3] == [
        ["Cycle", "50%", "20%", "+1.2 %", "+3.1 %"],
        ["HAR", "30%", "80%", "+0.5 %", "+2.0 %"],
        ["Trees", "20%", "0%", "−0.1 %", "+10.0 %"],
    ]
    assert [[cell.strong for cell in row] for row in table.rows[:2]] == [
        [False, True, False, False, False],
        [False, False, True, False, False],
    ]


def test_a_dropped_member_is_named_with_its_cause(target: TargetReport) -> None:
    last = members(target, "session").rows[-1]
    assert [cell.text for cell in last] == [HOSTILE, "dropped: ValueError: <b>no</b>"]
    assert sum(cell.span for cell in last) == 5
    assert f"{HOSTILE} was dropped from Mix: ValueError: <b>no</b>." in in_words(target)


def test_one_forecaster_alone_is_no_combination(target: TargetReport) -> None:
    alone = replace(target, weights=Weights.equal(["Cycle"]).to_frame(), value=pd.DataFrame(), dropped={})
    assert members(alone, "session") is None
    assert in_words(alone) == ()
    assert members(replace(alone, weights=pd.DataFrame()), "session") is None


def test_members_of_which_nothing_was_learned_have_no_worth(target: TargetReport) -> None:
    table = members(replace(target, weights=Weights.equal(["A", "B"]).to_frame(), value=pd.DataFrame()), "bar")
    assert table.columns[1] == "Weight, all bars"
    assert texts(table)[0] == ["A", "50%", "–", "–"]


def test_the_mean_weight_is_said_largest_first(target: TargetReport) -> None:
    assert in_words(target)[0] == "Mix: HAR 55%, Cycle 35%, Trees 10% (weights averaged over the horizon's stretches)."


def test_coverage_is_by_horizon_series_and_regime(target: TargetReport) -> None:
    assert texts(coverage(target, "session")) == [
        ["session 1 ahead", "81.2 %", "95.0 %", "90"],
        ["sessions 2 to 5 ahead", "79.0 %", "94.0 %", "360"],
        [HOSTILE, "80.0 %", "96.0 %", "900"],
        ["stormy before the cutoff", "75.5 %", "91.0 %", "600"],
    ]
    assert coverage(replace(target, coverage=pd.DataFrame()), "session") is None


def test_days_that_are_few_or_missing_say_so(target: TargetReport) -> None:
    rows = texts(events(target))
    assert rows[0] == ["ordinary day", "220", "0.1500", "+0.0100", "80.0 %", "95.0 %", ""]
    assert rows[1][-1] == "too few days to tell"
    assert rows[1][3] == "−0.2000"
    assert rows[2] == ["option expiry", "0", "no such day in the hold-out"]
    assert events(replace(target, events=pd.DataFrame())) is None


def test_page_and_terminal_show_it_and_escape_it(report: NightlyReport, target: TargetReport) -> None:
    whole = replace(report, targets=(target,))
    page = render_nightly(whole)
    for title in ("Members of the combination", "Did the bands hold?", "Days that the calendar singles out"):
        assert title in page
        assert title not in render_nightly(report)
    assert "<b>no</b>" not in page
    assert "&lt;b&gt;no&lt;/b&gt;" in page
    assert nightly_table(whole) is not None
    assert "Mix: HAR 55%, Cycle 35%, Trees 10%" in " ".join(printed(whole).split())


def test_the_page_says_what_the_losses_of_members_are_relative_to(report: NightlyReport, target: TargetReport) -> None:
    page = render_nightly(replace(report, targets=(target,)))
    assert "relative to that of the combination before its bands are corrected" in page
    assert "scores the combination with its corrected bands" in page
