"""The backtest as a user sees it: exit codes, tables, runs."""

from pathlib import Path

import pytest

from fints.baselines import HAR
from fints.errors import SeriesError
from fints.tracking import Tracking

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # mlflow and its libraries warn about themselves
    pytest.mark.usefixtures("short_sample"),
]

MODELS = (
    "[{kind: transformer, encoding: {kind: cycle, learn: true}}, {kind: transformer, encoding: rope},"
    " {kind: transformer, encoding: {kind: sum, parts: [alibi, rope]}, network: {n_heads: 2}},"
    " {kind: transformer, encoding: t_rope, network: {block: hstu}}, har, naive]"
)
BRIEF = [
    "--set=h=5",
    "--set=input_size=40",
    "--set=n_windows=9",
    "--set=periods.detect=false",
    "--set=workers.count=1",
    "--set=network={dim: 16, n_heads: 1, n_layers: 1}",
    "--set=training={max_steps: 4, batch_size: 8, validate_every: 2, validation_windows: 16}",
    f"--set=models={MODELS}",
]
NAMES = [
    "CycleTransformer[cycle]",
    "CycleTransformer[rope]",
    "CycleTransformer[alibi + rope]",
    "CycleTransformer[t_rope, hstu]",
    "HAR",
    "Naive",
]


def test_models_and_encodings_are_compared_and_tested(fints, home):
    code, out, err, result = fints("backtest", *BRIEF, brief=False)
    assert code == 0, err
    found = result["targets"]["log_volume"]
    board = {row["model"]: row for row in found["leaderboard"]}
    assert set(board) == set(NAMES)
    assert all(row["windows"] == 9 and row["n"] + row["void"] == 90 and row["RMSE"] > 0 for row in board.values())
    assert len(found["cutoffs"]) == 9
    best = found["leaderboard"][0]["model"]
    assert len(found["verdicts"]) == len(NAMES) - 1
    assert all(sentence.startswith(best) and "RMSE" in sentence for sentence in found["verdicts"])
    assert [row["against"] for row in found["significance"]] == [best] * (len(NAMES) - 1)
    shown = " ".join(out.split())
    assert "open its link to fints/backtests/sample" in shown
    page = Path(next(line for line in out.splitlines() if line.startswith("report: ")).removeprefix("report: "))
    html = page.read_text("utf-8")
    assert "rope" in html
    assert "Not tested against" in html  # nine windows
    assert all(name in shown for name in [*NAMES, *found["verdicts"], "9 windows of 5 bars"])
    client = Tracking(home)._client()
    parent = client.get_run(result["mlflow_run"])
    assert parent.info.status == "FINISHED"
    runs = client.search_runs([parent.info.experiment_id], f"tags.`mlflow.parentRunId` = '{parent.info.run_id}'")
    assert {run.info.run_name for run in runs} == set(NAMES)
    for run in runs:
        assert run.data.metrics["headline/rmse"] == pytest.approx(board[run.info.run_name]["RMSE"], rel=1e-5)
    learned = next(run for run in runs if run.info.run_name == NAMES[0])
    trace = client.get_metric_history(learned.info.run_id, "theta/offset.0")
    assert [point.step for point in trace] == [0, 2, 4]


PLAIN = [*BRIEF, "--set=models=[har, naive, seasonal_naive]", "--set=tracking.enabled=false"]


def test_all_models_are_tested_against_the_chosen_one(fints):
    code, _, err, result = fints("backtest", *PLAIN, "--set=against=Naive", brief=False)
    assert code == 0, err
    sentences = result["targets"]["log_volume"]["verdicts"]
    assert {sentence.split()[0] for sentence in sentences} == {"HAR", "SeasonalNaive"}
    assert all("Naive" in sentence for sentence in sentences)
    assert result["mlflow_run"] is None


def test_the_result_is_shown_and_written_before_it_is_logged(fints, tmp_path, monkeypatch, capfd):
    from pipelines import backtest

    def away(*_):
        shown.append(capfd.readouterr().out)
        assert (tmp_path / "result.json").exists()
        raise ConnectionError("nobody answers")

    shown = []
    monkeypatch.setattr(backtest, "track", away)
    code, out, err, result = fints("backtest", *PLAIN, "--set=tracking.enabled=true", brief=False)
    assert code == 0, err
    assert "SeasonalNaive" in shown[0]
    assert "nobody answers" in out
    assert result["mlflow_run"] is None
    assert "nobody answers" in result["warnings"][-1]


def test_a_model_that_fails_is_named_and_the_others_go_on(fints, monkeypatch):
    def broken(self, panel):
        raise SeriesError("no luck")

    monkeypatch.setattr(HAR, "fit", broken)
    code, out, _, result = fints("backtest", *PLAIN, brief=False)
    assert code == 3
    rows = {row["model"]: row for row in result["targets"]["log_volume"]["leaderboard"]}
    assert rows["HAR"]["problem"] == "SeriesError: no luck"
    assert rows["Naive"]["RMSE"] > 0
    assert "no luck" in out


