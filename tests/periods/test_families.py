import numpy as np
import pytest

from fints import FrequencyPlan, detect_periods

YEAR = 365.25


def wave(place: np.ndarray, period: float, phase: float = 0.3) -> np.ndarray:
    return np.cos(2 * np.pi * place / period + phase)


def test_a_week_whose_size_follows_the_season_is_one_cycle_with_sidebands(civil_days, as_panel):
    n = 2500
    t = civil_days(n)
    y = np.random.default_rng(0).standard_normal(n) + (1 + 0.9 * wave(t, YEAR / 4)) * wave(t, 7.0)
    (week,) = detect_periods(as_panel(A=y), alpha=0.01)
    assert week.period == pytest.approx(7, abs=0.005)
    assert "sidebands at 6.5, 7.58 days" in week.note


def test_harmonics_of_a_year_that_does_not_show_itself_are_one_cycle(civil_days, as_panel):
    n = 2500
    t = civil_days(n)
    y = np.random.default_rng(1).standard_normal(n) + sum(wave(t, YEAR / k, k) for k in (5, 7, 12))
    (year,) = detect_periods(as_panel(A=y), alpha=0.01)
    assert year.clock == "calendar"
    assert year.period == pytest.approx(YEAR, rel=1e-3)
    assert {5, 7, 12} <= set(year.harmonics)
    assert 1 not in year.harmonics


def test_unrelated_lines_stay_apart(civil_days, as_panel):
    n = 2500
    t = civil_days(n)
    periods = (9.37, 23.9, 57.3)
    y = np.random.default_rng(2).standard_normal(n) + sum(wave(t, p) for p in periods)
    found = detect_periods(as_panel(A=y), alpha=0.01)
    assert sorted(line.period for line in found) == pytest.approx(periods, rel=2e-3)
    assert all(line.note == "" for line in found)


def test_in_a_series_of_a_year_or_two_lines_are_not_put_together_by_the_seasons(civil_days, as_panel):
    n = 400
    t = civil_days(n)
    y = np.random.default_rng(4).standard_normal(n) + 3 * wave(t, 8.71) + wave(t, 11.43) + wave(t, 30.9)
    found = detect_periods(as_panel(A=y), alpha=0.01)
    assert sorted(line.period for line in found) == pytest.approx([8.71, 11.43, 30.9], rel=0.01)
    assert all(line.note == "" for line in found)


def test_the_plan_of_the_sample_s_volume_holds_the_week_and_the_quarter_of_the_calendar_and_no_alias(sample_panel):
    plan = FrequencyPlan.from_detection(detect_periods(sample_panel("log_volume")))
    detected = [cycle for cycle in plan if cycle.origin == "detected"]
    assert [cycle.period for cycle in detected] == pytest.approx([7.0, YEAR / 4], rel=1e-3)
    for line in plan.lines:
        assert all(abs(line.frequency * alias - 1) > 0.003 for alias in (8.27, 7.58, 6.50, 6.07))


def test_a_cycle_of_one_year_of_eight_is_marked_and_stays_out_of_the_plan(civil_days, as_panel):
    n = 2000
    t = civil_days(n)
    y = np.random.default_rng(3).standard_normal(n) + np.where(
        (np.arange(n) > 800) & (np.arange(n) <= 1050), 2.0, 0.0
    ) * wave(t, 9.37)
    found = detect_periods(as_panel(A=y), alpha=0.01)
    assert any(line.period == pytest.approx(9.37, rel=0.01) for line in found)
    assert not any(line.stable for line in found)
    assert all(cycle.origin == "prior" for cycle in FrequencyPlan.from_detection(found))
