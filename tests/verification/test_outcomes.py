import numpy as np
import pandas as pd
import pytest

from fints.series import make_panel
from fints.verification import outcomes
from tests.verification.conftest import bars_of, count, forecasts_of, happened, keyed, promise_of

AS_OF = "2018-11-20"


def known(bars, as_of=AS_OF, target="log_volume"):
    return make_panel(bars[bars["session"] <= as_of], target, features=False, companions=False)


def judged(bars, forecasts, then=None, known_at="2018-12-31", target="log_volume"):
    promise = promise_of(forecasts, known(bars if then is None else then, target=target))
    return outcomes(forecasts, target, happened(bars, known_at), keyed(forecasts, promise))


def test_a_forecast_is_scored_by_what_came():
    bars = bars_of({"AAA": np.full(count(), 1000.0)})
    found = judged(bars, forecasts_of(["AAA"], AS_OF, np.log(1000) - 0.05))
    done = found[found["state"] == "scored"]
    assert done["live"].all()
    assert done["error"].to_numpy() == pytest.approx(0.05, abs=1e-6)
    assert done["squared"].to_numpy() == pytest.approx(0.0025, abs=1e-6)
    assert done["p_absolute"].to_numpy() == pytest.approx(0.1)
    assert done["cov80"].eq(1).all()
    assert (done["crps"] > 0).all()


def test_a_session_that_was_cancelled_after_the_forecast_is_void():
    """2018-12-05 was announced on 2018-12-01: as of 2018-11-20 it is named, and never scored nor missing."""
    found = judged(bars_of({"AAA": np.full(count(), 1000.0)}), forecasts_of(["AAA"], AS_OF, np.log(1000)))
    void = found[found["state"] == "void"]
    assert void["ds"].tolist() == [pd.Timestamp("2018-12-05")]
    assert (found["state"] == "scored").sum() == 19
    assert void["error"].isna().all()


def test_before_the_announcement_the_cancelled_session_is_still_to_come():
    bars = bars_of({"AAA": np.full(count(), 1000.0)})
    bars = bars[bars["session"] <= "2018-11-30"]
    found = judged(bars, forecasts_of(["AAA"], AS_OF, np.log(1000)), known_at="2018-11-30").set_index("ds")
    assert found.loc["2018-12-05", "state"] == "pending"


def test_a_bar_that_is_late_is_pending_and_one_that_never_came_is_missing():
    volumes = np.full(count(), 1000.0)
    bars = bars_of({"AAA": volumes, "BBB": volumes})
    halted = bars[(bars["symbol"] == "AAA") | (bars["session"] <= "2018-11-26")]
    early = halted[halted["session"] <= "2018-11-27"]
    rows = forecasts_of(["AAA", "BBB"], AS_OF, np.log(1000))
    soon = judged(early, rows, known_at="2018-11-27").set_index(["unique_id", "ds"])["state"]
    assert soon["BBB", "2018-11-26"] == "scored"
    assert soon["BBB", "2018-11-27"] == "pending"
    later = judged(halted, rows).set_index(["unique_id", "ds"])["state"]
    assert later["BBB", "2018-11-27"] == "missing"
    assert later["AAA", "2018-11-27"] == "scored"


def test_a_bar_without_a_value_of_the_target_is_missing():
    volumes = np.full(count(), 1000.0)
    volumes[-10] = 0
    bars = bars_of({"AAA": volumes})
    found = judged(bars, forecasts_of(["AAA"], AS_OF, np.log(1000)))
    quiet = bars["session"].iloc[-10]
    assert found.loc[found["ds"] == quiet, "state"].tolist() == ["missing"]


def test_a_bar_that_has_not_settled_is_pending():
    bars = bars_of({"AAA": np.full(count(), 1000.0)})
    bars = bars[bars["session"] <= "2018-11-21"]
    rows = forecasts_of(["AAA"], AS_OF, np.log(1000))
    just = judged(bars, rows, known_at="2018-11-21T21:14Z").set_index("ds")["state"]
    assert just["2018-11-21"] == "pending"
    assert judged(bars, rows, known_at="2018-11-21T21:15Z").set_index("ds")["state"]["2018-11-21"] == "scored"


def test_what_was_forecast_when_its_bar_was_over_is_told_apart():
    rows = forecasts_of(["AAA"], AS_OF, np.log(1000), made_at="2018-11-23T12:00Z")
    found = judged(bars_of({"AAA": np.full(count(), 1000.0)}), rows).set_index("ds")["live"]
    assert not found["2018-11-21"]
    assert found["2018-11-23"]  # of the half-day that ended at 18:00 UTC
    late = judged(
        bars_of({"AAA": np.full(count(), 1000.0)}),
        forecasts_of(["AAA"], AS_OF, np.log(1000), made_at="2018-11-23T18:30Z"),
    )
    assert not late.set_index("ds")["live"]["2018-11-23"]


