"""Nights that were missed, half-finished, or whose bars came late."""

import pandas as pd
import pytest

from tests.end_to_end.market import Killed, ledger, stored, told

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


def test_missed_nights_are_run_in_order_each_at_its_own_as_of(night, market, home):
    """Thursday 2025-03-06 to Tuesday: the clocks of New York change on the Sunday between."""
    market.deliver("2025-03-06")
    market.it_is("2025-03-06 22:00")
    code, said, first = night()
    assert code == 0, said
    assert told(first) == [("2025-03-06T21:15:00+00:00", "done")]  # an empty ledger catches nothing up
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
        assert (home / "reports" / "nightly" / f"market-1d-{stamp}.html").is_file()
    assert (
        len({entry.data_version for entry in ledger(home) if entry.made_at == pd.Timestamp("2025-03-11 22:00Z")}) == 1
    )
    begun = [entry.night for entry in ledger(home) if entry.state == "begun"]
    assert begun == sorted(begun)


def test_a_night_run_by_hand_is_not_missed_and_is_no_night_of_the_schedule(night, market, home):
    market.deliver("2025-03-06")
    market.it_is("2025-03-06 22:00")
    night()
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


def test_late_bars_make_exactly_the_nights_again_that_lacked_them(night, market, home):
    """Monday's bar of BBB comes on Wednesday: Monday and Tuesday are made again, Friday is not."""
    late = [("BBB", "2025-03-10")]
    for day, missing in (("2025-03-07", ()), ("2025-03-10", late), ("2025-03-11", late)):
        market.deliver(day, missing)
        market.it_is(f"{day} 22:00")
        night()
    before = {day: stored(home, day) for day in ("2025-03-07", "2025-03-10", "2025-03-11")}
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
    after = {day: stored(home, day) for day in before}
    pd.testing.assert_frame_equal(before["2025-03-07"], after["2025-03-07"])
    for day in ("2025-03-10", "2025-03-11"):
        assert (after[day]["created_at"] == pd.Timestamp("2025-03-12 22:00Z")).all()
        assert not after[day]["mean"].equals(before[day]["mean"])
    market.it_is("2025-03-12 23:00")
    assert len(told(night()[2])) == 1  # once


def test_restated_values_make_no_night_again(night, market, home):
    for day in ("2025-03-07", "2025-03-10"):
        market.deliver(day)
        market.it_is(f"{day} 22:00")
        night()
    market.deliver("2025-03-11")
    path = market.folder / "AAA.csv"
    rows = pd.read_csv(path)
    rows.loc[len(rows) - 3, "volume"] += 5
    rows.to_csv(path, index=False)
    market.it_is("2025-03-11 22:00")
    code, said, result = night()
    assert code == 0, said
    assert told(result) == [("2025-03-11T20:15:00+00:00", "done")]


def test_a_night_without_any_bar_waits_for_them(night, market, home):
    market.deliver("2025-03-07")
    market.it_is("2025-03-07 22:00")
    night()
    market.it_is("2025-03-11 22:00")  # Monday was missed, and nothing has come since Friday
    code, said, result = night()
    assert told(result) == [("2025-03-10T20:15:00+00:00", "skipped"), ("2025-03-11T20:15:00+00:00", "done")]
    assert "no bar of it has come" in said
    market.deliver("2025-03-12")
    market.it_is("2025-03-12 22:00")
    code, said, result = night()
    assert code == 0, said
    assert [name for name, _ in told(result)] == [f"2025-03-{day}T20:15:00+00:00" for day in (10, 11, 12)]
    assert {state for _, state in told(result)} == {"done"}
    assert stored(home, "2025-03-10")["ds"].min() == pd.Timestamp("2025-03-11")


@pytest.mark.parametrize("when", ["begun", "due"])
def test_a_run_that_was_killed_is_completed_by_the_next(night, market, home, monkeypatch, when):
    """Killed in the first of two nights that late bars ask for, or before it."""
    late = [("BBB", "2025-03-10")]
    for day, missing in (("2025-03-10", late), ("2025-03-11", late)):
        market.deliver(day, missing)
        market.it_is(f"{day} 22:00")
        night()
    market.deliver("2025-03-11")
    market.it_is("2025-03-12 09:00")

    def killed(*_arguments, **_options):
        raise Killed

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
    assert (stored(home, "2025-03-10")["created_at"] == pd.Timestamp("2025-03-12 10:00Z")).all()


def test_one_night_that_fails_does_not_stop_the_others_and_is_entered_with_its_reason(night, market, home, monkeypatch):
    from pipelines import night_run

    market.deliver("2025-03-06")
    market.it_is("2025-03-06 22:00")
    night()

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


def test_tonight_that_fails_is_entered_as_failed_and_caught_up_the_next_night(night, market, home, monkeypatch):
    from fints.errors import ModelError
    from pipelines import night_run

    market.deliver("2025-03-06")
    market.it_is("2025-03-06 22:00")
    night()

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


def test_the_policy_skips_nights_and_says_so_once(night, market, home):
    market.deliver("2025-03-06")
    market.it_is("2025-03-06 22:00")
    night()
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


def test_a_night_that_always_kills_the_process_is_given_up_and_the_others_go_on(night, market, home, monkeypatch):
    from pipelines import night_run

    market.deliver("2025-03-06")
    market.it_is("2025-03-06 22:00")
    night()

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
