"""Nights that were missed, half-finished, or whose bars came late."""

import pandas as pd
import pytest

from tests.end_to_end.market import Killed, ledger, stored, told

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


def test_missed_nights_are_run_in_order_each_at_its_own_as_of(night, market, home, after):
    """Thursday 2025-03-06 to Tuesday: the clocks of New York change on the Sunday between."""
    after("thursday")
    assert {entry.night for entry in ledger(home)} == {"2025-03-06T21:15:00+00:00"}  # an empty one catches nothing up
    market.deliver("2025-03-11")
    market.it_is("2025-03-11 22:00")
    code, said, result = night()
    assert code == 0, said
    assert told(result) == [
        ("2025-03-07T21:15:00+00:00", "done"),
        ("2025-03-10T20:15:00+00:00", "done"),
        ("2025-03-11T20:15:00+00:00", "done"),
    ]
    assert "Night as of Fri 2025-03-07 21:15 UTC: done: caught up, because it was missed." in said
    assert result["as_of"] == "2025-03-11T00:00:00"
    for stamp, ahead in (("2025-03-07", "2025-03-10"), ("2025-03-10", "2025-03-11"), ("2025-03-11", "2025-03-12")):
        rows = stored(home, stamp)
        assert rows.groupby("unique_id")["ds"].min().tolist() == [pd.Timestamp(ahead)] * 2
        page = (home / "reports" / "nightly" / f"market-1d-{stamp}.html").read_text()
        told_where = "in the report of the newest night, market-1d-2025-03-11.html, beside this one" in page
        assert told_where == (stamp != "2025-03-11")
    assert (
        len({entry.data_version for entry in ledger(home) if entry.made_at == pd.Timestamp("2025-03-11 22:00Z")}) == 1
    )
    begun = [entry.night for entry in ledger(home) if entry.state == "begun"]
    assert begun == sorted(begun)


def test_a_night_run_by_hand_is_not_missed_and_is_no_night_of_the_schedule(night, market, home, after):
    after("thursday")
    market.deliver("2025-03-10")
    market.it_is("2025-03-11 02:00")
    assert told(night("--as-of", "2025-03-07T21:15Z")[2]) == [("2025-03-07T21:15:00+00:00", "done")]
    assert told(night("--as-of", "2024-11-20T21:15Z")[2]) == [("2024-11-20T21:15:00+00:00", "done")]
    code, said, result = night()
    assert code == 0, said
    assert told(result) == [("2025-03-10T20:15:00+00:00", "done")]
    market.deliver("2025-03-11")
    market.it_is("2025-03-12 02:00")
    assert told(night()[2]) == [("2025-03-11T20:15:00+00:00", "done")]


def test_late_bars_make_exactly_the_forecasts_again_that_lacked_them(night, market, home, after):
    """Monday's bar of BBB comes on Wednesday: of Monday and Tuesday BBB is made again, AAA and Friday are not."""
    after("late")
    days = ("2025-03-07", "2025-03-10", "2025-03-11")
    before = {day: stored(home, day) for day in days}
    market.deliver("2025-03-12")
    market.it_is("2025-03-12 22:00")
    code, said, result = night()
    assert code == 0, said
    assert told(result) == [
        ("2025-03-10T20:15:00+00:00", "done"),
        ("2025-03-11T20:15:00+00:00", "done"),
        ("2025-03-12T20:15:00+00:00", "done"),
    ]
    assert {entry["reason"] for entry in result["nights"][:2]} == {"made again because of 1 late bar of BBB"}
    assert [entry["remade"] for entry in result["nights"]] == [["BBB"], ["BBB"], []]
    late = {day: stored(home, day) for day in days}
    pd.testing.assert_frame_equal(before["2025-03-07"], late["2025-03-07"])
    for day in ("2025-03-10", "2025-03-11"):
        was, now = (dict(iter(table[day].groupby("unique_id"))) for table in (before, late))
        pd.testing.assert_frame_equal(was["AAA"], now["AAA"])
        assert (now["BBB"]["created_at"] == pd.Timestamp("2025-03-12 22:00Z")).all()
        assert not now["BBB"]["mean"].equals(was["BBB"]["mean"])
        page = (home / "reports" / "nightly" / f"market-1d-{day}.html").read_text()
        assert "Made again: the forecasts of BBB. Those of 1 other series stay as they were first made." in page
    market.it_is("2025-03-12 23:00")
    assert len(told(night()[2])) == 1  # once