@pytest.mark.parametrize("target", ["log_volume", "log_close"])
def test_a_split_since_does_not_make_an_old_forecast_wrong(target):
    """Four shares for one: stored volumes are four times those that were forecast, prices a quarter."""
    rng = np.random.default_rng(1)
    then = bars_of({"AAA": np.exp(rng.normal(15, 0.2, count()))})
    now = then.assign(
        volume=then["volume"] * 4, **{c: then[c] / 4 for c in ("open", "high", "low", "close", "adj_close")}
    )
    rows = forecasts_of(["AAA"], AS_OF, float(known(then, target=target)["y"].iloc[-1]), target=target)
    before = judged(then, rows, target=target)
    after = judged(now, rows, then=then, target=target)
    assert (before["state"] == "scored").sum() == 19
    assert after["error"].dropna().to_numpy() == pytest.approx(before["error"].dropna().to_numpy(), abs=1e-4)


def test_a_correction_of_single_bars_is_the_truth_about_them():
    volumes = np.full(count(), 1000.0)
    then = bars_of({"AAA": volumes})
    sessions = then["session"]
    corrected = then.assign(volume=then["volume"].where(sessions != pd.Timestamp(AS_OF), 1500))
    corrected = corrected.assign(volume=corrected["volume"].where(sessions != pd.Timestamp("2018-11-26"), 2000))
    found = judged(corrected, forecasts_of(["AAA"], AS_OF, np.log(1000)), then=then).set_index("ds")["error"]
    assert found["2018-11-26"] == pytest.approx(np.log(2), abs=1e-5)
    assert found["2018-11-27"] == pytest.approx(0, abs=1e-5)


def test_bars_that_are_gone_leave_no_basis_to_score_on():
    then = bars_of({"AAA": np.full(count(), 1000.0)})
    now = then[then["session"] > AS_OF]
    found = judged(now, forecasts_of(["AAA"], AS_OF, np.log(1000)), then=then)
    assert set(found["state"]) == {"unplaced", "void"}


def test_forecasts_of_another_dataset_are_not_ours():
    bars = bars_of({"AAA": np.full(count(), 1000.0)})
    ours = forecasts_of(["AAA"], AS_OF, np.log(1000))
    other = forecasts_of(["AAA"], AS_OF, np.log(9000), made_at="2018-11-21T03:00Z")
    promise = promise_of(ours, known(bars))
    rows = pd.concat([ours.iloc[:5], other.iloc[5:]])
    found = outcomes(rows, "log_volume", happened(bars), keyed(ours, promise))
    assert found["step"].tolist() == [1, 2, 3, 4, 5]


def test_without_nights_on_record_there_is_nothing_to_say():
    bars = bars_of({"AAA": np.full(count(), 1000.0)})
    found = outcomes(forecasts_of(["AAA"], AS_OF, 7.0), "log_volume", happened(bars), {})
    assert found.empty
    assert {"state", "live", "error"} <= set(found.columns)


def test_an_hour_that_an_early_close_cut_off_is_void():
    """Friday after Thanksgiving closes at 13:00; a forecast that named 14:30 of a day that was cut short is void."""
    from fints.sessions import bar_grid, get_calendar

    calendar = get_calendar("XNYS")
    grid = bar_grid(calendar, "2018-11-01", "2018-11-23", "1h")
    bars = pd.DataFrame(
        {
            "symbol": "AAA",
            "interval": "1h",
            "exchange": "XNYS",
            **{c: grid[c] for c in ("session", "start", "end")},
            "open": 10.0,
            "high": 11.0,
            "low": 9.0,
            "close": 10.0,
            "adj_close": 10.0,
            "volume": pd.array([1000] * len(grid), dtype="Int64"),
            "currency": "USD",
            "source": "made",
            "fetched_at": pd.Timestamp("2018-11-24", tz="UTC"),
        }
    )
    rows = forecasts_of(["AAA"], "2018-11-21", np.log(1000), h=7, made_at="2018-11-21T22:00Z")
    hours = pd.date_range("2018-11-23 09:30", periods=7, freq="h")
    rows = rows.assign(interval="1h", ds=hours, as_of=pd.Timestamp("2018-11-21 21:00"))
    panel = make_panel(bars[bars["session"] <= "2018-11-21"], "log_volume", features=False, companions=False)
    found = outcomes(rows, "log_volume", happened(bars, "2018-11-24T00:00Z"), keyed(rows, promise_of(rows, panel)))
    assert found["state"].tolist() == ["scored"] * 4 + ["void"] * 3


def remade(first, made_at, shift):
    """Make the forecasts of a night again at another instant, off by so much."""
    moved = [name for name in first.columns if name == "mean" or name.startswith("q")]
    return first.assign(created_at=pd.Timestamp(made_at), **{name: first[name] + shift for name in moved})