def test_what_an_earlier_run_has_done_is_not_done_again(fints, monkeypatch):
    _, _, _, first = fints("backtest", *PLAIN, brief=False)
    monkeypatch.setattr(HAR, "fit", lambda *_: pytest.fail("it is fitted again"))
    code, out, err, again = fints("backtest", *PLAIN, brief=False)
    assert code == 0, err
    before, after = (result["targets"]["log_volume"] for result in (first, again))
    assert [job["reused"] for job in after["jobs"]] == [True] * 3
    assert {k: v for k, v in after.items() if k != "jobs"} == {k: v for k, v in before.items() if k != "jobs"}
    assert "3 of 3 jobs had been done by an earlier run" in out


def test_the_windows_end_at_the_as_of(fints):
    code, out, err, result = fints("backtest", *PLAIN, "--as-of=2018-12-25", brief=False)
    assert code == 0, err
    assert result["as_of"] == "2018-12-24T00:00:00"
    found = result["targets"]["log_volume"]
    assert max(span["end"] for span in found["timeline"]).startswith("2018-12-24")
    assert "XNYS was closed on Tuesday 2018-12-25" in out
    code, _, err, _ = fints("backtest", *PLAIN, "--as-of=2030-01-01", brief=False)
    assert code == 2
    assert "future" in err


def test_a_quick_budget_and_what_lies_beyond_the_trained_horizon(fints):
    beyond = ["--set=h=10", "--set=trained_h=2", "--set=n_windows=30", "--budget=quick"]
    models = "--set=models=[{kind: transformer, encoding: rope}, naive]"
    code, out, err, result = fints("backtest", *BRIEF, *beyond, models, "--set=tracking.enabled=false", brief=False)
    assert code == 0, err
    found = result["targets"]["log_volume"]
    assert len(found["cutoffs"]) == 20
    bands = {(row["model"], row["band"]): row for row in found["extrapolation"]["by_band"]}
    assert {band for model, band in bands if model == "Naive"} == {"1×", "1–2.5×", "2.5–5×"}
    assert all(row["RMSE"] > 0 for row in bands.values())
    assert "slope per horizon" in out


def test_a_target_that_cannot_be_compared_is_named_and_the_other_goes_on(fints, monkeypatch):
    from pipelines import backtest

    compare_on = backtest.compare_on

    def compared(bars, target, *rest):
        if target == "log_range":
            raise SeriesError("no bar has a range")
        return compare_on(bars, target, *rest)

    monkeypatch.setattr(backtest, "compare_on", compared)
    code, out, _, result = fints("backtest", *PLAIN, "--set=targets=[log_volume, log_range]", brief=False)
    assert code == 3
    assert set(result["targets"]) == {"log_volume"}
    assert result["failed"] == {"log_range": "no bar has a range"}
    assert "log_range: no bar has a range" in out


def test_too_many_windows_are_refused(fints):
    code, _, err, _ = fints("backtest", *PLAIN, "--set=n_windows=2000", brief=False)
    assert code == 1
    assert "too short" in err


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("n_window=3", "did you mean 'n_windows'"),
        ("targets=[log_volme]", "Did you mean 'log_volume'"),
        ("models=[har, har]", "set name"),
        ("models=[{kind: transformer, encoding: {kind: cycle, share: 0.01}}]", "leaves none"),
        ("symbols=[^GSPX]", "Did you mean '^GSPC'"),
    ],
)
def test_a_request_that_cannot_be_met_exits_with_2_and_names_the_offender(fints, setting, says):
    code, _, err, _ = fints("backtest", *PLAIN, f"--set={setting}", brief=False)
    assert code == 2, err
    assert says in err
    assert "Traceback" not in err


def test_a_backtest_whose_server_was_away_is_listed_printed_and_uploaded_later(fints, home):
    nowhere = ["--set=tracking.enabled=true", "--set=tracking.uri=http://127.0.0.1:9"]
    code, out, err, result = fints("backtest", *PLAIN, *nowhere, brief=False)
    assert code == 0, err
    assert result["mlflow_run"] is None
    assert "fints report --resend" in out
    code, out, err, listed = fints("report", brief=False)
    assert code == 0, err
    (kept,) = listed
    assert (kept["kind"], kept["logged"]) == ("backtest", False)
    assert "not in MLflow yet" in out
    assert kept["verdict"][0] in out
    code, out, _, _ = fints("report", kept["name"], brief=False)
    assert code == 0
    assert "| Model" in out
    assert f"report: {kept['page']}" in out
    code, out, _, _ = fints("report", "--resend", brief=False)
    assert code == 1
    assert "MLflow did not take it" in out
    for options, says in (
        (("--resend", "--set=h=5"), "unknown key 'h'"),
        (("--set=tracking.uri=http://127.0.0.1:9",), "--config and --set say where --resend uploads to"),
    ):
        code, _, err, _ = fints("report", *options, brief=False)
        assert (code, says in err) == (2, True), err
    code, _, err, _ = fints("report", "--resend", "yesterday", brief=False)
    assert code == 2
    assert "unknown backtest 'yesterday'" in err
