"""The report of a backtest: page, tables, figures and Markdown."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from fints.backtest import CrossValidation, Folds
from fints.backtest.extrapolation import Extrapolation
from fints.forecast import QUANTILE_COLUMNS, QUANTILES
from fints.report import BacktestReport, ComparedTarget, backtest_markdown, render_backtest
from fints.report import backtest_tables as tables
from fints.report.backtest_curves import joined_steps, reached
from fints.report.backtest_svg import Axes, Canvas, Scale, spanning
from fints.report.colours import looks
from tests.report.page import Page

HOSTILE = "<script>alert('x')</script>&\"'|"
H = 4
KINDS = {"CycleTransformer[rope]": "rope", "HAR": "har", "Naive": "naive", "CycleTransformer[cycle]": "cycle"}
SIZES = {"CycleTransformer[rope]": 0.5, "HAR": 1.0, "Naive": 3.0}


def compared(windows: int = 16, target: str = "log_volume", names: tuple[str, ...] = ("A", HOSTILE)) -> CrossValidation:
    """Models whose errors have the size that `SIZES` says, and one that failed."""
    rng = np.random.default_rng(0)
    cutoffs = tuple(pd.Timestamp("2018-01-01") + pd.Timedelta(days=10 * w) for w in range(windows))
    keys = pd.DataFrame(
        [(n, c, c + pd.Timedelta(days=s), s) for n in names for c in cutoffs for s in range(1, H + 1)],
        columns=["unique_id", "cutoff", "ds", "step"],
    )
    frames = []
    y, common = rng.normal(size=len(keys)), rng.normal(size=len(keys))
    for model, size in SIZES.items():
        mean = y + size * (common + 0.5 * rng.normal(size=len(keys)))
        spread = {c: mean + 4 * size * (p - 0.5) for c, p in zip(QUANTILE_COLUMNS, QUANTILES, strict=True)}
        frames.append(keys.assign(y=y, model=model, seed=0, mean=mean, **spread))
    spans = [
        row
        for fold, cutoff in enumerate(cutoffs)
        for row in (
            (fold, cutoff, "train", pd.Timestamp("2010-01-04"), cutoff - pd.Timedelta(days=2), 2000),
            (fold, cutoff, "purge", cutoff - pd.Timedelta(days=1), cutoff, 1),
            (fold, cutoff, "test", cutoff + pd.Timedelta(days=1), cutoff + pd.Timedelta(days=H), H),
        )
    ]
    void = pd.DataFrame(
        [("HAR", 0, HOSTILE, cutoffs[0], cutoffs[0], 1, "no bar came")],
        columns=["model", "seed", "unique_id", "cutoff", "ds", "step", "reason"],
    )
    return CrossValidation(
        frame=pd.concat(frames, ignore_index=True),
        folds=Folds(cutoffs, h=H, step_size=H),
        scales=pd.Series(dict.fromkeys(names, 1.0)),
        failures={"CycleTransformer[cycle]": f"TrainingError: {HOSTILE}"},
        void=void,
        models={},
        seconds=dict.fromkeys(KINDS, 2.5),
        timeline=pd.DataFrame(spans, columns=["fold", "cutoff", "part", "start", "end", "bars"]),
        jobs=pd.DataFrame(
            [(m, 0, 0, windows, 2.5, m == "HAR", "") for m in KINDS],
            columns=["model", "seed", "window", "windows", "seconds", "reused", "failure"],
        ),
        target=target,
    )


def extrapolation(cv: CrossValidation) -> Extrapolation:
    rows = cv.shared().assign(distance=lambda f: f["step"] / 2.0, error=lambda f: f["mean"] - f["y"])
    return Extrapolation(rows[["model", "seed", "unique_id", "cutoff", "step", "distance", "error"]])


def target_of(cv: CrossValidation, against: str | None = "HAR") -> ComparedTarget:
    plan = {"period": 5.0, "clock": "session", "harmonics": [(1, 2)], "p_value": 1e-4, "origin": "detected"}
    return ComparedTarget(
        target=cv.target,
        result=cv,
        looks=looks(KINDS),
        comparison=cv.comparison(against),
        plan=pd.DataFrame({**plan, "reason": "found in A"}),
        verdicts=("CycleTransformer[rope] is better than HAR: RMSE 50 % lower.",),
        left_out=((HOSTILE, "too short", True),),
        extrapolation=extrapolation(cv),
    )


def report_of(*targets: ComparedTarget) -> BacktestReport:
    return BacktestReport(
        dataset="sample",
        as_of="2018-12-31",
        created_at=pd.Timestamp("2019-01-01 06:00", tz="UTC"),
        h=H,
        bar_word="session",
        targets=targets,
        how="16 windows of 4 bars.",
        facts={"Run": {"fints": "1.0", "dataset": HOSTILE}},
        settings=f"dataset: {HOSTILE}\n",
        failed={HOSTILE: "not delivered"},
        warnings=(f"cycles left out: {HOSTILE}",),
        trained_h=2,
    )


@pytest.fixture(scope="module")
def report() -> BacktestReport:
    return report_of(target_of(compared()))


@pytest.fixture(scope="module")
def html(report: BacktestReport) -> str:
    return render_backtest(report)


def test_the_page_is_well_formed_and_fetches_and_runs_nothing(html: str) -> None:
    page = Page(html)
    assert {tag for tag, _, _ in page.elements}.isdisjoint({"script", "link", "iframe", "img", "object", "embed"})
    for _, attrs, _ in page.elements:
        assert "src" not in attrs
        assert str(attrs.get("href", "#")).startswith("#")
        assert not any(name.startswith("on") for name in attrs)
    assert not re.search(r"https?://|url\(|@import", html)
    policy = next(attrs["content"] for attrs, _ in page.all("meta") if "http-equiv" in attrs)
    assert str(policy).startswith("default-src 'none'")


def test_every_figure_is_a_drawing_with_a_text_for_those_who_cannot_see_it(html: str) -> None:
    drawings = re.findall(r"<figure>\s*(<svg.*?</svg>)", html, re.DOTALL)
    # errors: 5, calibration: 3, series: 2, windows: 1
    assert len(drawings) == len(Page(html).all("figure")) == 11
    for drawing in drawings:
        root = ElementTree.fromstring(drawing)
        assert root.get("role") == "img"
        assert len(root.get("aria-label", "")) > 20
        numbers = [
            float(n) for mark in root.iter() for name in ("x", "y", "cx", "cy", "x1", "x2") if (n := mark.get(name))
        ]
        assert np.isfinite(numbers).all()
    others = [attrs for attrs, _ in Page(html).all("svg") if attrs.get("role") != "img"]
    assert all(attrs["aria-hidden"] == "true" for attrs in others)


def test_names_and_causes_are_data_and_never_markup(html: str) -> None:
    page = Page(html)
    assert "alert('x')" not in "".join(page.texts("script"))
    assert f"failed: TrainingError: {HOSTILE}" in page.texts("td")
    assert f"^{HOSTILE}: RMSE"[1:] in page.texts("text")
    assert HOSTILE in page.texts("dd")


def test_the_verdict_comes_first_in_plain_words(html: str) -> None:
    page = Page(html)
    assert page.texts("h1") == ["rope beats HAR"]
    lead = next(text for attrs, text in page.all("p") if attrs.get("class") == "lead")
    assert lead.startswith("rope is better than HAR over 16 windows (superior predictive ability p ")
    assert html.index(">rope is better") < html.index("<table>")


def test_transformers_are_called_by_their_encoding_on_the_page_and_in_full_in_markdown(
    html: str, report: BacktestReport
) -> None:
    assert "CycleTransformer[rope] is better than HAR" not in html
    assert "rope is better than HAR: RMSE 50 % lower." in Page(html).texts("li")
    assert "CycleTransformer[rope] is better than HAR: RMSE 50 % lower." in backtest_markdown(report)


def test_the_leaderboard_says_what_the_tests_say(report: BacktestReport) -> None:
    found = report.targets[0]
    board, table = found.board(), tables.leaderboard(found)
    place = {title: i for i, title in enumerate(table.columns)}
    assert [row[0].text for row in table.rows] == [*board["model"]]
    for row, (_, line) in zip(table.rows[:-1], board.iterrows(), strict=False):
        assert row[place["differs"]].text == line["letters"]
        assert row[place["may be best"]].text == ("yes" if line["in_set"] else "no")
        assert row[place["RMSE"]].text == f"{line['RMSE']:.4f}"
    assert [row[place["saved"]].text for row in table.rows if row[0].text == "HAR"] == ["–"]
    assert table.rows[0][place["RMSE"]].strong
    assert not table.rows[1][place["RMSE"]].strong
    last = table.rows[-1]
    assert last[1].text == f"failed: TrainingError: {HOSTILE}"
    assert 1 + last[1].span == len(table.columns)


def test_coverage_is_judged_by_its_distance_from_the_level() -> None:
    cv = compared()
    # bands of HAR hold more than those of the others, and more than they promise
    wide = cv.frame["model"] == "HAR"
    frame = cv.frame.copy()
    for column, p in zip(QUANTILE_COLUMNS, QUANTILES, strict=True):
        frame.loc[wide, column] = frame.loc[wide, "mean"] + 40 * (p - 0.5)
    board = replace(cv, frame=frame).leaderboard().set_index("model")
    table = tables.leaderboard(target_of(replace(cv, frame=frame)))
    place = table.columns.index("in 80 % band")
    away = (board["cov80"] - 0.8).abs()
    assert board["cov80"].idxmax() == "HAR" != away.idxmin()
    nearest = set(away.index[np.isclose(away, away.min())])
    assert {row[0].text for row in table.rows[:-1] if row[place].strong} == nearest


def test_too_few_windows_are_said_in_the_headline_and_tests_are_dashes() -> None:
    found = target_of(compared(windows=5))
    page = Page(render_backtest(report_of(found)))
    assert page.texts("h1")[0].startswith("Not tested against HAR: 5 windows are too few")
    row = tables.leaderboard(found).rows[0]
    place = tables.leaderboard(found).columns.index("differs")
    assert [row[place].text, row[place + 1].text] == ["–", "–"]
    assert any("No intervals: 5 windows are too few" in text for text in page.texts("figcaption"))


def test_without_a_baseline_nothing_is_said_about_one() -> None:
    found = target_of(compared(), against=None)
    page = Page(render_backtest(report_of(found)))
    assert page.texts("h1") == ["rope has the lowest RMSE"]
    assert "saved" not in tables.leaderboard(found).columns
    assert not any("relative to" in text for text in page.texts("text"))


def test_a_baseline_that_failed_leaves_the_other_scores() -> None:
    found = target_of(compared(), against="CycleTransformer[cycle]")
    page = Page(render_backtest(report_of(found)))
    assert page.texts("h1") == ["Not tested against cycle: cycle has no scores"]
    assert tables.leaderboard(found).rows[0][0].text == "CycleTransformer[rope]"


def test_several_targets_have_a_verdict_each() -> None:
    page = Page(render_backtest(report_of(target_of(compared()), target_of(compared(target="log_range")))))
    assert page.texts("h1") == ["Verdict on 2 targets"]
    assert page.texts("h3")[:2] == ["log_volume: rope beats HAR", "log_range: rope beats HAR"]
    assert "QLIKE" in page.texts("th")
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = {str(attrs["href"])[1:] for attrs, _ in page.all("a")}
    assert links <= set(ids)


def test_failures_gaps_and_warnings_are_listed(report: BacktestReport) -> None:
    rows = [tuple(cell.text for cell in row) for row in tables.problems(report).rows]
    assert ("not delivered or not compared", HOSTILE, "not delivered") in rows
    assert ("failed, log_volume", "CycleTransformer[cycle]", f"TrainingError: {HOSTILE}") in rows
    assert ("left out, log_volume", HOSTILE, "too short") in rows
    assert ("not scored, log_volume", HOSTILE, "no bar came (1 session)") in rows
    assert ("warning", "", f"cycles left out: {HOSTILE}") in rows


def test_costs_are_those_of_the_jobs(report: BacktestReport) -> None:
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in tables.costs(report.targets[0]).rows}
    assert rows["HAR"] == ["2.5", "25 %", "1", "2.5", "1"]
    assert rows["Naive"] == ["2.5", "25 %", "1", "2.5", "0"]


def test_a_pair_is_named_with_the_better_model_first(report: BacktestReport) -> None:
    table = tables.pairs(report.targets[0])
    assert table is not None
    named = {(row[0].text, row[1].text) for row in table.rows}
    assert named == {("CycleTransformer[rope]", "HAR"), ("CycleTransformer[rope]", "Naive"), ("HAR", "Naive")}


def test_the_markdown_begins_with_the_verdict_and_every_row_of_a_table_is_whole(report: BacktestReport) -> None:
    text = backtest_markdown(report)
    assert text.startswith("**log_volume**: CycleTransformer[rope] is better than HAR over 16 windows")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    pipes = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
    board = lines.index(next(line for line in lines if line.startswith("| Model")))
    assert len(set(pipes[board : board + 6])) == 1
    assert r"</script>&\"'\|".replace('\\"', '"') in text


def test_a_scale_has_round_ticks_within_its_ends() -> None:
    for low, high in ((0.0, 1.0), (0.083, 0.291), (-63.0, 12.0), (1e-7, 3e-7)):
        ticks = Scale(low, high, 0.0, 100.0).ticks()
        assert 2 <= len(ticks) <= 6
        assert all(low <= tick <= high for tick in ticks)
        assert np.ptp(np.diff(ticks)) < 1e-9 * (high - low)


def test_a_scale_holds_equal_and_unknown_values() -> None:
    assert Scale(0, 10, 100, 0)(2.5) == 75
    flat = spanning([3.0, np.nan, 3.0], 0.0, 1.0)
    assert flat.low < 3 < flat.high
    assert spanning([np.nan], 0.0, 1.0).low < spanning([np.nan], 0.0, 1.0).high


def test_a_line_is_cut_where_it_leaves_the_axes() -> None:
    canvas = Canvas()
    pair = Axes(canvas, Scale(0, 4, 0, 400), Scale(0, 10, 100, 0))
    pair.line([0, 1, 2, 3, 4], [5, 15, 5, -5, 5], "#000000")
    path = canvas.marks[0].split('"')[1]
    # up to the top half-way, back at half-way, down and back likewise
    assert path == "M0.0 50.0L50.0 0.0M150.0 0.0L200.0 50.0L250.0 100.0M350.0 100.0L400.0 50.0"


def test_models_far_above_the_best_are_named_and_not_drawn(html: str) -> None:
    captions = Page(html).texts("figcaption")
    assert "Error by distance; lower is better. Too far above to be drawn: Naive." in captions
    drawing = re.findall(r"<figure>\s*(<svg.*?</svg>)", html, re.DOTALL)[1]
    assert looks(KINDS)["CycleTransformer[rope]"].colour in drawing
    assert looks(KINDS)["Naive"].colour not in drawing


def test_what_is_close_to_the_best_is_drawn_and_so_is_half_of_the_models() -> None:
    def drawn(*errors: float) -> int:
        return len(reached(pd.DataFrame({"model": [f"M{i}" for i in range(len(errors))], "RMSE": errors})))

    assert drawn(1.0, 1.001, 1.002, 1.04) == 4
    assert drawn(1.0, 1.02, 1.03, 1.30) == 3
    assert drawn(1.0, 1.3, 1.8, 1.9, 2.0, 2.4) == 6
    assert drawn(1.0, 1.1, np.nan) == 2


def test_of_many_steps_neighbours_are_taken_together_and_no_error_is_lost() -> None:
    rng = np.random.default_rng(0)
    steps = pd.DataFrame({"model": ["A"] * 100, "step": np.arange(1, 101), "RMSE": rng.uniform(1, 2, 100)})
    joined, together = joined_steps(steps)
    assert together == 4
    assert joined["step"].tolist() == [2.5 + 4 * i for i in range(25)]
    assert np.mean(joined["RMSE"] ** 2) == pytest.approx(np.mean(steps["RMSE"] ** 2))
    assert joined_steps(steps.head(25))[1] == 1
