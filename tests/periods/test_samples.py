import numpy as np
import pandas as pd
import pytest

from fints.errors import SeriesError
from fints.periods.samples import BarPlaces, Samples, make_samples
from fints.series import located, validate_panel
from fints.sessions import bar_grid, get_calendar, session_ordinals


def sampled(panel: pd.DataFrame) -> Samples:
    (part,) = located(panel)
    at = BarPlaces.of(part.bars, part.calendar).take(part.bar_of_row)
    return make_samples("A", at, panel["y"].to_numpy()[part.rows])[0]


def noise(n: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal(n)


def intraday(exchange: str, interval: str, start: str, end: str, anchor: str = "open") -> pd.DataFrame:
    grid = bar_grid(get_calendar(exchange), start, end, interval, anchor)
    frame = pd.DataFrame({"unique_id": "A", "ds": grid["ds"], "y": noise(len(grid))})
    return validate_panel(frame, exchange=exchange, interval=interval)


def test_daily_bars_stand_on_their_session_ordinals(as_panel):
    panel = validate_panel(as_panel(A=noise(300)))
    samples = sampled(panel)
    ordinals = session_ordinals(get_calendar("XNYS"), pd.DatetimeIndex(panel["ds"]))
    np.testing.assert_array_equal(samples.session, ordinals)
    np.testing.assert_array_equal(samples.calendar, (panel["ds"] - pd.Timestamp("1970-01-01")).dt.days)
    np.testing.assert_array_equal(samples.slot, np.arange(300))
    assert samples.step == 1.0
    assert samples.note == ""


def test_short_gaps_keep_their_slots_and_are_interpolated(as_panel):
    panel = validate_panel(as_panel(A=noise(300)))
    samples = sampled(panel.drop(index=[50, 51, 120]))
    assert (samples.size, samples.missing) == (300, 3)
    regular = samples.regular(samples.value)
    y = panel["y"].to_numpy()
    assert regular[50] == pytest.approx(y[49] + (y[52] - y[49]) / 3)
    np.testing.assert_array_equal(np.delete(regular, [50, 51, 120]), np.delete(y, [50, 51, 120]))


def test_missing_values_are_gaps_too(as_panel):
    y = noise(200)
    holed = np.where(np.arange(200) == 77, np.nan, y)
    samples = sampled(validate_panel(as_panel(A=holed)))
    assert samples.missing == 1
    assert 77 not in samples.slot


def test_a_long_interruption_is_left_open_and_said(as_panel):
    panel = validate_panel(as_panel(A=noise(400)))
    samples = sampled(panel.drop(index=range(120, 150)).reset_index(drop=True))
    assert len(samples.value) == 370
    assert samples.missing == 0
    assert [(part.start, part.stop) for part in samples.stretches] == [(0, 120), (150, 400)]
    assert (samples.taper[120:150] == 0).all()
    assert (samples.taper[30:90] == 1).all()
    assert samples.describe() == "1 longer gaps left open (Lomb-Scargle)"


def test_a_few_values_between_long_gaps_are_left_out(as_panel):
    panel = validate_panel(as_panel(A=noise(400)))
    samples = sampled(panel.drop(index=[*range(120, 150), *range(155, 200)]).reset_index(drop=True))
    assert len(samples.value) == 320
    assert "320 of 325 values used" in samples.describe()


def test_intraday_bars_get_the_slots_of_an_ordinary_session():
    panel = intraday("XNYS", "1h", "2018-10-01", "2018-12-31")
    samples = sampled(panel)
    assert samples.step == pytest.approx(1 / 7)
    half_days = 2
    assert samples.missing == 3 * half_days
    per_session = pd.Series(samples.slot // 7).value_counts()
    assert sorted(per_session.unique()) == [4, 7]
    full = per_session[per_session == 7].index
    last = samples.session[np.isin(samples.slot // 7, full) & (samples.slot % 7 == 6)]
    np.testing.assert_array_equal(last, np.rint(last))


def test_a_lunch_break_is_no_gap():
    samples = sampled(intraday("XTKS", "30m", "2018-06-01", "2018-07-31"))
    assert samples.missing == 0


def test_useless_series_are_refused_with_numbers(as_panel):
    with pytest.raises(SeriesError, match="A: 59 values, too short"):
        sampled(validate_panel(as_panel(A=noise(59))))
    with pytest.raises(SeriesError, match="A: constant, each of its 100 values is 4"):
        sampled(validate_panel(as_panel(A=np.full(100, 4.0))))
    with pytest.raises(SeriesError, match="A: 0 values"):
        sampled(validate_panel(as_panel(A=np.full(100, np.nan))))
    with pytest.raises(SeriesError, match="A: 1 of 100 values are infinite"):
        sampled(validate_panel(as_panel(A=np.where(np.arange(100) == 3, np.inf, noise(100)))))
    sparse = validate_panel(as_panel(A=noise(400))).iloc[::2]
    with pytest.raises(SeriesError, match="A: 199 of 399 bars are missing"):
        sampled(sparse)
