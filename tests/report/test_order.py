"""What a reader meets first: failures, what was restated, the model in use, and then what the hold-out decides."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pandas as pd
import pytest
from rich.console import Console

from fints.bars.revision import RESTATED_COLUMNS, sentences
from fints.champion import Decision, Ruling, Seat
from fints.report import NightlyReport, nightly_table, render_nightly
from fints.report.comparisons import in_few_words, undecided
from fints.verification import Alert, Verification
from tests.report.page import Page

FIT = Seat("Cycle", "line/2018-11-05-0a1b2c3d4e5f", "2018-11-05T00:00:00")
NIGHT = pd.Timestamp("2018-12-31")
WHY = "By hand: the index was rebuilt"
DUE = "There is no challenger; the next fit is due after the session of 2019-01-08, in 5 sessions."
RESTATED = pd.DataFrame(
    [("^GSPC", "1d", "split", 2.0, None, None, 9, pd.Timestamp("2018-12-03"), NIGHT)], columns=list(RESTATED_COLUMNS)
)
(SPLIT,) = sentences(RESTATED)
OPEN = [f"Cycle is not distinguishable from {name}: RMSE 1.0 % lower, but 1 window is too few." for name in "ABC"]
BETTER = "Cycle is better than HAR: RMSE 7.7 % lower over 24 windows (Diebold–Mariano p = 0.001)."


@pytest.fixture(scope="module")
def troubled(report: NightlyReport) -> NightlyReport:
    decision = Decision("promote", FIT, NIGHT, pd.Timestamp("2018-12-31T22:00Z"), WHY, "hand")
    ruling = Ruling("Cycle", FIT.version, NIGHT, False, (f"{FIT} is in use. {WHY}", DUE), (decision,), (decision,))
    target = replace(report.targets[0], verdicts=(OPEN[0], BETTER, *OPEN[1:]), ruling=ruling)
    alert = Alert("missed", "since 2018-12-24", "4 sessions in a row had no forecast that was made in time.")
    return replace(
        report,
        targets=(target,),
        failed={"GONE": "the server does not answer"},
        notes=(*report.notes, SPLIT),
        verification=Verification(NIGHT, (), (alert,)),
    )


IN_ORDER = (
    "4 sessions in a row had no forecast",
    "GONE",
    "12 values are fewer than 272",
    SPLIT,
    "2019-01-01 is a closed day",
    "Model in use: Cycle",
    WHY,
    "the next fit is due after the session of 2019-01-08",
    BETTER,
    "3 comparisons are undecided: Cycle is not distinguishable from A, B and C.",
)


def said_in_terminal(report: NightlyReport) -> str:
    console = Console(file=StringIO(), width=400, force_terminal=False)
    console.print(nightly_table(report, ["the run could not be logged"]))
    return " ".join(console.file.getvalue().split())


def assert_in_order(text: str, parts: tuple[str, ...]) -> None:
    places = [text.find(" ".join(part.split())) for part in parts]
    assert -1 not in places, [part for part, place in zip(parts, places, strict=True) if place < 0]
    assert places == sorted(places)


def test_the_terminal_says_failures_first_and_undecided_comparisons_last_and_in_one_line(troubled) -> None:
    text = said_in_terminal(troubled)
    warned = "warning: the run could not be logged"
    assert_in_order(text, (*IN_ORDER[:3], warned, "data: ", *IN_ORDER[3:]))
    assert "RMSE 1.0 % lower" not in text
    assert "not delivered: GONE: the server does not answer" in text
    assert text.count("4 sessions in a row") == 1


def test_the_page_says_it_in_the_same_order_and_keeps_the_undecided_ones_folded(troubled) -> None:
    page = Page(render_nightly(troubled))
    text = " ".join(" ".join(page.texts("body")).split())
    not_delivered_first = (IN_ORDER[1], IN_ORDER[2], IN_ORDER[0], *IN_ORDER[3:])
    assert_in_order(text, not_delivered_first)
    assert "The 3 comparisons that are undecided" in page.texts("summary")
    assert all(text.count(" ".join(sentence.split())) == 1 for sentence in OPEN)
    leads = [said for attrs, said in page.all("p") if attrs.get("class") == "lead"]
    assert leads[0] == BETTER


def test_a_night_in_order_has_none_of_it(report) -> None:
    whole = replace(report, problems=report.problems[:0], notes=())
    header = render_nightly(whole).partition("<main>")[0]
    assert "note" not in header.partition("<header>")[2]


def test_one_undecided_comparison_keeps_its_reason_and_what_decides_something_stays() -> None:
    assert in_few_words([BETTER, OPEN[0]]) == (BETTER, OPEN[0])
    assert in_few_words([]) == ()
    failed = "Cycle cannot be compared with A: it failed."
    named = "As one of 3 pairs, Cycle is not distinguishable from A: RMSE 1 %; the test of all models names it."
    both = OPEN[0].replace("Cycle", "Other")
    found = in_few_words([*OPEN[:2], both, failed, named])
    assert found[:2] == (failed, named)
    assert found[2] == (
        "3 comparisons are undecided: Cycle is not distinguishable from A and B; Other is not distinguishable from A."
    )


def test_the_sentences_of_the_comparisons_are_known_again() -> None:
    from fints.backtest.significance import DieboldMariano
    from fints.backtest.verdict import Pairwise

    short = Pairwise("Cycle", "HAR", DieboldMariano(0.1, 0.9, 3, 0, "3 windows are too few"), -0.01, 0.9)
    assert undecided([short.sentence()]) == (short.sentence(),)


def test_many_series_that_are_left_out_are_told_with_the_reasons_of_the_first(report) -> None:
    from fints.report.shortfalls import MOST_NAMED, reasons

    rows = [{"unique_id": f"S{i}", "target": "log_range", "reason": "too short", "left_out": True} for i in range(9)]
    said = reasons(replace(report, problems=pd.DataFrame(rows)))
    assert said[0] == "S0, log_range: too short"
    assert said[MOST_NAMED:] == ("4 more are listed below",)