def held_to(*sets):
    """Return what the forecasts of a night are held to, by the bias of each set, and whether they are live."""
    bars = bars_of({"AAA": np.full(count(), 1000.0)})
    promises = {key: one for rows in sets for key, one in keyed(rows, promise_of(rows, known(bars))).items()}
    found = outcomes(pd.concat(sets, ignore_index=True), "log_volume", happened(bars), promises)
    done = found[found["state"] == "scored"]
    assert not done.duplicated(["as_of", "unique_id", "step"]).any()
    return done["error"].round(6).unique().tolist(), done["live"].astype(bool)


def test_forecasts_that_are_made_again_afterwards_leave_those_standing_that_were_made_in_time():
    """A week later with other values, or the same: what was said on the evening is what is scored, and live."""
    first = forecasts_of(["AAA"], AS_OF, np.log(1000))
    for shift in (-0.2, 0.0):
        errors, live = held_to(first, remade(first, "2018-11-28T22:00Z", shift))
        assert errors == [pytest.approx(0, abs=1e-6)]
        assert live.all()


def test_forecasts_that_are_made_again_before_any_bar_was_over_take_the_place_of_the_first():
    first = forecasts_of(["AAA"], AS_OF, np.log(1000))
    errors, live = held_to(first, remade(first, "2018-11-21T15:00Z", -0.2))
    assert errors == [pytest.approx(0.2, abs=1e-6)]
    assert live.all()
    errors, _ = held_to(first, remade(first, "2018-11-21T15:00Z", -0.2), remade(first, "2018-11-21T22:00Z", -0.3))
    assert errors == [pytest.approx(0.2, abs=1e-6)]


def test_where_nothing_was_made_in_time_the_newest_counts_and_is_not_live():
    late = remade(forecasts_of(["AAA"], AS_OF, np.log(1000)), "2018-12-30T22:00Z", 0.0)
    errors, live = held_to(late, remade(late, "2018-12-30T23:00Z", -0.2))
    assert errors == [pytest.approx(0.2, abs=1e-6)]
    assert not live.any()


def two_of_a_date():
    """Return what is forecast of New York on 2018-11-20 after Tokyo's close, that day included, and after its own."""
    late = forecasts_of(["AAA"], AS_OF, np.log(1000), made_at="2018-11-20T21:15Z")
    early = remade(late, "2018-11-20T06:45Z", -0.3)
    return early.assign(ds=[pd.Timestamp(AS_OF), *late["ds"].iloc[:-1]]), late


def test_of_two_nights_of_a_date_the_later_one_stands_though_a_bar_of_the_earlier_one_was_over():
    """At 21:15 UTC the bar of the day was over, which the later night no longer forecast: nothing is hindsight."""
    errors, live = held_to(*two_of_a_date())
    assert errors == [pytest.approx(0, abs=1e-6)]
    assert live.all()
    assert len(live) == 19


def test_of_two_nights_of_a_date_and_one_that_was_made_again_the_second_stands():
    early, late = two_of_a_date()
    errors, live = held_to(early, late, remade(late, "2018-11-23T22:00Z", -0.2))
    assert errors == [pytest.approx(0, abs=1e-6)]
    assert live.all()


def test_each_series_and_night_is_held_to_its_own_forecasts_in_one_look():
    """Of six series, two are made again in time, two afterwards, two not at all; and so on the night after."""
    names, bars = list("ABCDEF"), bars_of({name: np.full(count(), 1000.0) for name in "ABCDEF"})
    sets = []
    for as_of, soon, late in (
        (AS_OF, "2018-11-21T15:00Z", "2018-11-28T22:00Z"),
        ("2018-11-21", "2018-11-23T15:00Z", "2018-11-28T23:00Z"),
    ):
        first = forecasts_of(names, as_of, np.log(1000))
        sets += [first]
        sets += [
            remade(first[first["unique_id"].isin(list(own))], at, by)
            for own, at, by in (("AB", soon, -0.2), ("CD", late, -0.5))
        ]
    promises = {}
    for rows in sets:
        promises |= keyed(rows, promise_of(rows, known(bars, rows["as_of"].iloc[0])))
    found = outcomes(pd.concat(sets[::-1], ignore_index=True), "log_volume", happened(bars), promises)
    done = found[found["state"] == "scored"]
    errors = done.groupby(["as_of", "unique_id"])["error"].agg(["min", "max", "size"]).reset_index()
    expected = np.where(errors["unique_id"].isin(["A", "B"]), 0.2, 0.0)
    assert len(errors) == 12
    assert errors["min"].to_numpy() == pytest.approx(expected, abs=1e-6)
    assert errors["max"].to_numpy() == pytest.approx(expected, abs=1e-6)
    assert errors["size"].eq(19).all()
