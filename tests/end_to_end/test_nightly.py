"""The nightly run as a user sees it: exit codes, tables, files."""

import shutil

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock

from fints.bars.store import BarStore
from fints.forecast import QUANTILE_COLUMNS
from fints.sessions import get_calendar
from fints.tracking import Tracking

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # mlflow and its libraries warn about themselves
    pytest.mark.usefixtures("short_sample"),
]

PLAIN = ["--set=tracking.enabled=false", "--set=periods.detect=false"]
ONE = [*PLAIN, "--set=targets=[log_volume]"]
NEWEST = "--set=champion.enabled=false"
"""The newest fit is shipped, whether or not it did better than HAR on the two windows of a brief night."""


def days(result, target="log_volume", symbol="^GSPC"):
    rows = [f for f in result["forecasts"] if f["target"] == target and f["unique_id"] == symbol]
    return [f["ds"][:10] for f in rows]


def test_the_sample_ends_in_forecasts_a_page_and_a_run(fints, home):
    code, out, _, result = fints("nightly", NEWEST)
    assert code == 0
    expected = get_calendar("XNYS").next_sessions("2018-12-31", 20).strftime("%Y-%m-%d").tolist()
    for target in ("log_volume", "log_range"):
        for symbol in ("^GSPC", "^IXIC"):
            assert days(result, target, symbol) == expected
    page = (home / "reports" / "nightly" / "sample-1d-2018-12-31.html").read_text("utf-8")
    assert all(word in page for word in ("^GSPC", "HAR", "Naive", "MASE", "CRPS", "CycleTransformer"))
    assert str(home / "reports") in out.replace("\n", "")
    board = pd.DataFrame(result["holdout"]["log_volume"]["leaderboard"])
    members = ["CycleTransformer", "HAR-calendar"]
    assert {"Combination", *members, "HAR", "Naive", "SeasonalNaive"} == set(board["model"])
    assert board[["RMSE", "MAE", "MASE", "CRPS", "cov80", "cov95"]].notna().all().all()
    assert any("HAR" in sentence for sentence in result["holdout"]["log_volume"]["verdicts"])
    weights = pd.DataFrame(result["combination"]["log_volume"]["weights"])
    assert weights.groupby("first")["weight"].sum().to_dict() == pytest.approx({1: 1.0, 6: 1.0})
    assert set(weights["member"]) == set(members)
    assert {"horizon", "series", "regime"} == {row["by"] for row in result["holdout"]["log_volume"]["coverage"]}
    assert result["holdout"]["log_volume"]["events"][0]["event"] == "ordinary day"
    assert {"Combination"} == {row["model"] for row in result["forecasts"]}
    run = Tracking(home)._client().get_run(result["mlflow_run"])
    assert run.info.status == "FINISHED"
    assert run.data.metrics["headline/log_volume.rmse"] == pytest.approx(
        board.set_index("model").loc["Combination", "RMSE"]
    )


def test_a_closure_is_known_from_its_announcement_on(fints):
    """2018-12-05 was announced on 2018-12-01; Thanksgiving and its half-day are known for ever."""
    one = [*ONE, "--set=symbols=[^GSPC]"]
    code, _, _, before = fints("nightly", "--as-of", "2018-11-20", *one)
    assert code == 0
    assert "2018-11-22" not in days(before)
    assert {"2018-11-21", "2018-11-23", "2018-12-05"} <= set(days(before))
    code, _, _, after = fints("nightly", "--as-of", "2018-12-03", *one)
    assert code == 0
    assert "2018-12-05" not in days(after)
    assert "2018-12-04" in days(after)
    assert before["plan_changes"] == {"log_volume": []}
    assert after["plan_changes"] == {"log_volume": ["The same cycles as in the night of 2018-11-20."]}


def test_a_night_repeated_leaves_one_set_of_forecasts_and_keeps_its_model(fints, home):
    _, _, _, first = fints("nightly", *ONE)
    _, _, _, second = fints("nightly", *ONE, "--again")
    stored = BarStore(home / "store").read_forecasts(as_of="2018-12-31")
    assert len(stored) == len(first["forecasts"]) == 40
    means = [[f["mean"] for f in r["forecasts"]] for r in (first, second)]
    assert means[0] == means[1]
    assert "fit" not in second["seconds"]["log_volume"]
    assert "fit" in first["seconds"]["log_volume"]


