from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pandas as pd
import pytest
from rich.console import Console

from fints.report import NightlyReport, nightly_table, render_nightly
from fints.report.glance import glance
from fints.report.html import headline
from tests.report.conftest import HOSTILE
from tests.report.page import Page

THIRD = pd.Timestamp("2019-01-03")


def printed(report: NightlyReport) -> str:
    console = Console(file=StringIO(), width=120, force_terminal=False)
    console.print(nightly_table(report))
    return " ".join(console.file.getvalue().split())


def moved(report: NightlyReport, days: int) -> NightlyReport:
    """Forecast ^GSPC for some days later, as on an exchange that was shut."""
    target = report.targets[0]
    forecast = target.forecast.copy()
    forecast.loc[forecast["unique_id"] == "^GSPC", "ds"] += pd.Timedelta(days=days)
    return replace(report, targets=(replace(target, forecast=forecast),))


def behind(report: NightlyReport, until: pd.Timestamp) -> NightlyReport:
    """Let the bars of ^GSPC not have come up to a day; it is forecast for sessions that are over."""
    return replace(report, targets=(replace(report.targets[0], over={"^GSPC": until}),))


def test_series_of_the_same_days_share_one_table_headed_by_its_dates(report: NightlyReport) -> None:
    (table,) = glance(report, report.targets[0])
    assert [row[0].text for row in table.rows] == ["^GSPC", HOSTILE]
    assert (table.columns[2], table.columns[5], table.caption) == ("Wed 2 Jan", "Fri 4 Jan", "Volume, shares")


def test_series_of_different_days_stand_under_their_own_dates(report: NightlyReport) -> None:
    two = moved(report, 5)
    first, second = glance(two, two.targets[0])
    assert [(t.rows[0][0].text, t.columns[2], t.columns[5]) for t in (first, second)] == [
        ("^GSPC", "Mon 7 Jan", "Wed 9 Jan"),
        (HOSTILE, "Wed 2 Jan", "Fri 4 Jan"),
    ]
    assert first.caption.endswith(", next session Mon 7 Jan")
    for text in (printed(two), " ".join(Page(render_nightly(two)).texts("body"))):
        assert "Mon 7 Jan" in text
        assert "Wed 2 Jan" in text
        assert "Session 1" not in text


def test_a_session_that_is_over_is_not_shown_as_ahead(report: NightlyReport) -> None:
    late = behind(report, THIRD)
    current, stale = glance(late, late.targets[0])
    assert [row[0].text for row in current.rows] == [HOSTILE]
    assert (stale.rows[0][0].text, stale.columns[2], stale.columns[5]) == ("^GSPC", "Fri 4 Jan", "Fri 4 Jan")
    assert stale.rows[0][2].text == stale.rows[0][5].text == "2.59 B"  # the third step, not the first
    assert stale.caption.endswith("behind: last bar Mon 31 Dec; 2 sessions since then are over, not shown here")
    assert stale.caption in printed(late)
    page = Page(render_nightly(late))
    assert "Thu 3 Jan 2019 (over)" in page.texts("th")
    assert "Fri 4 Jan 2019 (over)" not in page.texts("th")


def test_a_series_of_which_all_is_over_says_so(report: NightlyReport) -> None:
    late = behind(report, pd.Timestamp("2019-01-04"))
    _, stale = glance(late, late.targets[0])
    assert (stale.columns[2], stale.columns[5]) == ("Wed 2 Jan (over)", "Fri 4 Jan (over)")
    assert "all that is forecast is over" in stale.caption


def test_the_headline_begins_with_a_session_to_come_and_names_who_is_behind(report: NightlyReport) -> None:
    only = replace(behind(report, THIRD).targets[0], over=dict.fromkeys(("^GSPC", HOSTILE), THIRD))
    said = headline(replace(report, targets=(only,)))
    assert "Fri 4 Jan 2019 to Fri 4 Jan 2019; not up to date: " in said
    assert "not up to date" not in headline(report)
    assert headline(behind(report, THIRD)).endswith("; not up to date: ^GSPC")


@pytest.mark.parametrize("failed", [{HOSTILE: "no file in <b>in</b> holds it yet"}, {}])
def test_the_page_begins_with_what_was_not_delivered_and_why(report: NightlyReport, failed) -> None:
    html = render_nightly(replace(report, failed=failed))
    page = Page(html)
    assert page.texts("h2")[0] == ("Not delivered" if failed else "Verdict")
    assert ("no file in <b>in</b> holds it yet" in page.texts("td")) == bool(failed)
    assert "<b>in</b>" not in html


def test_the_head_of_the_page_leads_to_what_was_left_out(report: NightlyReport) -> None:
    page = Page(render_nightly(report))
    assert any(text.startswith("Left out: SHORT.") for text in page.texts("p"))
    assert "#left-out" in {attrs["href"] for attrs, _ in page.all("a")}
    whole = Page(render_nightly(replace(report, problems=report.problems[~report.problems["left_out"]])))
    assert not any(text.startswith("Left out:") for text in whole.texts("p"))


def test_symbols_at_a_doubted_exchange_stand_where_those_do_that_were_not_delivered(report: NightlyReport) -> None:
    why = "9 of 100 bars fall on days when its <exchange> was shut"
    html = render_nightly(replace(report, failed={"AAA": "gone"}, misplaced={HOSTILE: why}))
    page = Page(html)
    assert page.texts("h2")[:3] == ["Not delivered", "Exchange in doubt", "Verdict"]
    assert why in page.texts("td")
    assert "<exchange>" not in html
    assert Page(render_nightly(report)).texts("h2")[0] == "Verdict"
