import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints import detect_periods
from fints.errors import ConfigError, SchemaError, SeriesError, UnknownNameError
from fints.periods.result import COLUMNS
from fints.series import add_features, validate_panel


def line(n: int, period: float, amplitude: float) -> np.ndarray:
    return amplitude * np.cos(2 * np.pi * np.arange(n) / period)


@pytest.fixture(scope="module")
def volume(sample_panel):
    return detect_periods(sample_panel("log_volume"))


@pytest.mark.parametrize("uid", ["^GSPC", "^IXIC"])
def test_the_volume_of_the_sample_holds_the_week_and_the_quarter_of_the_calendar_and_nothing_else(volume, uid):
    week, quarter = volume[uid]
    assert week.clock == quarter.clock == "calendar"
    assert week.period == pytest.approx(7, abs=0.001)
    assert week.harmonics == (1, 2, 3)
    assert week.other_period == pytest.approx(4.82, abs=0.01)
    assert quarter.period == pytest.approx(365.25 / 4, abs=0.5)
    # the twelfth is 7.61 days, a line of its own in the spectrum
    assert {1, 2, 3, 6, 12} <= set(quarter.harmonics)
    assert week.stable
    assert quarter.stable


@pytest.mark.parametrize("clock", ["both", "calendar"])
def test_what_the_weekends_make_of_a_line_is_no_line(sample_panel, clock):
    raw = detect_periods(sample_panel("log_volume"), clock=clock, effects=False)
    for line in raw:
        for alias in (8.27, 7.58, 6.50, 6.07):
            assert abs(line.period / alias - 1) > 0.003
    year = [line for line in raw if line.period == pytest.approx(365.25, abs=0.2)]
    assert {line.unique_id for line in year} == set(raw.series)
    assert all({4, 8, 24} <= set(line.harmonics) for line in year)


def test_on_the_session_clock_the_trading_week_of_the_sample_is_not_five_sessions(sample_panel):
    found = detect_periods(sample_panel("log_volume"), clock="session")
    for uid in found.series:
        lines = found[uid].to_frame()
        strongest = lines.iloc[lines["strength"].argmax()]
        assert strongest["period"] == pytest.approx(4.83, abs=0.01)
        spectrum = found.spectrum(uid)
        at_five = np.abs(spectrum.frequency - 1 / 5) < 0.5 / 5031
        assert (spectrum.power[at_five] < 3 * spectrum.null[at_five]).all()


def test_the_range_of_the_sample_has_no_zoo_of_lines(sample_panel):
    found = detect_periods(sample_panel("log_range"))
    assert all(line.period == pytest.approx(7, abs=0.002) for line in found)


@pytest.mark.parametrize(("clock", "period"), [("calendar", 7.0), ("calendar", 9.13), ("session", 5.0)])
def test_a_cycle_is_named_once_and_on_its_own_clock(clock, period, civil_days, as_panel):
    n = 2500
    place = civil_days(n) if clock == "calendar" else np.arange(n)
    y = np.random.default_rng(3).standard_normal(n) + 0.8 * np.cos(2 * np.pi * place / period)
    (only,) = detect_periods(as_panel(A=y))
    assert only.clock == clock
    assert only.period == pytest.approx(period, rel=1e-3)
    assert only.also_on == ""


def test_a_slow_cycle_that_either_clock_explains_says_so(civil_days, as_panel):
    n = 700
    y = np.random.default_rng(3).standard_normal(n) + 0.8 * np.cos(2 * np.pi * civil_days(n) / 121.3)
    (only,) = detect_periods(as_panel(A=y))
    assert {only.clock, only.also_on} == {"calendar", "session"}
    periods = {only.clock: only.period, only.also_on: only.other_period}
    assert periods["calendar"] == pytest.approx(121.3, rel=0.05)


def test_a_one_off_effect_is_no_line_and_does_not_take_the_week_with_it(civil_days, as_panel):
    n = 2500
    panel = as_panel(A=np.random.default_rng(5).standard_normal(n) + 0.5 * np.cos(2 * np.pi * civil_days(n) / 7))
    expiry = add_features(validate_panel(panel), ["triple_witching"])["cal_triple_witching"].to_numpy()
    effected = panel.assign(y=panel["y"] + 4.0 * expiry)
    (week,), (plain,) = detect_periods(effected), detect_periods(panel)
    assert week.strength == pytest.approx(plain.strength, rel=1e-2)
    assert week.period == pytest.approx(7, abs=0.005)
    assert week.amplitude == pytest.approx(0.5, abs=0.1)
    raw = detect_periods(effected, effects=False)
    assert len(raw) > 1 or "sidebands" in next(iter(raw)).note


