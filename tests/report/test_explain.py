import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from fints.explain import (
    Attention,
    Decomposition,
    Explanation,
    Gain,
    Group,
    Measured,
    Part,
    PhaseProfile,
    Profile,
    Term,
)
from fints.explain.decomposition import LEVEL, MEMORIES
from fints.explain.gain import HAR, REST
from fints.plan import Cycle
from fints.report.explain import ExplainReport, explanation_json, explanation_table, render_explanation
from fints.report.explain_figures import attention_drawings, forecast_drawing, gain_drawing
from fints.report.explain_tables import effect, forecast_table, gain_table, told

HOSTILE = "<script>alert('x')</script>&\"'"
WEEK = Cycle(7.0, "calendar")


def measured(value, error=0.01):
    return Measured(value, error)


def explanation(gain=0.1, name=HOSTILE):
    group = Group("weekly cycle", (WEEK,), ("cal_monday",), planes=2, nouns=("week",))
    parts = (
        Part(group.name, measured(0.9 * gain), measured(0.9, 0.05), measured(0.2), measured(0.03, 0.005)),
        Part(REST, measured(0.1 * gain, 0.02), measured(0.1, 0.3)),
    )
    days = pd.Timestamp("2017-01-03"), pd.Timestamp("2018-12-31")
    total = {"RMSE": measured(gain), "CRPS": measured(gain)}
    found = Gain(HAR, (group,), total, {"RMSE": parts, "CRPS": parts}, 256, 28, *days, True)
    nothing = np.zeros(3)
    terms = (
        Term(LEVEL, np.full(3, np.log(4e9)), nothing),
        Term(MEMORIES, np.full(3, 0.1), nothing),
        Term(group.name, np.array([0.2, -0.1, 0.0]), np.array([0.02, 0.0, 0.0])),
        Term(REST, nothing, np.full(3, 0.001)),
    )
    future = pd.DataFrame({"ds": pd.to_datetime(["2019-01-02", "2019-01-03", "2019-01-04"]), "step": [1, 2, 3]})
    forecast = Decomposition(name, future, terms, np.sum([term.total for term in terms], axis=0))
    rng = np.random.default_rng(0)
    mass = rng.dirichlet(np.ones(7), size=(2, 2))
    profile = Profile("7 days", np.arange(7) / 7, mass, np.full(7, 1 / 7))
    phase = PhaseProfile(group.name, WEEK, profile, ((measured(1.2), measured(0.9)), (measured(1.6), measured(1.0))))
    by_lag = Profile("bars back", np.arange(1.0, 8), mass, np.full(7, 1 / 7))
    days_back = Profile(
        "days back", np.arange(8.0), np.pad(mass, ((0, 0), (0, 0), (1, 0))), np.append(0, np.full(7, 1 / 7))
    )
    return Explanation((group,), found, forecast, Attention(by_lag, (days_back,), (phase,), 64, True))


def report(**changes):
    return ExplainReport(explanation(**changes), "log_volume", "2018-12-31", "CycleTransformer", ("A note.",))


def test_the_page_fetches_nothing_and_escapes_what_is_data():
    page = render_explanation(report())
    assert "default-src 'none'" in page
    assert "<script>alert" not in page
    assert re.search(r"<h1>&lt;script&gt;", page)
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", page)


def test_every_figure_of_the_page_has_a_text_that_tells_what_it_shows():
    page = render_explanation(report())
    told_of = re.findall(r'role="img" aria-label="([^"]+)"', page)
    assert len(told_of) == page.count('class="plot"') == 5
    assert len(set(told_of)) == 5
    assert min(map(len, told_of)) > 60
    assert "1.60" in told_of[-1]


def test_the_terminal_shows_both_tables_the_sentences_and_what_the_numbers_mean():
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(explanation_table(report()))
    text = console.export_text()
    for said in ("A note.", "weekly cycle", "2 planes (7 days), 1 calendar term of week", "90 ± 5.0 %", "28 blocks"):
        assert said in text
    assert "The weekly cycle carries 90 % (± 5.0 %) of this gain." in text