def test_no_bar_after_the_as_of_touches_the_night(fints, monkeypatch, tmp_path):
    """Everything after the cutoff is replaced, and every forecast stays bit-identical."""
    from fints import sample_bars

    bars = sample_bars().query("session >= '2014-01-01' and symbol == '^GSPC'")
    results, stored = [], []
    for change in (False, True):
        frame = bars.copy()
        later = frame["session"] > "2018-06-29"
        if change:
            frame.loc[later, "volume"] = frame.loc[later, "volume"] * 7
            frame.loc[later, ["open", "high", "low", "close", "adj_close"]] *= 1.5
        path = tmp_path / f"bars-{change}.csv"
        frame[["session", "open", "high", "low", "close", "adj_close", "volume"]].to_csv(path, index=False)
        monkeypatch.setenv("FINTS_HOME", str(tmp_path / f"home-{change}"))
        source = ["--set=source.kind=files", f"--set=source.path={path}", "--set=source.symbol=^GSPC"]
        columns = "--set=source.columns={date: session}"
        detect = "--set=periods.detect=true"
        code, _, err, result = fints("nightly", "--as-of", "2018-06-29", *source, columns, *ONE, detect)
        assert code == 0, err
        results.append(result)
        stored.append(BarStore(tmp_path / f"home-{change}" / "store").read_forecasts())
    numbers = ["ds", "step", "mean", *QUANTILE_COLUMNS]
    assert len(stored[0]) == 20
    pd.testing.assert_frame_equal(stored[0][numbers], stored[1][numbers], check_exact=True)
    assert results[0]["holdout"] == results[1]["holdout"]
    assert results[0]["plans"] == results[1]["plans"]


def test_a_second_night_at_the_same_time_is_turned_away(fints, home):
    with FileLock(home / ".lock"):
        code, _, err, _ = fints("nightly", *ONE)
    assert code == 75
    assert "another run" in err


def test_hourly_bars_are_forecast_on_real_bar_starts_with_a_lunch_break(fints):
    source = [
        "--set=source={kind: synthetic, names: [JP], exchange: XTKS, interval: 1h, start: 2018-07-02, end: 2018-12-27}",
        "--set=interval=1h",
        "--set=h=14",
    ]
    code, _, err, result = fints("nightly", *source, *ONE)
    assert code == 0, err
    stamps = pd.to_datetime([f["ds"] for f in result["forecasts"]])
    assert len(stamps) == 14
    minutes = stamps.hour * 60 + stamps.minute
    assert ((minutes < 11 * 60 + 30) | (minutes >= 12 * 60 + 30)).all()
    assert stamps[0] == pd.Timestamp("2018-12-28 09:00")
    assert "2019-01-01" not in set(stamps.strftime("%Y-%m-%d"))


def test_a_half_day_has_four_hourly_bars(fints):
    source = [
        "--set=source={kind: synthetic, names: [US], exchange: XNYS, interval: 1h, start: 2018-07-02, end: 2018-12-31}",
        "--set=interval=1h",
        "--set=h=14",
    ]
    code, _, err, result = fints("nightly", "--as-of", "2018-11-21", *source, *ONE)
    assert code == 0, err
    stamps = pd.Series([f["ds"][:10] for f in result["forecasts"]])
    assert stamps.value_counts().to_dict() == {"2018-11-23": 4, "2018-11-26": 7, "2018-11-27": 3}


def series(name, sessions, volume):
    rng = np.random.default_rng(3)
    close = 100 * np.exp(np.cumsum(0.01 * rng.standard_normal(len(sessions))))
    prices = {"open": close, "high": close * 1.01, "low": close * 0.99, "close": close, "adj_close": close}
    return pd.DataFrame({"symbol": name, "date": sessions, **prices, "volume": volume})


