from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from fints.errors import SchemaError
from fints.periods import detect_periods
from fints.report import NightlyReport, TargetReport, render_nightly
from fints.report.html import MOST_DRAWN
from tests.report.page import Page

HOSTILE = "<script>alert('x')</script>&\"'"


@pytest.fixture(scope="module")
def html(report: NightlyReport) -> str:
    return render_nightly(report)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def figures(page: Page) -> dict[str, dict[str, object]]:
    return {attrs["data-figure"]: json.loads(text) for attrs, text in page.all("script") if "data-figure" in attrs}


def test_the_page_fetches_nothing(page: Page) -> None:
    for tag, attrs, _ in page.elements:
        assert tag not in {"link", "iframe", "img", "object", "embed", "base"}
        assert "src" not in attrs
        assert all(value.startswith("#") for name, value in attrs.items() if name == "href")
    (policy,) = [a["content"] for a, _ in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert not any("@import" in text or "url(" in text for _, text in page.all("style"))


def test_plotly_is_inlined_once(page: Page) -> None:
    assert sum("plotly.js v" in text[:200] for _, text in page.all("script")) == 1


def test_every_series_and_target_has_its_figures_with_a_text_for_those_who_cannot_see_them(page: Page) -> None:
    drawn = figures(page)
    assert len(drawn) == 2 * (2 * 3 + 1)
    labels = {attrs["id"]: attrs["aria-label"] for attrs, _ in page.all("div") if attrs.get("class") == "plot"}
    assert set(labels) == set(drawn)
    assert all(len(label) > 40 for label in labels.values())
    assert len(page.texts("figcaption")) == len(drawn)
    for figure in drawn.values():
        assert figure["data"]
        assert all(len(trace["x"]) == len(trace["y"]) > 0 for trace in figure["data"])


def test_what_has_to_be_known_of_a_series_stands_above_its_figure_and_nowhere_else(report: NightlyReport) -> None:
    target = replace(report.targets[0], remarks={HOSTILE: f"of {HOSTILE}: volume × 4"})
    html = render_nightly(replace(report, targets=(target,)))
    said = [text for name, text in Page(html).all("article") if "volume × 4" in text]
    assert len(said) == 1
    assert f"of {HOSTILE}: volume × 4" in said[0]
    assert html.count("volume × 4") == 1


def test_a_page_of_many_series_draws_the_first_and_says_where_the_others_stand(report: NightlyReport) -> None:
    target = report.targets[0]
    names = [f"S{number:02d}" for number in range(MOST_DRAWN + 3)]
    one = target.series[0]
    frames = {
        part: pd.concat([rows[rows["unique_id"] == one].assign(unique_id=name) for name in names], ignore_index=True)
        for part, rows in (("history", target.history), ("forecast", target.forecast))
    }
    many = Page(render_nightly(replace(report, targets=(replace(target, found=None, **frames),))))
    assert len([name for name in figures(many) if name.endswith("fan")]) == MOST_DRAWN
    said = " ".join(many.texts("p"))
    assert f"Figures follow of the first {MOST_DRAWN} series" in said
    assert "the other 3 stand under" in said
    assert names[-1] in many.texts("th")


def test_the_fan_shows_history_then_nested_bands_in_natural_units(page: Page) -> None:
    fan = next(spec for name, spec in figures(page).items() if name.endswith("fan"))
    traces = {trace["name"]: trace for trace in fan["data"]}
    assert len(traces["observed"]["y"]) == 250
    assert min(traces["median forecast"]["x"]) == max(traces["observed"]["x"]) + 1
    assert 1e9 < min(traces["observed"]["y"]) < max(traces["observed"]["y"]) < 1e10
    assert min(traces["95 % band"]["y"]) < min(traces["80 % band"]["y"])
    assert max(traces["95 % band"]["y"]) > max(traces["80 % band"]["y"])


def test_the_periodogram_keeps_its_peaks_and_labels_the_cycles(page: Page) -> None:
    spec = next(spec for name, spec in figures(page).items() if name.endswith("cycles-1"))
    traces = {trace["name"]: trace for trace in spec["data"]}
    assert {"power", "noise alone", "0.1 % level", "cycle"} == set(traces)
    assert len(traces["power"]["x"]) <= 600
    assert [float(text) for text in traces["cycle"]["text"]] == [pytest.approx(5, abs=0.02)]
    assert traces["cycle"]["y"] == [max(traces["power"]["y"])]


def test_the_cycles_found_and_those_in_the_model_are_listed_with_what_changed(page: Page) -> None:
    titles = page.texts("h3")
    assert titles.index("Cycles found") < titles.index("Cycles in the model")
    rows = [row for row in page.texts("tr") if "sessions" in row and "throughout" in row]
    assert len(rows) == 2 * 2
    assert page.texts("p").count("Since the night of 2018-12-28: new: 5 sessions.") == 2


def test_symbols_are_data_and_never_markup(html: str, page: Page) -> None:
    assert "alert('x')</script>" not in html
    assert "<script>alert" not in html
    assert HOSTILE in page.texts("h3")
    steps = next(spec for name, spec in figures(page).items() if name.endswith("steps"))
    assert steps["data"][1]["name"] == "&lt;script&gt;alert('x')&lt;/script&gt;&amp;\"'"
    assert any(HOSTILE in (attrs.get("aria-label") or "") for _, attrs, _ in page.elements)
    assert "<unknown>" in page.texts("dd")
    assert "TrainingError: <b>no</b> loss" in page.texts("td")


def test_the_headline_says_what_was_forecast_and_for_when(page: Page) -> None:
    assert page.texts("h1") == [
        "Volume and volatility of 2 series for the next 3 sessions, Wed 2 Jan 2019 to Fri 4 Jan 2019"
    ]
    assert "Nightly forecast · as of Mon 31 Dec 2018" in page.texts("p")
    assert "2019-01-01 is a closed day: 2018-12-31 is used." in page.texts("p")


def test_the_as_of_of_intraday_bars_is_said_with_its_zone(report: NightlyReport) -> None:
    hourly = replace(report, interval="1h", as_of=pd.Timestamp("2018-12-31 21:00"))
    assert "Nightly forecast · as of Mon 31 Dec 2018, 21:00 UTC" in Page(render_nightly(hourly)).texts("p")


def test_the_verdict_of_each_target_comes_first(page: Page) -> None:
    assert page.texts("h2")[0] == "Verdict"
    leads = [text for attrs, text in page.all("p") if attrs.get("class") == "lead"]
    assert leads == [f"Cycle is better than HAR on {t}: RMSE 7.7 % lower." for t in ("log_volume", "log_range")]


def test_the_best_of_each_column_is_bold_and_coverage_is_judged_by_its_level(page: Page) -> None:
    bold = [text for attrs, text in page.all("td") if "strong" in (attrs.get("class") or "").split()]
    board = [text for text in bold if text.startswith("0.") and len(text) == 6]
    assert board == ["0.2400", "0.7000", "0.1400", "0.1800"] * 2
    assert [text for text in bold if text in {"84.0 %", "81.0 %", "93.0 %", "95.1 %"}] == ["81.0 %", "95.1 %"] * 2


def test_findings_stand_by_severity_and_problems_with_their_consequence(page: Page) -> None:
    rows = [text.split("\n")[0] for text in page.texts("tr")]
    graves = [row for row in rows if row.startswith(("quarantine", "suspect", "gap"))]
    assert [row.split("^")[0].split("<")[0].rstrip() for row in graves] == ["quarantine", "suspect", "gap"]
    assert any(row.startswith("SHORTlog_volumeleft out12 values") for row in rows)
    assert any(row.startswith("HOLEDlog_volumesome bars left out2 of") for row in rows)


def test_tables_scroll_inside_their_own_region(page: Page) -> None:
    regions = [attrs for attrs, _ in page.all("div") if attrs.get("class") == "scroll"]
    assert len(regions) == sum(1 for _ in page.all("table"))
    assert all(attrs["role"] == "region" and attrs["tabindex"] == "0" and attrs["aria-label"] for attrs in regions)


def test_ids_are_unique_and_links_lead_somewhere(page: Page) -> None:
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for attrs, _ in page.all("a")} <= set(ids)
    labelled = {attrs["aria-labelledby"] for _, attrs, _ in page.elements if "aria-labelledby" in attrs}
    assert labelled <= set(ids)