def test_the_parts_of_a_volume_are_changes_in_percent_of_a_level():
    rows = [[cell.text for cell in row] for row in forecast_table(explanation().forecast, "log_volume").rows]
    assert rows[0][:3] == [LEVEL, "4.00 B", "4.00 B"]
    assert rows[2][:3] == ["weekly cycle", "+25 %", "±0 %"]
    whole = 4e9 * np.exp(0.1 + 0.22 + 0.001)
    assert rows[-1][1] == f"{whole / 1e9:.2f} B"


def test_parts_of_other_targets_are_in_their_own_unit():
    assert effect(0.0123, "log_return") == "+0.0123"
    assert effect(-0.0123, "log_return") == "−0.0123"
    assert effect(-0.0123, "log_volume") == "−1 %"


def test_the_next_bar_is_told_by_what_moves_it_the_largest_first():
    said = told(explanation().forecast, "log_volume")
    assert said.startswith("The forecast for Wed 2019-01-02 is 5.51 B, against a level of 4.00 B in the context: ")
    assert said.endswith("the weekly cycle +25 %, memories of the past +11 %.")


def test_without_a_gain_no_share_is_shown():
    rows = gain_table(explanation(gain=0.001).gain).rows
    assert {row[3].text for row in rows} == {"–"}
    assert not any(cell.strong for row in rows[:-1] for cell in row)


@pytest.mark.parametrize("target", ["log_volume", "log_return"])
def test_the_bars_of_the_forecast_s_figure_stack_to_its_line(target):
    *bars, line = forecast_drawing(explanation().forecast, target).figure["data"]
    assert np.allclose(np.sum([bar["y"] for bar in bars], axis=0), line["y"], atol=1e-5)
    assert [bar["name"] for bar in bars] == [MEMORIES, "weekly cycle", REST]


def test_whiskers_are_as_wide_as_what_is_told_from_chance():
    first, _ = gain_drawing(explanation().gain).figure["data"]
    assert first["error_x"]["array"][0] == pytest.approx(2.6)
    assert first["x"] == [9.0, 1.0]


def test_without_errors_the_figure_says_so_instead_of_looking_sure():
    parts = tuple(replace(part, value=Measured(part.value.value, np.inf)) for part in explanation().gain.parts["RMSE"])
    few = replace(explanation().gain, parts={"RMSE": parts, "CRPS": parts}, blocks=4)
    drawing = gain_drawing(few)
    assert drawing.caption == "No whiskers: 4 blocks of dates are too few to tell anything from chance."
    assert drawing.figure["data"][0]["text"][0] == "weekly cycle<br>RMSE: 9.0 % (± unknown)"
    assert "Whiskers are 2.6 standard errors" in gain_drawing(explanation().gain).caption


def test_attention_has_a_line_for_each_head_and_a_cycle_closes():
    lag, days, week = attention_drawings(explanation().attention)
    for drawing in (lag, days, week):
        assert [trace["name"] for trace in drawing.figure["data"]] == [
            f"layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2)
        ]
    assert days.figure["data"][0]["y"][0] is None  # no bar lies there
    for trace in week.figure["data"]:
        assert trace["x"][-1] == 7.0
        assert trace["y"][0] == trace["y"][-1]


def test_what_machines_read_is_json_without_infinities():
    made = report()
    object.__setattr__(made.explanation.gain, "total", {"RMSE": Measured(0.1, float("inf")), "CRPS": measured(0.1)})
    value = json.loads(json.dumps(explanation_json(made), allow_nan=False))
    assert value["gain"]["losses"]["RMSE"]["total"] == {"value": 0.1, "error": None}
    assert sum(row["total"] for row in value["forecast"] if row["step"] == 1) == pytest.approx(value["mean"][0])