def test_outliers_and_a_jump_of_level_are_not_lines_and_hide_none(as_panel):
    n, rng = 1500, np.random.default_rng(10)
    y = rng.standard_normal(n) + line(n, 12.3, 0.7)
    y[rng.integers(0, n, 12)] -= 15.0
    y[n // 3 :] += 4.0
    found = detect_periods(as_panel(A=y))
    assert [round(one.period, 1) for one in found] == [12.3]
    assert "outliers taken out" in next(iter(found)).method


@pytest.mark.parametrize("phi", [0.0, 0.95])
def test_a_shift_of_level_makes_no_slow_lines_and_hides_none(phi, red_noise, as_panel):
    n = 1000
    y = red_noise(n, phi, np.random.default_rng(4))
    y += 2 * y.std() * (np.arange(n) >= n // 2)
    assert len(detect_periods(as_panel(A=y), alpha=0.01)) == 0
    slow = np.sqrt(2) * y[: n // 2].std() * np.cos(2 * np.pi * np.arange(n) / 83)
    found = detect_periods(as_panel(A=y + slow), alpha=0.01)
    assert [round(one.period / (83 if one.clock == "session" else 83 / 0.69), 1) for one in found] == [1.0]
    assert "shift of level at 2001-12" in next(iter(found)).method or phi


def test_many_outliers_neither_make_lines_nor_hide_the_week(civil_days, as_panel):
    n, rng = 1000, np.random.default_rng(6)
    y = rng.standard_normal(n)
    y += 6 * (rng.random(n) < 0.03) * rng.choice([-1, 1], n)
    week = np.sqrt(20) * np.cos(2 * np.pi * civil_days(n) / 7)
    for estimator in ("linear", "robust"):
        assert len(detect_periods(as_panel(A=y), alpha=0.01, estimator=estimator)) == 0
        found = detect_periods(as_panel(A=y + week), alpha=0.01, estimator=estimator)
        assert [round(one.period, 2) for one in found] == [7.0]


@pytest.mark.parametrize("phi", [0.0, 0.7])
@pytest.mark.parametrize("period", [6.7, 20.37, 61.9])
def test_a_planted_line_is_found_within_twice_the_bound(phi, period, red_noise, as_panel):
    n, amplitude = 1000, 1.5
    noise = red_noise(n, phi, np.random.default_rng(int(10 * period)))
    found = detect_periods(as_panel(A=noise + line(n, period, amplitude)))
    assert len(found) == 1
    (only,) = found
    level = 1 / np.abs(1 - phi * np.exp(-2j * np.pi / period)) ** 2
    bound = np.sqrt(24 * level / (amplitude**2 * n**3)) / (2 * np.pi) * period**2
    assert abs(only.period - period) < 2 * bound
    assert only.period_se == pytest.approx(bound, rel=0.35)
    assert only.amplitude == pytest.approx(amplitude, rel=0.25)
    assert only.stable
    assert only.harmonics == (1,)


def test_harmonics_are_grouped_and_several_cycles_told_apart(as_panel):
    n = 1500
    noise = np.random.default_rng(6).standard_normal(n)
    y = noise + line(n, 9.7, 1.0) + line(n, 9.7 / 2, 1.0) + line(n, 41.3, 1.0)
    frame = detect_periods(as_panel(A=y)).to_frame().set_index("harmonics")
    assert frame.loc["1,2", "period"] == pytest.approx(9.7, abs=0.01)
    assert frame.loc["1", "period"] == pytest.approx(41.3, abs=0.3)
    assert len(frame) == 2


def test_gaps_are_bridged_and_the_method_says_so(as_panel):
    n = 900
    panel = as_panel(A=line(n, 12.3, 1.0) + np.random.default_rng(2).standard_normal(n))
    holed = panel.drop(index=[100, 101, 300, 301, 302, 555])
    (only,) = detect_periods(holed)
    assert only.period == pytest.approx(12.3, abs=0.02)
    assert "6 of 900 slots interpolated linearly" in only.method


@settings(deadline=None, max_examples=10)
@given(shift=st.floats(-1e3, 1e3), scale=st.floats(1e-2, 1e3))
def test_level_and_unit_change_neither_periods_nor_p_values(as_panel, red_noise, shift, scale):
    n = 500
    y = red_noise(n, 0.5, np.random.default_rng(8)) + line(n, 8.3, 1.5)
    before, after = detect_periods(as_panel(A=y)), detect_periods(as_panel(A=scale * y + shift))
    assert len(before) >= 1
    for one, other in zip(before, after, strict=True):
        assert other.period == pytest.approx(one.period, rel=1e-7)
        assert other.p_value == pytest.approx(one.p_value, rel=1e-4, abs=1e-300)
        assert other.strength == pytest.approx(one.strength, rel=1e-4)
        assert other.amplitude == pytest.approx(scale * one.amplitude, rel=1e-4)


def test_nothing_outside_the_panel_is_read(sample_panel):
    panel = sample_panel("log_volume")
    early = panel[panel["ds"] < "2006-01-01"]
    changed = panel.assign(y=np.where(panel["ds"] < "2006-01-01", panel["y"], panel["y"] * 7))
    first = detect_periods(early).to_frame()
    detect_periods(changed)
    again = detect_periods(changed[changed["ds"] < "2006-01-01"]).to_frame()
    pd.testing.assert_frame_equal(first, again, check_exact=True)


def test_a_period_with_too_few_cycles_is_not_reported(as_panel):
    n = 600
    panel = as_panel(A=line(n, 100.0, 2.0) + np.random.default_rng(4).standard_normal(n))
    (found,) = detect_periods(panel, min_cycles=5, alpha=0.01)
    assert found.period == pytest.approx(100, abs=3)
    assert len(detect_periods(panel, min_cycles=8, alpha=0.01)) == 0


def test_two_lines_a_bin_and_a_half_apart_are_told_apart_at_ten_decibels(as_panel):
    n, amplitude = 1000, np.sqrt(20)
    second = 1 / (0.1 + 1.5 / n)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        lines = [amplitude * np.cos(2 * np.pi * np.arange(n) / p + rng.uniform(-3, 3)) for p in (10.0, second)]
        found = detect_periods(as_panel(A=sum(lines) + rng.standard_normal(n)), alpha=0.001)
        assert sorted(round(one.period, 2) for one in found) == [round(second, 2), 10.0]


def test_a_period_asked_for_that_the_series_is_too_short_for_is_said_to_be_undetectable(as_panel):
    panel = as_panel(A=line(600, 100.0, 2.0) + np.random.default_rng(4).standard_normal(600))
    found = detect_periods(panel, longest=252, alpha=0.01)
    (problem,) = found.problems
    assert not problem.left_out
    assert "a period of 252 sessions is undetectable at this length" in problem.reason
    assert "756 sessions, and there are 600" in problem.reason
    assert found.longest("session") == pytest.approx(200)
    assert not detect_periods(panel, longest=200).problems
    assert len(detect_periods(panel, longest=50, alpha=0.01)) == 0


def test_a_session_that_is_a_day_is_searched_once():
    days = pd.date_range("2015-01-01", periods=900)
    y = np.random.default_rng(6).standard_normal(900) + line(900, 7.0, 1.0)
    panel = pd.DataFrame({"unique_id": "BTC", "ds": days, "y": y, "exchange": "24/7", "interval": "1d"})
    (week,) = detect_periods(panel)
    assert week.period == pytest.approx(7, abs=0.02)
    assert week.other_period == pytest.approx(week.period, rel=1e-3)


@pytest.mark.parametrize(
    "shape",
    [
        lambda t: np.cos(2 * np.pi * t / 10),
        lambda t: 1e6 + 3.0 * t,
        lambda t: np.exp(t / 50),
        lambda t: np.where(t == 200, 1e6, np.sin(t**2)),
        lambda t: np.where(t > 200, 100.0, 0.0) + np.sin(t**2),
    ],
)
def test_series_without_noise_or_with_a_jump_end_the_search_quietly(shape, as_panel):
    found = detect_periods(as_panel(A=shape(np.arange(394.0))))
    assert all(one.period == pytest.approx(10) for one in found)


def test_max_lines_and_alpha_limit_what_is_reported(volume, sample_panel):
    panel = sample_panel("log_volume")
    few = detect_periods(panel, max_lines=1)
    assert [one.unique_id for one in few] == ["^GSPC", "^IXIC"]
    strict = detect_periods(panel, alpha=1e-6)
    assert 0 < len(strict) < len(volume)
    assert all(one.p_value <= 1e-6 for one in strict)


def test_series_that_cannot_be_searched_are_listed_and_the_others_go_on(as_panel):
    rng = np.random.default_rng(1)
    good = rng.standard_normal(300) + line(300, 7.3, 2.0)
    panel = as_panel(GOOD=good, FLAT=np.ones(300), SHORT=good[:20], EMPTY=np.full(100, np.nan))
    found = detect_periods(panel)
    assert found.series == ("GOOD",)
    assert [one.unique_id for one in found] == ["GOOD"]
    reasons = {problem.unique_id: problem.reason for problem in found.problems}
    assert reasons.keys() == {"FLAT", "SHORT", "EMPTY"}
    assert reasons["FLAT"].startswith("constant")
    assert reasons["SHORT"].startswith("20 values, too short")


def test_several_processes_find_what_one_does(as_panel):
    rng = np.random.default_rng(2)
    panel = as_panel(FLAT=np.ones(80), **{f"S{k:02d}": rng.standard_normal(80) + line(80, 7.3, 1.5) for k in range(20)})
    one, two = detect_periods(panel), detect_periods(panel, n_jobs=2)
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame(), check_exact=True)
    assert one.series == two.series
    assert one.problems == two.problems
    np.testing.assert_array_equal(one.spectrum("S07").power, two.spectrum("S07").power)


def test_a_panel_without_any_usable_series_is_an_error(as_panel):
    with pytest.raises(SeriesError, match=r"no series can be searched.*A: constant"):
        detect_periods(as_panel(A=np.ones(300)))


def test_duplicate_rows_are_refused(as_panel):
    panel = as_panel(A=np.random.default_rng(0).standard_normal(100))
    with pytest.raises(SchemaError, match="more than once"):
        detect_periods(pd.concat([panel, panel.iloc[[3]]]))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"alpha": 0.0}, ConfigError),
        ({"alpha": 1.5}, ConfigError),
        ({"max_lines": 0}, ConfigError),
        ({"n_jobs": 0}, ConfigError),
        ({"min_cycles": 0.5}, ConfigError),
        ({"longest": 0}, ConfigError),
        ({"clock": "lunar"}, UnknownNameError),
        ({"method": "divination"}, UnknownNameError),
        ({"estimator": "wishful"}, UnknownNameError),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, error, as_panel):
    with pytest.raises(error):
        detect_periods(as_panel(A=np.random.default_rng(0).standard_normal(100)), **arguments)


