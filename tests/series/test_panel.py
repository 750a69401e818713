import tracemalloc

import numpy as np
import pandas as pd
import pytest

from fints.errors import SchemaError, SeriesError, UnknownNameError
from fints.series import TARGETS, add_features, make_panel, panel_problems
from fints.sessions import FEATURES, get_calendar


def test_zero_volume_days_of_the_sample_have_no_row_and_are_reported(sample):
    panel = make_panel(sample, "log_volume", features=False, companions=False)
    assert panel.groupby("unique_id").size().to_dict() == {"^GSPC": 5031, "^IXIC": 5029}
    gone = panel.loc[panel["unique_id"] == "^IXIC", "ds"]
    assert not gone.isin(pd.to_datetime(["2015-05-12", "2018-01-09"])).any()
    (problem,) = panel_problems(sample, "log_volume")
    assert problem.unique_id == "^IXIC"
    assert not problem.left_out
    assert "2 of 5031 bars" in problem.reason
    assert "2015-05-12, 2018-01-09" in problem.reason


def test_the_panel_follows_its_schema(make_bars):
    bars = pd.concat([make_bars("BBB"), make_bars("AAA", exchange="XLON")])
    panel = make_panel(bars, "log_range")
    assert list(panel.columns[:5]) == ["unique_id", "ds", "y", "exchange", "interval"]
    assert [c for c in panel if c.startswith("past_")] == ["past_log_volume", "past_log_return"]
    assert panel["ds"].dtype == np.dtype("datetime64[ns]")
    floats = panel.drop(columns=["unique_id", "ds", "exchange", "interval"])
    assert (floats.dtypes == np.float64).all()
    assert panel[["unique_id", "ds"]].equals(panel[["unique_id", "ds"]].sort_values(["unique_id", "ds"]))
    assert np.isfinite(panel["y"]).all()
    assert panel.filter(like="cal_").notna().all(axis=None)


def test_companions_are_the_series_own_targets_on_the_same_bars(make_bars):
    bars = make_bars()
    panel = make_panel(bars, "log_volume", features=False)
    np.testing.assert_array_equal(panel["past_log_range"], TARGETS["log_range"](bars))
    np.testing.assert_array_equal(panel["past_log_return"], TARGETS["log_return"](bars))
    only = make_panel(bars, "log_volume", features=False, companions=["abs_return"])
    assert [c for c in only if c.startswith("past_")] == ["past_abs_return"]


def test_a_companion_that_no_series_has_is_left_out(make_bars):
    bars = make_bars()
    close_only = bars.assign(high=bars["close"], low=bars["close"], open=bars["close"])
    panel = make_panel(close_only, "log_volume", features=False)
    assert [c for c in panel if c.startswith("past_")] == ["past_log_return"]


def test_a_return_never_reaches_into_another_series(make_bars):
    bars = pd.concat([make_bars("AAA"), make_bars("BBB")])
    panel = make_panel(bars, "log_return", features=False)
    assert panel.groupby("unique_id")["ds"].min().unique().tolist() == [pd.Timestamp("2018-01-03")]
    assert panel_problems(bars, "log_return") == []


def test_the_order_of_the_bars_does_not_matter(make_bars):
    bars = pd.concat([make_bars("AAA"), make_bars("BBB", exchange="XTKS")])
    shuffled = bars.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(make_panel(bars, "log_volume"), make_panel(shuffled, "log_volume"))


def test_nothing_after_a_bar_changes_its_row(make_bars):
    bars = make_bars()
    cut = 150
    later = bars.assign(**{c: bars[c].where(np.arange(len(bars)) < cut, bars[c] * 3) for c in ("high", "adj_close")})
    before, after = make_panel(bars, "log_return"), make_panel(later, "log_return")
    pd.testing.assert_frame_equal(before.iloc[: cut - 1], after.iloc[: cut - 1])
    assert not before.equals(after)


def test_a_close_only_series_is_left_out_of_ranges_and_the_others_go_on(make_bars):
    flat = make_bars("FLAT")
    flat = flat.assign(
        high=flat["close"], low=flat["close"], open=flat["close"], volume=pd.array([pd.NA] * len(flat), "Int64")
    )
    bars = pd.concat([flat, make_bars("GOOD")])
    panel = make_panel(bars, "log_range", features=False)
    assert panel["unique_id"].unique().tolist() == ["GOOD"]
    (problem,) = panel_problems(bars, "log_range")
    assert problem.left_out
    assert str(problem) == f"FLAT: none of its {len(flat)} bars has a log_range: high and low equal or missing"
    with pytest.raises(SeriesError, match="none of the"):
        make_panel(flat, "log_volume")


