import base64
import json
import zlib
from dataclasses import replace

import mlflow
import pytest

from fints.tracking import Chart, ChartSection, SavedView
from fints.tracking.views import supported

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

VIEW = SavedView(
    key="abc-log_volume",
    name="2018-12-31 sample",
    search="tags.`fints.backtest_id` = 'abc'",
    order_by="headline/rmse",
    columns=("headline/rmse", "headline/crps"),
    sections=(
        ChartSection("Errors", (Chart("by_horizon/rmse"), Chart("headline/rmse", "BAR")), columns=2),
        ChartSection("theta", unfolded=False),
    ),
)


def decoded(value):
    envelope = json.loads(value)
    mark, _, state = envelope.pop("state").partition(";")
    assert mark == "deflate"
    return envelope, json.loads(zlib.decompress(base64.b64decode(state)))


def test_a_view_is_read_back_as_it_was_written():
    envelope, state = decoded(VIEW.encoded(now=1.5))
    assert envelope == {"name": "2018-12-31 sample", "createdAt": 1500, "updatedAt": 1500}
    assert state == json.loads(json.dumps(VIEW.state()))


def test_every_chart_stands_in_the_section_that_names_it():
    state = VIEW.state()
    sections = {section["uuid"]: section for section in state["compareRunSections"]}
    charts = state["compareRunCharts"]
    assert [(chart["type"], chart["metricKey"]) for chart in charts] == [
        ("LINE", "by_horizon/rmse"),
        ("BAR", "headline/rmse"),
    ]
    assert {sections[chart["metricSectionId"]]["name"] for chart in charts} == {"Errors"}
    assert len({chart["uuid"] for chart in charts}) == 2
    assert [section["display"] for section in state["compareRunSections"]] == [True, False]


@pytest.mark.parametrize(
    ("version", "known"), [("3.10.0", False), ("3.17.0", True), ("3.99.1.dev0", True), ("4.0.0", False)]
)
def test_only_versions_that_read_it_get_one(tracking, monkeypatch, version, known):
    monkeypatch.setattr(mlflow, "__version__", version)
    assert supported() is known
    experiment = tracking._experiment(tracking._client(), "fints/backtests/x")
    assert tracking.save_view(experiment, VIEW) is known
    tags = tracking._client().get_experiment(experiment).tags
    assert (VIEW.tag in tags) is known


def test_a_view_that_cannot_be_kept_does_no_harm(tracking, caplog):
    assert not tracking.save_view("999999", VIEW)
    assert "could not be saved" in caplog.text


def test_only_charts_that_ask_for_it_are_smoothed():
    smooth = Chart("by_horizon/rmse", smoothed=True)
    charts = replace(VIEW, sections=(ChartSection("Errors", (smooth, Chart("by_fold/rmse"))),)).state()[
        "compareRunCharts"
    ]
    assert [(chart["lineSmoothness"] > 0, chart["useGlobalLineSmoothing"]) for chart in charts] == [
        (True, False),
        (False, True),
    ]