def test_q_values_over_a_panel_are_never_below_p(as_panel, red_noise):
    rng = np.random.default_rng(12)
    series = {f"N{k}": red_noise(300, 0.5, rng) for k in range(12)}
    series["LINE"] = series["N0"] + line(300, 6.1, 2.0)
    found = detect_periods(as_panel(**series), alpha=0.5)
    assert all(one.q_value >= one.p_value for one in found)
    best = min(found, key=lambda one: one.p_value)
    assert best.unique_id == "LINE"
    assert best.q_value == pytest.approx(13 * best.p_value)


def test_the_result_is_a_frame_a_collection_and_a_figure(volume):
    frame = volume.to_frame()
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == len(volume) == len(list(volume))
    assert (frame["p_value"] <= 0.05).all()
    assert set(volume["^GSPC"].to_frame()["unique_id"]) == {"^GSPC"}
    spectrum = volume["^GSPC"].spectrum("^GSPC", "session")
    sizes = {len(getattr(spectrum, name)) for name in ("frequency", "power", "null", "threshold")}
    assert len(sizes) == 1
    assert (np.diff(spectrum.frequency) > 0).all()
    assert (spectrum.threshold > spectrum.null).all()
    weekly = np.abs(spectrum.frequency - 1 / 4.83) < 1e-3
    assert (spectrum.power[weekly] > spectrum.threshold[weekly]).any()
    with pytest.raises(UnknownNameError, match=r"unknown series '\^DJI'"):
        volume["^DJI"]


def test_an_empty_result_keeps_its_columns_and_types(as_panel):
    found = detect_periods(as_panel(A=np.random.default_rng(3).standard_normal(200)), alpha=1e-9)
    frame = found.to_frame()
    assert len(found) == 0
    assert tuple(frame.columns) == COLUMNS
    assert frame["period"].dtype == np.float64
    assert frame["stable"].dtype == np.bool_