def test_tonights_night_is_made_again_for_late_bars_with_what_stands_beside_them(night, market, home, after):
    """BBB's bars of Monday and Tuesday come on Tuesday, late at night, when tonight's is done; then all is replayed."""
    after("late")
    first = stored(home, "2025-03-11")
    market.deliver("2025-03-11")
    market.it_is("2025-03-11 23:00")
    code, said, result = night()
    assert code == 0, said
    assert [(entry["night"][:10], entry["remade"]) for entry in result["nights"]] == [
        ("2025-03-10", ["BBB"]),
        ("2025-03-11", ["BBB"]),
    ]
    rows = stored(home, "2025-03-11")
    kept = rows["unique_id"] == "AAA"
    pd.testing.assert_frame_equal(rows[kept], first[first["unique_id"] == "AAA"])
    shown = pd.DataFrame(result["forecasts"]).sort_values(["unique_id", "step"])
    assert shown["mean"].tolist() == rows["mean"].tolist()
    market.it_is("2025-03-11 23:30")
    again = night()[2]
    assert again["nights"][0]["done_before"]
    assert [row["mean"] for row in again["forecasts"]] == rows["mean"].tolist()
    for made, count in (("2025-03-11T23:00Z", 5), ("2025-03-11T22:00Z", 10)):  # each run against what it stored
        code, said, replayed = night("--as-of", "2025-03-11", "--known-at", made)
        assert (code, replayed["equal"]) == (0, True), said
        assert f"All {count} forecasts equal" in said
    code, said, result = night("--again")
    assert (stored(home, "2025-03-11")["created_at"] == pd.Timestamp("2025-03-11 23:30Z")).all()


def test_restated_values_make_no_night_again(night, market, home, after):
    after("thursday")
    market.deliver("2025-03-07")
    path = market.folder / "AAA.csv"
    rows = pd.read_csv(path)
    rows.loc[len(rows) - 2, "volume"] += 5
    rows.to_csv(path, index=False)
    market.it_is("2025-03-07 22:00")
    code, said, result = night()
    assert code == 0, said
    assert told(result) == [("2025-03-07T21:15:00+00:00", "done")]


def test_what_was_restated_is_told_though_the_ingest_that_met_it_was_stopped_and_by_the_same_night_run_anew(
    night, market, home, monkeypatch, after
):
    after("thursday")
    market.deliver("2025-03-07")
    path = market.folder / "AAA.csv"
    rows = pd.read_csv(path)
    rows.loc[len(rows) - 2, "volume"] += 5
    rows.to_csv(path, index=False)
    market.it_is("2025-03-07 22:00")
    with monkeypatch.context() as patch:
        patch.setattr("pipelines.night_run.forecast_targets", killed)
        with pytest.raises(Killed):
            night()
    for moment, more in (("2025-03-07 22:30", ()), ("2025-03-07 23:00", ("--again",))):
        market.it_is(moment)
        code, said, _ = night(*more)
        assert code == 0, said
        assert "AAA: 1 bar of 2025-03-06 restated" in " ".join(said.split())
        page = (home / "reports" / "nightly" / "market-1d-2025-03-07.html").read_text("utf-8")
        assert "AAA: 1 bar of 2025-03-06 restated" in page
    market.deliver("2025-03-10")
    rows = pd.concat([rows, pd.read_csv(path).tail(1)])
    rows.to_csv(path, index=False)  # as it was told before
    market.it_is("2025-03-10 22:00")
    _, said, _ = night()
    assert " restated (" not in said


def killed(*_arguments, **_options):
    raise Killed


def test_a_night_without_any_bar_waits_for_them(night, market, home, after):
    after("thursday")
    market.deliver("2025-03-06")
    market.it_is("2025-03-10 22:00")  # Friday was missed, and nothing has come since Thursday
    before = stored(home, "2025-03-06")
    code, said, result = night()
    assert (code, result) == (1, None)
    assert "no bar has come since the night of 2025-03-06 21:15 UTC" in " ".join(said.split())
    waiting = [(entry.night[:10], entry.state, entry.reason) for entry in ledger(home)][-2:]
    assert waiting == [(day, "skipped", "no bar of it has come") for day in ("2025-03-07", "2025-03-10")]
    pd.testing.assert_frame_equal(stored(home, "2025-03-06"), before)  # they stand, as they were made
    market.deliver("2025-03-11")
    market.it_is("2025-03-11 22:00")
    code, said, result = night()
    assert code == 0, said
    assert [name[:10] for name, _ in told(result)] == ["2025-03-07", "2025-03-10", "2025-03-11"]
    assert {state for _, state in told(result)} == {"done"}
    assert stored(home, "2025-03-07")["ds"].min() == pd.Timestamp("2025-03-10")


