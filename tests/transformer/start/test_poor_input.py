"""Input that leaves a regression little to go by."""

from dataclasses import replace

import numpy as np
import pytest

from fints.transformer.start import fit_start
from tests.transformer.start.conftest import EFFECTS, H, L, autoregression, forecast_of, start_of, tape_of, weekly


def rmse(error):
    return float(np.sqrt((error**2).mean()))


def flat_stretch(y, _x, _past):
    y[0, 50:150] = y[0, 50]


def constant_series(y, _x, _past):
    y[1] = 3.0


def covariate_of_zeros(_y, x, _past):
    x[:, 0] = 0.0


def collinear_covariates(_y, x, _past):
    x[:, 1] = 2.0 * x[:, 0]


def covariate_always_on(_y, x, _past):
    x[:, 1] = 1.0


def companion_of_nothing(_y, _x, past):
    past[..., 0] = np.nan


def companion_with_holes(_y, _x, past):
    past[:, ::3] = np.nan
    past[0, 10:120] = np.inf


def companion_that_stands_still(_y, _x, past):
    past[:] = 7.0


def huge_level(y, _x, _past):
    y += 1e9


POOR = [
    flat_stretch,
    constant_series,
    covariate_of_zeros,
    collinear_covariates,
    covariate_always_on,
    companion_of_nothing,
    companion_with_holes,
    companion_that_stands_still,
    huge_level,
]


@pytest.mark.parametrize("harm", POOR, ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("n_series", [1, 3])
def test_poor_input_is_forecast_without_a_warning(harm, n_series):
    rng = np.random.default_rng(0)
    y, x = 5.0 + autoregression(240, max(n_series, 2)), weekly(240)
    past = rng.normal(size=(*y.shape, 2))
    harm(y, x, past)
    tape = tape_of(y[-n_series:], x, past[-n_series:])
    made = start_of(tape)
    found = forecast_of(made, tape, tape.origins(L, H))
    assert np.isfinite(found).all()
    assert (np.abs(found - tape.values[:, 0].mean()) < 30 * max(1.0, tape.values[:, 0].std())).all()


def test_a_panel_that_stands_still_is_forecast_to_go_on_so():
    tape = tape_of(np.full((2, 120), 3.0), weekly(120))
    assert np.allclose(forecast_of(start_of(tape), tape, tape.origins(L, H)), 3.0)
    nothing = tape_of(np.zeros((2, 120)), weekly(120))
    assert (forecast_of(start_of(nothing), nothing, nothing.origins(L, H)) == 0.0).all()


def test_a_few_windows_are_enough():
    tape = tape_of(5.0 + autoregression(L + H + 15), weekly(L + H + 15))
    origins = tape.origins(L, H)
    made = fit_start(tape, L, H, origins[:1], origins[-1:])
    assert np.isfinite(forecast_of(made, tape, origins)).all()
    unchecked = fit_start(tape, L, H, origins[:8], origins[:0])
    assert np.isfinite(unchecked.ridge)
    assert np.isfinite(forecast_of(unchecked, tape, origins)).all()


def test_without_covariates_and_companions_there_is_still_a_past():
    tape = tape_of(5.0 + autoregression(400, 4))
    made = start_of(tape)
    assert made.shared.calendar.shape == (0,)
    assert np.isfinite(made.ridge)


def test_a_short_series_shares_the_regression_and_one_that_begins_late_does_no_harm():
    tape = tape_of(5.0 + autoregression(300, 3), weekly(300))
    kept = np.concatenate([np.arange(300), np.arange(300, 600)[-100:], np.arange(600, 900)[-(L + H) :]])
    ragged = replace(
        tape,
        bounds=np.array([0, 300, 400, 400 + L + H]),
        ds=tape.ds[kept],
        values=tape.values[kept],
        calendar=tape.calendar[kept],
        clocks={name: at[kept] for name, at in tape.clocks.items()},
    )
    made = start_of(ragged)
    assert sorted(made.own) == ["S000"]
    assert sorted(made.units) == ["S000", "S001"]  # the third has a window for checking alone
    assert np.isfinite(forecast_of(made, ragged, ragged.origins(L, H))).all()


def test_two_hundred_series_share_one_regression():
    tape = tape_of(5.0 + autoregression(90, 200), weekly(90))
    made = start_of(tape)
    assert not made.own
    assert len(made.units) == 200
    assert np.isfinite(made.ridge)


@pytest.mark.parametrize("size", [1e3, 1e9])
def test_a_broken_bar_costs_its_series_little_and_the_others_nothing(size):
    y = 5.0 + autoregression(900, 2) + weekly(900) @ EFFECTS
    broken = y.copy()
    broken[0, 300] += size
    whole = tape_of(y, weekly(900))
    clean, harmed = start_of(whole), start_of(tape_of(broken, weekly(900)))
    for origins, most in ((whole.origins(L, H)[700:840], 1.2), (whole.origins(L, H)[-140:], 1.05)):
        target = whole.cut(origins, L, H).target
        errors = [((forecast_of(start, whole, origins) - target) ** 2).mean() for start in (clean, harmed)]
        assert errors[1] < most**2 * errors[0]