def test_the_page_is_made_for_phones_and_for_paper(page: Page) -> None:
    assert any(attrs.get("name") == "viewport" for attrs, _ in page.all("meta"))
    (style,) = [text for _, text in page.all("style")]
    assert "@media print" in style
    assert "@media (max-width" in style


def test_a_night_without_hold_out_cycles_or_findings_says_so(report: NightlyReport) -> None:
    bare = replace(
        report.targets[0],
        leaderboard=pd.DataFrame(),
        by_step=pd.DataFrame(),
        verdicts=(),
        found=None,
    )
    page = Page(
        render_nightly(
            replace(report, targets=(bare,), findings=pd.DataFrame(), problems=pd.DataFrame(), facts={}, notes=())
        )
    )
    text = " ".join(page.texts("body"))
    assert "No hold-out comparison was made" in text
    assert "No series was left out." in text
    assert "The checks found nothing to report." in text
    assert "Cycles found" not in text
    assert len(figures(page)) == 2


def test_a_search_that_found_nothing_says_so(report: NightlyReport) -> None:
    target = report.targets[0]
    quiet = replace(target, found=detect_periods(target.history, alpha=1e-300))
    page = Page(render_nightly(replace(report, targets=(quiet,))))
    assert "No cycle stands out from noise." in page.texts("p")
    assert sum(name.endswith("cycles-1") for name in figures(page)) == 2
    assert not any(name.endswith("cycles-2") for name in figures(page))


def test_a_series_that_was_not_searched_has_its_forecast_all_the_same(report: NightlyReport) -> None:
    target = report.targets[0]
    partly = replace(target, found=detect_periods(target.history[target.history["unique_id"] == "^GSPC"]))
    drawn = figures(Page(render_nightly(replace(report, targets=(partly,)))))
    assert sum(name.endswith("fan") for name in drawn) == 2
    assert sum(name.endswith("cycles-1") for name in drawn) == 1


def test_a_night_without_forecasts_still_makes_a_page(report: NightlyReport) -> None:
    empty = replace(report.targets[0], forecast=report.targets[0].forecast.head(0))
    page = Page(render_nightly(replace(report, targets=(empty,))))
    assert page.texts("h1") == ["Nothing could be forecast; the reasons stand below."]


def test_a_report_without_its_columns_is_refused(report: NightlyReport) -> None:
    target = report.targets[0]
    with pytest.raises(
        SchemaError, match="forecast of log_volume in the nightly report lacks the columns \\['mean'\\]"
    ):
        replace(target, forecast=target.forecast.drop(columns="mean"))
    with pytest.raises(SchemaError, match="without history for"):
        TargetReport("log_volume", "", "Cycle", target.history[target.history["unique_id"] == "^GSPC"], target.forecast)