def test_features_can_be_chosen_and_agree_with_all_of_them(make_bars):
    bars = make_bars()
    names = sorted(FEATURES)[:2]
    every = make_panel(bars, "log_volume")
    some = make_panel(bars, "log_volume", features=names)
    assert [c for c in some if c.startswith("cal_")] == [f"cal_{name}" for name in names]
    pd.testing.assert_frame_equal(some, every[some.columns])


def test_the_calendar_of_many_rows_is_laid_out_once(make_bars):
    """Of many series it is most of a panel, and a second copy of it was the most that a night ever held."""
    bare = make_panel(make_bars(), "log_volume", features=False)
    many = pd.concat([bare.assign(unique_id=f"S{number:03d}") for number in range(200)], ignore_index=True)
    expected = add_features(many)
    tracemalloc.start()
    panel = add_features(many)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    pd.testing.assert_frame_equal(panel, expected)
    assert peak < 1.7 * panel.filter(like="cal_").memory_usage(index=False).sum()


def test_features_put_beside_a_bare_panel_are_those_that_it_is_made_with(make_bars):
    bars = pd.concat([make_bars("AAA"), make_bars("BBB", exchange="XLON"), make_bars("CCC", exchange="XTKS")])
    made = make_panel(bars, "log_range", known_at="2018-06-01")
    bare = make_panel(bars, "log_range", features=False)
    pd.testing.assert_frame_equal(add_features(bare, known_at="2018-06-01"), made)
    alone = bare[bare["unique_id"] == "BBB"].reset_index(drop=True)
    expected = made[made["unique_id"] == "BBB"].reset_index(drop=True)
    pd.testing.assert_frame_equal(add_features(alone, known_at="2018-06-01"), expected)


def test_features_are_those_known_at_the_given_date(make_bars):
    bars = make_bars(start="2018-11-01", end="2018-12-04")
    unaware = make_panel(bars, "log_volume", known_at="2018-11-20").filter(like="cal_").to_numpy()
    aware = make_panel(bars, "log_volume", known_at="2018-12-03").filter(like="cal_").to_numpy()
    np.testing.assert_array_equal(unaware[:10], aware[:10])
    assert not np.array_equal(unaware[-1], aware[-1])


def test_intraday_rows_are_stamped_with_the_exchange_s_wall_clock(make_bars):
    bars = make_bars("TYO", exchange="XTKS", interval="1h", start="2018-06-01", end="2018-06-05")
    panel = make_panel(bars, "log_volume")
    first = panel["ds"].dt.strftime("%H:%M").unique().tolist()
    zone = get_calendar("XTKS").timezone
    assert first == bars["start"].dt.tz_convert(zone).dt.strftime("%H:%M").unique().tolist()
    assert "12:00" not in first


def test_mixed_intervals_are_refused_by_name(make_bars):
    bars = pd.concat([make_bars(), make_bars("BBB", interval="1h", start="2018-06-01", end="2018-06-05")])
    with pytest.raises(SchemaError, match="1d, 1h"):
        make_panel(bars, "log_volume")


def test_a_bar_that_is_there_twice_is_named(make_bars):
    bars = make_bars()
    twice = pd.concat([bars, bars.iloc[[7]].assign(end=bars["end"].iloc[7] + pd.Timedelta("1min"))])
    with pytest.raises(SchemaError, match=r"'AAA', 1d, 2018-01-11\): the key occurs twice"):
        make_panel(twice, "log_volume")


def test_a_symbol_on_two_exchanges_is_refused(make_bars):
    early, late = make_bars(end="2018-06-29"), make_bars(exchange="XLON", start="2018-07-02")
    with pytest.raises(SchemaError, match="AAA stands on more than one exchange"):
        make_panel(pd.concat([early, late]), "log_volume")


def test_a_bar_on_a_closed_day_is_named(make_bars):
    bars = make_bars()
    wrong = bars.assign(session=bars["session"].replace(pd.Timestamp("2018-07-05"), pd.Timestamp("2018-07-04")))
    with pytest.raises(SeriesError, match="AAA: 2018-07-04 is no session of XNYS"):
        make_panel(wrong, "log_volume")


def test_unknown_names_are_refused(make_bars):
    with pytest.raises(UnknownNameError, match="unknown target 'volume'"):
        make_panel(make_bars(), "volume")
    with pytest.raises(UnknownNameError, match="moon"):
        make_panel(make_bars(), "log_volume", features=["moon"])
    with pytest.raises(UnknownNameError, match="unknown target 'moon'"):
        make_panel(make_bars(), "log_volume", companions=["moon"])
