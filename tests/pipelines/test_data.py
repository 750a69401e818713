"""``fints data …`` on a small store of its own."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from fints.bars.actions import conform_actions
from fints.bars.quality import check_bars
from fints.bars.schema import conform_bars
from fints.bars.sources.base import daily_bounds
from fints.bars.store import BarStore
from fints.sessions import get_calendar
from pipelines.cli import app

NOW = pd.Timestamp("2024-06-01", tz="UTC")


def week(symbol: str = "AAA", **columns) -> pd.DataFrame:
    days = get_calendar("XNYS").sessions("2018-12-17", "2018-12-21")
    rows = daily_bounds(days, get_calendar("XNYS")).assign(symbol=symbol, interval="1d", exchange="XNYS")
    prices = {"open": 100.0, "high": 102.0, "low": 99.0, "close": 101.0, "adj_close": 101.0}
    return conform_bars(
        rows.assign(**prices, volume=1000, currency="USD", source="test", fetched_at=NOW).assign(**columns)
    )


@pytest.fixture
def store(tmp_path, monkeypatch) -> BarStore:
    """A store with one row in quarantine."""
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    store = BarStore(tmp_path / "home" / "store")
    bars = week()
    bars.loc[1, "open"] = 110.0
    store.commit(*check_bars(bars, now=NOW))
    return store


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["data", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def answer(tmp_path, *arguments: str):
    file = tmp_path / "answer.json"
    run(*arguments, "--json", str(file))
    return json.loads(file.read_text())


def test_the_quarantine_is_listed_released_and_listed_no_more(tmp_path, store) -> None:
    (row,) = answer(tmp_path, "quarantine", "list")
    assert (row["symbol"], row["kind"], row["open"], row["state"]) == ("AAA", "open_outside_range", 110.0, "open")
    done = answer(tmp_path, "quarantine", "release", row["id"], "--reason", "the auction printed late")
    assert done == {"ids": [row["id"]], "again": [], "version": 2, "inserted": {"AAA": 1}, "revised": {}}
    assert answer(tmp_path, "quarantine", "list") == []
    assert "1 released or dropped, see --all" in run("quarantine", "list")
    (row,) = answer(tmp_path, "quarantine", "list", "--all")
    assert (row["state"], row["decision"]) == ("released", "the auction printed late")
    assert pd.Timestamp(row["released_at"]) > NOW
    assert f"{row['id']} had been released before" in run("quarantine", "release", row["id"], "--reason", "again")


def test_a_release_over_a_stored_bar_is_refused_or_forced_and_says_that_it_revised_it(tmp_path, store) -> None:
    store.commit(week())
    (known,) = store.quarantine()["id"]
    listed = run("quarantine", "list")
    assert "1 row in quarantine, 1 superseded by a stored bar" in listed
    (row,) = answer(tmp_path, "quarantine", "list")
    assert (row["state"], "superseded" in row) == ("superseded", False)
    refused = run("quarantine", "release", known[:5], "--reason", "right", code=2)
    assert "open 100.0" in refused
    assert "The row has open 110.0" in refused
    assert store.version() == 2
    said = run("quarantine", "release", known[:5], "--reason", "right", "--force")
    assert "AAA: 1 of them revised a bar that was stored" in said
    assert "version 3 of the bars" in said


def test_a_dropped_row_is_kept_and_listed_with_all(tmp_path, store) -> None:
    (known,) = store.quarantine()["id"]
    assert answer(tmp_path, "quarantine", "drop", known, "--reason", "nonsense") == {"ids": [known], "again": []}
    assert answer(tmp_path, "quarantine", "list") == []
    (row,) = answer(tmp_path, "quarantine", "list", "--all")
    assert (row["state"], row["released_at"]) == ("dropped", None)


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (["--symbol", "AAA"], 1),
        (["--symbol", "BBB"], 0),
        (["--kind", "open_outside_range", "--kind", "duplicate"], 1),
        (["--kind", "duplicate"], 0),
        (["--since", "2018-12-18"], 1),
        (["--since", "2018-12-19"], 0),
    ],
)
def test_the_quarantine_is_filtered(tmp_path, store, filters, count) -> None:
    assert len(answer(tmp_path, "quarantine", "list", *filters)) == count


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["release", "0000000000", "--reason", "x"], "unknown row in quarantine '0000000000'"),
        (["drop", "0000000000", "--reason", "x"], "unknown row in quarantine"),
        (["release", "0000000000"], "--reason"),
        (["list", "--since", "yesterweek"], "is no date"),
        (["list", "--kind", "ugly"], "unknown kind of finding 'ugly'"),
    ],
)
def test_what_cannot_be_asked_for_is_said_with_exit_code_2(store, capfd, arguments, said) -> None:
    printed = run("quarantine", *arguments, code=2)
    assert said in " ".join((printed + capfd.readouterr().err).split())


def test_a_difference_is_told_by_kind_with_the_actions(tmp_path, store) -> None:
    split = dict.fromkeys(("open", "low", "close", "adj_close"), 25.0) | {"high": 25.5, "volume": 4000}
    bars = week("AAA", **split), week("BBB", adj_close=100.0), week("CCC", volume=1001), week("DDD")
    store.commit(pd.concat([week("AAA", open=100.0, high=102.0, low=100.0, close=100.0), *map(week, ("BBB", "CCC"))]))
    action = ("AAA", "2018-12-24", "split", 4.0, "USD", "test", NOW)
    names = ["symbol", "session", "kind", "value", "currency", "source", "fetched_at"]
    store.commit(pd.concat(bars), actions=conform_actions(pd.DataFrame([action], columns=names)))
    told = answer(tmp_path, "diff", "2", "3")
    by = {row["symbol"]: row for row in told["bars"]}
    assert [by["AAA"][name] for name in ("revised", "split", "dividend", "factor")] == [5, 5, 0, 0.25]
    assert [by["BBB"][name] for name in ("revised", "split", "dividend", "columns")] == [5, 0, 5, "adj_close"]
    assert by["BBB"]["factor"] == pytest.approx(100 / 101)
    assert [by["CCC"][name] for name in ("correction", "columns", "factor")] == [5, "volume", None]
    assert (by["DDD"]["inserted"], by["DDD"]["revised"]) == (5, 0)
    (stated,) = told["actions"]
    assert [stated[name] for name in ("symbol", "kind", "change", "before", "after")] == [
        "AAA", "split", "added", None, 4.0,
    ]  # fmt: skip
    assert answer(tmp_path, "diff", "3", "2")["actions"][0]["change"] == "withdrawn"
    assert answer(tmp_path, "diff", "1", "2")["actions"] == []
    assert "splits and distributions" in run("diff", "2", "3")


def test_a_version_that_does_not_exist_is_an_error(store, capfd) -> None:
    printed = run("diff", "1", "9", code=1)
    assert "no version 9" in printed + capfd.readouterr().err


def test_findings_are_listed_with_their_reasons(tmp_path, store) -> None:
    kinds = {(row["symbol"], row["kind"], row["severity"]) for row in answer(tmp_path, "findings")}
    assert kinds == {("AAA", "open_outside_range", "quarantine"), ("AAA", "missing_sessions", "gap")}
    assert answer(tmp_path, "findings", "BBB") == []


def test_an_ingest_says_what_it_set_aside_and_how_to_see_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FINTS_HOME", str(tmp_path / "home"))
    file = tmp_path / "AAA.csv"
    week().assign(date=lambda bars: bars["session"], high=[102.0, 90.0, 102.0, 102.0, 102.0])[
        ["date", "open", "high", "low", "close", "volume"]
    ].to_csv(file, index=False)
    answered = tmp_path / "answer.json"
    arguments = ["ingest", "--source", "files", f"--set=source.path={file}", "--json", str(answered)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    aside = next(said for said in json.loads(answered.read_text())["findings"] if "high_below_low" in said)
    assert aside.startswith("AAA (1d): 1 row set aside (fints data quarantine list --kind high_below_low)")
    assert "high_below_low" in done.output