def test_series_that_cannot_be_used_are_named_and_the_others_go_on(fints, tmp_path):
    sessions = get_calendar("XNYS").sessions("2016-01-04", "2018-12-31")
    volume = np.random.default_rng(1).integers(10**6, 10**7, len(sessions))
    frame = pd.concat(
        [
            series("GOOD", sessions, volume),
            series("SHORT", sessions[-30:], volume[-30:]),
            series("FLAT", sessions, 5_000_000),
            series("EMPTY", sessions, 0),
            series("ENDED", sessions[:-130], volume[:-130]),
        ]
    )
    frame.to_csv(tmp_path / "bars.csv", index=False)
    source = ["--set=source.kind=files", f"--set=source.path={tmp_path / 'bars.csv'}"]
    code, out, err, result = fints("nightly", *source, *ONE)
    assert code == 3, err
    assert {f["unique_id"] for f in result["forecasts"]} == {"GOOD"}
    reasons = {p["unique_id"]: p["reason"] for p in result["problems"] if p["left_out"]}
    assert "too short" in reasons["SHORT"]
    assert "constant" in reasons["FLAT"]
    assert "were over at the as-of" in reasons["ENDED"]
    assert set(reasons) == {"SHORT", "FLAT", "EMPTY", "ENDED"}
    assert all(name in out for name in reasons)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set=hh=3"], "unknown key 'hh'"),
        (["--set=targets=[log_volme]"], "unknown target 'log_volme'. Did you mean 'log_volume'"),
        (["--set=symbols=[^GSPX]"], "unknown symbol '^GSPX'. Did you mean '^GSPC'"),
        (["--set=encoding.kind=rop"], "encoding"),
        (["--set=exchange=XNSY"], "unknown exchange 'XNSY'"),
        (["--as-of", "2030-01-02"], "in the future"),
        (["--as-of", "1980-01-02"], "the data run from 2014-01-02 to 2018-12-31"),
        (["--as-of", "soon"], "neither a date nor an instant"),
        (["--config", "none.yaml"], "no settings file"),
        (["--set=combination.members=[hra]"], "unknown baseline 'hra'. Did you mean 'har'"),
        (["--set=interval=7x"], "unknown interval '7x'"),
    ],
)
def test_a_request_that_cannot_be_met_exits_with_2_and_names_the_offender(fints, arguments, says):
    code, _, err, _ = fints("nightly", *ONE, *arguments)
    assert code == 2, err
    assert says in err
    assert "Traceback" not in err


def test_targets_side_by_side_are_forecast_as_one_after_the_other(fints, home):
    one = fints("nightly", *PLAIN)
    shutil.rmtree(home / "models")
    two = fints("nightly", *PLAIN, "--set=workers.count=2", "--again")
    assert one[0] == two[0] == 0, two[2]
    assert "log_range: fit …" in two[2]
    alone, beside = ([{**f, "created_at": None} for f in found[3]["forecasts"]] for found in (one, two))
    assert alone == beside
    shelved = fints("nightly", *PLAIN, "--again")[3]  # by this process: it finds what the others fitted
    assert "fit" not in shelved["seconds"]["log_volume"]


def test_a_night_without_room_for_a_holdout_says_so(fints):
    code, _, err, result = fints("nightly", *ONE, "--set=holdout.n_windows=4000")
    assert code == 0, err
    assert "could not be compared" in result["holdout"]["log_volume"]["verdicts"][0]
    assert len(result["forecasts"]) == 40


def test_a_night_between_two_retrainings_moves_its_bands_alone(fints):
    """The same models; whether the later or the earlier night is run first, each forecasts the same."""
    settings = [*ONE, "--set=symbols=[^GSPC]", "--set=retrain_every=20"]
    first = fints("nightly", "--as-of", "2018-12-20", *settings)[3]
    later = fints("nightly", "--as-of", "2018-12-21", *settings)[3]
    again = fints("nightly", "--as-of", "2018-12-20", *settings, "--again")[3]
    assert "fit" not in later["seconds"]["log_volume"]
    numbers = ["mean", *QUANTILE_COLUMNS]
    nights = [pd.DataFrame(night["forecasts"])[numbers] for night in (first, later, again)]
    pd.testing.assert_frame_equal(nights[0], nights[2], check_exact=True)
    assert not nights[0].equals(nights[1])


def test_a_transformer_alone_is_shipped_where_nothing_is_to_be_combined(fints):
    alone = ["--set=combination.enabled=false", "--set=bands.adaptive=false"]
    code, out, err, result = fints("nightly", *ONE, *alone, NEWEST)
    assert code == 0, err
    assert {row["model"] for row in result["forecasts"]} == {"CycleTransformer"}
    assert "Combination" not in out
    assert "CycleTransformer is not distinguishable from HAR" in " ".join(out.split())
