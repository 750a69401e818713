import numpy as np
import pandas as pd
import pytest

from fints.errors import SchemaError, SeriesError, UnknownNameError
from fints.series import make_panel, validate_panel
from fints.sessions import get_calendar


def bare(exchange="XNYS", uid="A", start="2018-06-01", end="2018-08-31"):
    ds = get_calendar(exchange).sessions(start, end)
    return pd.DataFrame({"unique_id": uid, "ds": ds, "y": np.arange(len(ds), dtype=float)})


def test_a_bare_frame_is_daily_new_york():
    panel = validate_panel(bare())
    assert panel.columns.tolist() == ["unique_id", "ds", "y", "exchange", "interval"]
    assert panel["exchange"].unique().tolist() == ["XNYS"]
    assert panel["interval"].unique().tolist() == ["1d"]


def test_a_bare_frame_of_another_exchange_says_so():
    assert len(validate_panel(bare("XTKS"), exchange="XTKS")) == len(bare("XTKS"))


def test_dates_that_are_no_sessions_are_named_with_the_cure():
    with pytest.raises(SeriesError, match=r'A: 2018-07-04 is no session of XNYS.*exchange="XLON"'):
        validate_panel(bare("XLON"))


def test_a_valid_panel_comes_back_as_it_was(make_bars):
    panel = make_panel(make_bars(), "log_volume")
    pd.testing.assert_frame_equal(validate_panel(panel), panel)


def test_rows_are_sorted_and_the_caller_s_frame_is_untouched():
    frame = pd.concat([bare(uid="B"), bare(uid="A")]).iloc[::-1]
    before = frame.copy()
    panel = validate_panel(frame)
    assert panel["unique_id"].is_monotonic_increasing
    assert panel.groupby("unique_id")["ds"].apply(lambda ds: ds.is_monotonic_increasing).all()
    pd.testing.assert_frame_equal(frame, before)


def test_what_is_valid_already_is_neither_copied_nor_shared():
    """A night checks the panel of many series again and again."""
    two = [bare(uid="A"), bare(uid="B")]
    valid = validate_panel(pd.concat(two, ignore_index=True))
    again = validate_panel(valid)
    for column in ("y", "ds"):
        assert np.shares_memory(again[column].to_numpy(), valid[column].to_numpy())
    again.loc[0, "y"] = -1.0
    again.loc[0, "ds"] = pd.Timestamp("1970-01-01")
    assert valid.loc[0, "y"] == 0.0
    assert valid.loc[0, "ds"] > pd.Timestamp("2018-01-01")


@pytest.mark.parametrize("order", [("B", "A"), ("A", "B", "A"), ("A", "B")])
def test_rows_in_any_order_come_out_in_one(order):
    halves = {name: iter(np.array_split(np.arange(64), order.count(name))) for name in set(order)}
    parts = [bare(uid=name).iloc[next(halves[name])[:32]] for name in order]
    frame = pd.concat(parts, ignore_index=True)
    expected = frame.sort_values(["unique_id", "ds"], kind="stable", ignore_index=True)
    assert validate_panel(frame)[["unique_id", "ds", "y"]].equals(expected)
    assert validate_panel(frame.iloc[::-1])[["unique_id", "ds", "y"]].equals(expected)


def test_text_dates_and_other_units_are_read():
    frame = bare()
    text = frame.assign(ds=frame["ds"].dt.strftime("%Y-%m-%d"))
    coarse = frame.assign(ds=frame["ds"].astype("datetime64[s]"), y=frame["y"].astype("int64"))
    pd.testing.assert_frame_equal(validate_panel(text), validate_panel(frame))
    pd.testing.assert_frame_equal(validate_panel(coarse), validate_panel(frame))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="y"), "lacks y"),
        (lambda f: f.assign(weather=1.0), "weather; rename them cal_"),
        (lambda f: f.assign(ds=f["ds"].dt.tz_localize("UTC")), "time zone"),
        (lambda f: f.assign(ds=f["ds"].where(f.index != 3)), "ds is missing in row 3"),
        (lambda f: f.assign(ds="soon"), "ds holds no dates"),
        (lambda f: f.assign(y="high"), "column y holds something that is no number"),
        (lambda f: pd.concat([f, f.iloc[[2]]]), r"A has 2018-06-05 more than once \(1 such"),
        (lambda f: f.assign(interval=["1d", "1h"] * (len(f) // 2) + ["1d"] * (len(f) % 2)), "1d, 1h"),
        (lambda f: f.iloc[:0], "no rows"),
    ],
)
def test_a_broken_frame_is_refused_with_its_fault(change, message):
    with pytest.raises(SchemaError, match=message):
        validate_panel(change(bare()))


def test_unknown_exchange_and_interval_are_refused():
    with pytest.raises(UnknownNameError, match="XNYX"):
        validate_panel(bare(), exchange="XNYX")
    with pytest.raises(UnknownNameError, match="1fortnight"):
        validate_panel(bare(), interval="1fortnight")


def test_intraday_stamps_outside_trading_are_named():
    frame = pd.DataFrame({"unique_id": "A", "ds": pd.to_datetime(["2018-06-01 10:30", "2018-06-01 16:30"]), "y": 1.0})
    with pytest.raises(SeriesError, match="A: 2018-06-01 16:30 lies in no session"):
        validate_panel(frame, interval="1h")


def test_rows_closer_than_their_interval_are_named():
    ds = pd.date_range("2018-06-01 09:30", periods=6, freq="30min")
    with pytest.raises(SeriesError, match=r"A: two rows lie in one bar \(2018-06-01"):
        validate_panel(pd.DataFrame({"unique_id": "A", "ds": ds, "y": 1.0}), interval="1h")
