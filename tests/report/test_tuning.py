"""The report of a search: page, tables, figures and Markdown."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fints.backtest.skill import Skill
from fints.encodings import encoding_config
from fints.plan import Cycle, FrequencyPlan
from fints.report import TuningReport, render_tuning, tuning_markdown
from fints.report import tuning_figures as figures
from fints.report import tuning_tables as tables
from fints.report.tuning import called
from fints.tuning.candidate import Candidate
from fints.tuning.result import Confirmation, TestVerdict, TuningResult
from fints.tuning.scoring import Objective
from fints.tuning.summary import TrialSummary, trials_frame
from tests.report.page import Page

HOSTILE = "<script>alert('x')</script>&\"'|"
WEEK, MONTH, YEAR = "7 days", "20 sessions", "252 sessions"
TRUE = {WEEK: 7.0, MONTH: 20.37, YEAR: 248.0}
HALF = {WEEK: 0.001, MONTH: 0.35, YEAR: 0.35}
PLAN = FrequencyPlan(
    (
        Cycle(7.0, "calendar", (1, 2, 3), origin="detected", reason=f"found in {HOSTILE}"),
        Cycle(20.0, reason="prior"),
        Cycle(252.0, reason="prior"),
    )
)


def trial(number: int, rng: np.random.Generator) -> TrialSummary:
    """A trial whose error is that of its periods, the further from the true ones the larger."""
    names = Candidate(PLAN, encoding_config("cycle")).names
    anchors = dict(zip(names, PLAN, strict=True))
    moves = {name: 0.0 if number == 0 else float(rng.uniform(-HALF[name], HALF[name])) for name in names}
    start = {name: anchors[name].period * math.exp(moves[name]) for name in names}
    end = {name: period * math.exp(0.004 * rng.standard_normal()) for name, period in start.items()}
    away = sum(min(1.0, abs(math.log(end[name] / TRUE[name])) / HALF[name]) for name in names)
    error = 0.6 + 0.04 * away
    state = "failed" if number == 7 else "pruned" if number % 5 == 4 else "complete"
    params = {f"delta[{name}]": move for name, move in moves.items()} | {"share": float(rng.uniform(0.3, 0.9))}
    if state == "failed":
        return TrialSummary(number, "failed", None, None, params, failure=f"TrainingError: {HOSTILE}")
    return TrialSummary(
        number,
        state,  # type: ignore[arg-type]
        error,
        12.0 + number,
        params,
        folds=(error,) * (2 if state == "pruned" else 3),
        start=start,
        end=end,
        trajectory={name: ((0, start[name]), (50, end[name]), (100, end[name])) for name in names},
        origin="detected" if number == 0 else "sampled",
        candidate=Candidate(PLAN, encoding_config("cycle")).at(end, "tuned"),
    )


def result(*, accepted: bool = True, trials: int = 20, cost: bool = False) -> TuningResult:
    rng = np.random.default_rng(1)
    summaries = tuple(trial(number, rng) for number in range(trials))
    ranked = sorted((s for s in summaries if s.state == "complete"), key=lambda s: s.value or 0.0)
    gain = Skill(0.031, 0.008, 0.055, 0.9, 16) if accepted else Skill(0.004, -0.02, 0.03, 0.9, 16)
    untuned, tuned = Candidate(PLAN, encoding_config("cycle")), ranked[0].candidate
    assert tuned is not None
    said = "Tuned as in trial 3 the RMSE is 3.1 % lower" if accepted else "Gain: none. The untuned plan is kept."
    rows = pd.DataFrame(
        {
            "candidate": ["untuned", *(f"trial {one.number}" for one in ranked[:3])],
            "inner": [0.66, 0.61, 0.62, 0.63][: 1 + len(ranked[:3])],
            "confirm": [0.72, 0.70, 0.73, np.nan][: 1 + len(ranked[:3])],
            "origins": 16,
        }
    )
    test = pd.DataFrame(
        {
            "candidate": ["untuned", "tuned"],
            "RMSE": [0.155, 0.152],
            "CRPS": [0.08, 0.08],
            "beyond": [0.7, 0.7],
            "windows": 16,
        }
    )
    return TuningResult(
        name="sample-log_volume",
        location="trials.journal",
        objective=Objective("rmse", multi=cost),
        trials=trials_frame(summaries),
        summaries=summaries,
        best=ranked[0],
        top=tuple(ranked[:3]),
        untuned=untuned,
        tuned=tuned,
        chosen=tuned if accepted else untuned,
        confirmation=Confirmation(rows, gain, accepted, said),
        test=TestVerdict(test, gain, gain, "On 16 test windows the RMSE is 1.9 % lower."),
        diagnostics=(f"{MONTH}: moved by 0.02 %, less than its standard error of 0.4 %: keep it fixed.",),
        importance={f"delta[{MONTH}]": 0.6, f"delta[{YEAR}]": 0.3, "share": 0.1},
        model=None,
    )


def report_of(found: TuningResult) -> TuningReport:
    return TuningReport(
        dataset=HOSTILE,
        target="log_volume",
        as_of="2018-12-31",
        created_at=pd.Timestamp("2019-01-01 06:00", tz="UTC"),
        result=found,
        priors=(5.0, 20.0, 60.0, 252.0),
        how="A trial fits 3 times.",
        facts={"Run": {"fints": "1.0", "dataset": HOSTILE}},
        settings=f"dataset: {HOSTILE}\n",
        best="h: 20\n",
        command="fints nightly --config best.yaml",
        left_out=((HOSTILE, "too short", True),),
        warnings=(f"the journal {HOSTILE} was damaged",),
    )


@pytest.fixture(scope="module")
def report() -> TuningReport:
    return report_of(result())


@pytest.fixture(scope="module")
def page(report: TuningReport) -> Page:
    return Page(render_tuning(report))


def test_the_page_begins_with_the_verdict_whatever_it_is(page: Page) -> None:
    assert page.texts("h1") == ["Tuning saves 3.1 % of the error beyond the trained horizon"]
    kept = Page(render_tuning(report_of(result(accepted=False))))
    assert kept.texts("h1") == ["No gain beyond chance: the untuned plan is kept"]
    lead = next(text for attrs, text in kept.all("p") if attrs.get("class") == "lead")
    assert lead == "Gain: none. The untuned plan is kept."


def test_it_fetches_and_runs_nothing_and_names_are_data(report: TuningReport, page: Page) -> None:
    html = render_tuning(report)
    assert not list(page.all("script"))
    assert "<script" not in html
    assert "default-src 'none'" in html
    links = [attrs["href"] for attrs, _ in page.all("a")]
    assert all(link is not None and link.startswith("#") for link in links)
    assert not list(page.all("img"))
    assert html.count("alert(") >= 4  # it is shown, as text


def test_every_figure_says_what_it_shows(page: Page) -> None:
    labels = [attrs["aria-label"] for attrs, _ in page.all("svg") if attrs.get("role") == "img"]
    assert len(labels) == 2 + 3 + 3
    assert all(label is not None and len(label) > 40 for label in labels)
    assert any("lowest" in str(label).lower() for label in labels)


def test_the_valley_is_marked_where_the_cycle_was_found_is_usual_and_was_tuned_to(report: TuningReport) -> None:
    drawn = figures.valleys(report)
    assert list(drawn) == [MONTH, YEAR, WEEK]
    tuned = report.result.best.end[MONTH]
    assert f"Prior at 20; tuned at {tuned:.5g}" in drawn[MONTH].alt
    week = [(mark.kind, mark.period) for mark in report.marks(WEEK)]
    assert week[0] == ("detected", 7.0)
    assert week[1][0] == "prior"
    assert week[1][1] == pytest.approx(5 * 365.25 / 252)
    assert "Outside of what was tried: prior 7.247" in drawn[WEEK].caption
    assert [mark.kind for mark in report.marks(YEAR)] == ["prior", "tuned"]


def test_marks_and_dots_stand_where_their_periods_are(report: TuningReport) -> None:
    svg = str(figures.valleys(report)[MONTH].svg)
    dots = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', svg)]
    ends = [one.end[MONTH] for one in report.drawn_trials()]
    slope, offset = np.polyfit(ends, dots, 1)
    np.testing.assert_allclose(dots, slope * np.array(ends) + offset, atol=0.1)
    (prior,) = re.findall(r'<path d="M([\d.]+) [^"]*" fill="none" stroke="#5c6773"', svg)
    assert float(prior) == pytest.approx(slope * 20 + offset, abs=0.1)


def test_the_history_never_rises(report: TuningReport) -> None:
    picture = figures.history(report)
    assert picture is not None
    (path,) = re.findall(r'<path d="([^"]+)" fill="none" stroke="#d55e00"', str(picture.svg))
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)]
    assert heights == sorted(heights)  # downwards on a page is up in pixels
    assert len(set(heights)) > 1
    assert str(report.result.best.number) in picture.alt


def test_ticks_can_be_told_apart_however_alike_the_errors_are() -> None:
    found = result()
    alike = tuple(
        one if one.value is None else replace(one, value=0.8484 + 1e-6 * one.number) for one in found.summaries
    )
    for picture in figures.valleys(report_of(replace(found, summaries=alike))).values():
        ticks = re.findall(r'<text class="tick"[^>]* text-anchor="end">([^<]+)<', str(picture.svg))
        assert len(ticks) > 2
        assert len(set(ticks)) == len(ticks)


def test_the_best_trial_comes_first_in_the_course_of_training(report: TuningReport) -> None:
    drawn = figures.trajectories(report)[MONTH]
    best = report.result.top[0].number
    assert drawn.caption.startswith(f"In trial {best}, the best, it moves by ")
    names = re.findall(r'<text class="name"[^>]*>([^<]+)<', str(drawn.svg))
    places = zip(report.result.top, ("the best", "second", "third"), strict=True)
    assert names[:3] == [f"trial {one.number}, {rank}" for one, rank in places]


def test_a_failed_trial_among_many_is_in_the_table_and_not_in_the_figures(report: TuningReport) -> None:
    table = tables.trials(report)
    assert len(table.rows) == 20
    values = [row[1].text for row in table.rows]
    assert values[-1] == "–"
    complete = [float(row[1].text) for row in table.rows if row[4].text == "complete"]
    assert complete == sorted(complete)
    assert len(report.drawn_trials()) == 19
    assert "14 complete" in report.counted() or "15 complete" in report.counted()
    assert "1 failed" in report.counted()


def test_a_trial_that_was_stopped_is_not_called_failed() -> None:
    found = result()
    stopped, *others = found.summaries
    stopped = replace(stopped, state="failed", value=None, failure="")
    waiting = replace(stopped, number=20, state="waiting")
    report = report_of(replace(found, summaries=(stopped, *others, waiting)))
    assert "1 failed, 1 stopped and tried again, 1 waiting" in report.counted()
    assert {row[4].text for row in tables.trials(report).rows} >= {"stopped and tried again", "waiting"}


def test_the_best_of_each_column_is_bold_and_what_is_unknown_is_not(report: TuningReport) -> None:
    rows = tables.candidates(report).rows
    assert [[cell.strong for cell in row] for row in rows][:2] == [[False] * 4, [False, True, True, False]]
    assert rows[3][2].text == "–"
    assert [row[-1].text for row in rows] == ["16"] * 4
    test = tables.judged(report)
    assert test is not None
    assert [row[2].text for row in test.rows] == ["0.0800"] * 2
    assert not any(row[2].strong for row in test.rows)  # alike


def test_the_outcome_names_each_cycle_once_with_its_change(report: TuningReport) -> None:
    rows = {row[0].text: row for row in tables.outcome(report).rows}
    assert list(rows) == [MONTH, YEAR, WEEK]
    end = report.result.best.end[MONTH]
    assert rows[MONTH][2].text == f"{end:.6g}"
    assert rows[MONTH][3].text == f"{100 * (end / 20 - 1):+.3g} %".replace("-", "−")


def test_cost_is_drawn_only_where_it_was_searched(report: TuningReport) -> None:
    assert figures.cost(report) is None
    picture = figures.cost(report_of(result(cost=True)))
    assert picture is not None
    trials = [
        (one.seconds, one.value) for one in result().summaries if one.value is not None and one.seconds is not None
    ]
    front = [
        one for one in trials if not any(o != one and o[0] <= one[0] and o[1] <= one[1] for o in trials)
    ]  # fmt: skip
    assert f"{len(front)} of them are not beaten in both" in picture.alt


def test_without_anything_to_draw_the_page_says_so() -> None:
    found = result()
    bare = tuple(replace(one, start={}, end={}, trajectory={}) for one in found.summaries)
    page = Page(render_tuning(report_of(replace(found, summaries=bare, importance={}, test=None))))
    assert "No period was searched." in page.texts("p")
    assert any("not looked at" in text for text in page.texts("p"))


def test_one_trial_is_a_search_too() -> None:
    found = result(trials=1)
    page = Page(render_tuning(report_of(found)))
    assert any(text.startswith("1 trial: 1 complete") for text in page.texts("p"))


def test_markdown_begins_with_the_verdict_and_holds_the_tables(report: TuningReport) -> None:
    text = tuning_markdown(report)
    assert text.startswith("**Tuning saves 3.1 %")
    assert "| untuned " in text
    assert "keep it fixed" in text
    assert text.rstrip().endswith("A trial fits 3 times.")


@pytest.mark.parametrize(
    ("parameter", "name"),
    [("delta[7 days]", "period, 7 days"), ("training.learning_rate", "training: learning rate"), ("share", "share")],
)
def test_parameters_have_names_that_people_read(parameter: str, name: str) -> None:
    assert called(parameter) == name