@pytest.mark.parametrize("when", ["begun", "due"])
def test_a_run_that_was_killed_is_completed_by_the_next(night, market, home, monkeypatch, after, when):
    """Killed in the first of two nights that late bars ask for, or before it."""
    after("late")
    first = stored(home, "2025-03-10")
    market.deliver("2025-03-11")
    market.it_is("2025-03-12 09:00")

    place = {"begun": "pipelines.night_run.forecast_targets", "due": "pipelines.nightly._make_up"}[when]
    with monkeypatch.context() as patch:
        patch.setattr(place, killed)
        with pytest.raises(Killed):
            night()
    assert [entry.state for entry in ledger(home)][-2:] == {"begun": ["due", "begun"], "due": ["due", "due"]}[when]
    market.it_is("2025-03-12 10:00")
    code, said, result = night()
    assert code == 0, said
    assert told(result) == [("2025-03-10T20:15:00+00:00", "done"), ("2025-03-11T20:15:00+00:00", "done")]
    assert {entry["reason"] for entry in result["nights"]} == {"made again because of 1 late bar of BBB"}
    assert not [entry for entry in {entry.night: entry for entry in ledger(home)}.values() if entry.owed]
    rows = stored(home, "2025-03-10")
    made_at = rows.groupby("unique_id")["created_at"].unique().explode().tolist()
    assert made_at == [first["created_at"].iloc[0], pd.Timestamp("2025-03-12 10:00Z")]


def test_one_night_that_fails_does_not_stop_the_others_and_is_entered_with_its_reason(
    night, market, home, monkeypatch, after
):
    from pipelines import night_run

    after("thursday")

    def forecast(inputs, stages):
        if inputs.reading.asked == pd.Timestamp("2025-03-10 20:15Z"):
            raise RuntimeError("no luck")
        return forecast_targets(inputs, stages)

    forecast_targets = night_run.forecast_targets
    monkeypatch.setattr(night_run, "forecast_targets", forecast)
    market.deliver("2025-03-11")
    market.it_is("2025-03-11 22:00")
    code, said, result = night()
    assert code == 3
    assert [state for _, state in told(result)] == ["done", "failed", "done"]
    assert "Night as of Mon 2025-03-10 20:15 UTC: failed: RuntimeError: no luck" in said
    market.it_is("2025-03-11 23:00")
    assert told(night()[2]) == [("2025-03-11T20:15:00+00:00", "done")]  # from the same bars it would fail again
    monkeypatch.setattr(night_run, "forecast_targets", forecast_targets)
    market.deliver("2025-03-12")
    market.it_is("2025-03-12 22:00")
    code, said, result = night()
    assert code == 0, said
    assert [name[:10] for name, _ in told(result)] == ["2025-03-10", "2025-03-12"]
    assert "tried again, because it failed (RuntimeError: no luck)" in " ".join(said.split())


def test_tonight_that_fails_is_entered_as_failed_and_caught_up_the_next_night(night, market, home, monkeypatch, after):
    from fints.errors import ModelError
    from pipelines import night_run

    after("thursday")

    def broken(*_arguments):
        raise ModelError("a process was killed")

    market.deliver("2025-03-07")
    market.it_is("2025-03-07 22:00")
    with monkeypatch.context() as patch:
        patch.setattr(night_run, "forecast_targets", broken)
        code, said, _ = night()
    assert code == 1
    assert ledger(home)[-1].state == "failed"
    assert ledger(home)[-1].reason == "a process was killed"
    market.deliver("2025-03-10")
    market.it_is("2025-03-10 22:00")
    code, said, result = night()
    assert code == 0, said
    assert [name for name, _ in told(result)] == ["2025-03-07T21:15:00+00:00", "2025-03-10T20:15:00+00:00"]


def test_the_policy_skips_nights_and_says_so_once(night, market, home, after):
    after("thursday")
    market.deliver("2025-03-12")
    market.it_is("2025-03-12 22:00")
    code, said, result = night("--set=catch_up.most=1")
    assert code == 0, said
    assert [state for _, state in told(result)] == ["skipped", "skipped", "done", "done"]
    assert "more than 1 night were missed" not in said
    market.deliver("2025-03-14")
    market.it_is("2025-03-14 22:00")
    code, said, result = night("--set=catch_up.missed=skip")
    assert [state for _, state in told(result)] == ["skipped", "done"]
    assert "catch_up.missed: skip" in said


def test_a_night_that_always_kills_the_process_is_given_up_and_the_others_go_on(
    night, market, home, monkeypatch, after
):
    from pipelines import night_run

    after("thursday")

    def forecast(inputs, stages):
        if inputs.reading.asked == pd.Timestamp("2025-03-07 21:15Z"):
            raise Killed
        return forecast_targets(inputs, stages)

    forecast_targets = night_run.forecast_targets
    monkeypatch.setattr(night_run, "forecast_targets", forecast)
    market.deliver("2025-03-10")
    for hour in (20, 21, 22):
        market.it_is(f"2025-03-10 {hour}:30")
        with pytest.raises(Killed):
            night()
    market.it_is("2025-03-10 23:30")
    code, said, result = night()
    assert code == 3
    assert told(result) == [("2025-03-07T21:15:00+00:00", "failed"), ("2025-03-10T20:15:00+00:00", "done")]
    assert "begun 3 times and never ended" in said
    market.it_is("2025-03-11 02:00")
    assert told(night()[2]) == [("2025-03-10T20:15:00+00:00", "done")]
