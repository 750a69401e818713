import numpy as np
import pandas as pd
import pytest

from fints.report import StudyReport, render_study
from fints.studies import Chapter, Findings, Line, LineChart, Table

X = np.arange(1.0, 4.0)
CHART = LineChart("errors", "Errors", "bars ahead", "RMSE", [Line("rope", X, X, X / 2, X * 2)], log_y=True)


@pytest.fixture
def report():
    table = Table(
        "Errors by encoding", pd.DataFrame({"encoding": ["rope|x", "cycle"], "RMSE": [0.5, None], "n": [1, 2]})
    )
    chapter = Chapter("One cycle", "What was done.", [table], [CHART])
    findings = Findings("Extrapolation", ["cycle wins.", "rope does not."], [chapter])
    return StudyReport("extrapolation", "Which one?", "fints study extrapolation --budget full", findings)


def test_command_and_verdicts_stand_before_the_chapters(report):
    text = render_study(report).markdown
    parts = ["# Extrapolation", "Which one?", "fints study extrapolation --budget full", "## Verdicts", "- cycle wins."]
    parts += ["- rope does not.", "## One cycle", "What was done.", "Errors by encoding", "| encoding |", "!["]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_every_figure_that_the_page_names_is_there(report):
    page = render_study(report)
    assert list(page.figures) == ["extrapolation/errors.svg"]
    assert "![Errors](extrapolation/errors.svg)" in page.markdown


def test_cells_are_data_and_cannot_break_a_table(report):
    text = render_study(report).markdown
    assert "| rope\\|x | 0.5 | 1 |" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {4}


def test_numbers_are_aligned_to_the_right_and_text_to_the_left(report):
    assert "| --- | ---: | ---: |" in render_study(report).markdown


def test_equal_findings_make_equal_pages_byte_for_byte(report):
    assert render_study(report) == render_study(report)
