import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from fints.conformal import Bands, calibrate
from fints.errors import ConfigError, SchemaError, SeriesError
from fints.forecast import QUANTILE_COLUMNS, QUANTILES, Forecast

SHAPE = norm.ppf(QUANTILES)


def known(origins: int, h: int = 4, stated: float = 1.0, spread: float = 1.0, name: str = "A", seed: int = 0):
    """Forecasts that state a spread, and what came with another."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(np.tile(stated * SHAPE, (origins * h, 1)), columns=list(QUANTILE_COLUMNS))
    frame["unique_id"], frame["cutoff"] = name, np.repeat(np.arange(origins), h)
    frame["step"] = np.tile(np.arange(1, h + 1), origins)
    frame["ds"] = pd.Timestamp("2000-01-01") + pd.to_timedelta(frame["cutoff"] + frame["step"], "D")
    return frame.assign(y=spread * rng.normal(size=len(frame)))


def forecast(quantiles, name: str = "A", steps=None):
    n = len(quantiles)
    steps = np.arange(1, n + 1) if steps is None else steps
    frame = pd.DataFrame({"unique_id": name, "ds": pd.date_range("2020-01-01", periods=n), "step": steps})
    return Forecast(frame, np.zeros(n), np.asarray(quantiles, float))


def cover(bands: Bands, spread: float, level: float, name: str = "A", stated: float = 1.0) -> float:
    lower, upper = bands.apply(forecast(np.tile(stated * SHAPE, (4, 1)), name)).band(level)
    return float((norm.cdf(upper / spread) - norm.cdf(lower / spread)).mean())


@pytest.mark.parametrize("stated", [0.4, 1.0, 2.5])
def test_bands_hold_whatever_spread_the_model_stated(stated):
    bands = calibrate(known(400, stated=stated, spread=1.0))
    assert cover(bands, 1.0, 80, stated=stated) == pytest.approx(0.80, abs=0.03)
    assert cover(bands, 1.0, 95, stated=stated) == pytest.approx(0.95, abs=0.02)


def test_each_stretch_of_the_horizon_is_corrected_by_its_own_errors():
    frame = known(400)
    frame.loc[frame["step"] > 2, "y"] *= 3
    bands = calibrate(frame, ends=(2,))
    wide = bands.apply(forecast(np.tile(SHAPE, (4, 1)))).band(80)
    width = wide[1] - wide[0]
    assert width[:2] == pytest.approx(np.full(2, 2 * norm.ppf(0.9)), rel=0.12)
    assert width[2:] == pytest.approx(np.full(2, 6 * norm.ppf(0.9)), rel=0.12)


def test_a_series_with_enough_errors_is_corrected_by_its_own_and_any_other_by_all():
    both = pd.concat([known(200, spread=0.5, name="calm"), known(200, spread=2.0, name="wild", seed=1)])
    bands = calibrate(both, own=150)
    assert cover(bands, 0.5, 80, "calm") == pytest.approx(0.8, abs=0.04)
    assert cover(bands, 2.0, 80, "wild") == pytest.approx(0.8, abs=0.04)
    together = calibrate(both, own=1000)
    assert list(together.offsets) == [""]
    assert cover(bands, 1.0, 80, "new") == cover(together, 1.0, 80, "new")


def test_point_and_median_stay_where_the_model_put_them():
    frame = known(200)
    bands = calibrate(frame.assign(y=frame["y"] + 5))
    own = forecast(np.tile(SHAPE, (4, 1)))
    after = bands.apply(own)
    assert np.array_equal(after.mean, own.mean)
    assert after.at(0.5) == pytest.approx(own.at(0.5), abs=1e-12)


@settings(max_examples=25)
@given(st.floats(0.01, 100), st.floats(-1e3, 1e3))
def test_bands_move_and_stretch_with_the_unit(scale, shift):
    bands = calibrate(known(60, spread=1.7))
    plain = bands.apply(forecast(np.tile(SHAPE, (4, 1)))).quantiles
    other = bands.apply(forecast(shift + scale * np.tile(SHAPE, (4, 1)))).quantiles
    assert np.allclose(other, shift + scale * plain, rtol=1e-9, atol=1e-9 * (abs(shift) + scale))


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_quantiles_stay_in_order(seed):
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bands = calibrate(known(5, spread=float(rng.uniform(0.01, 10)), seed=seed))
    own = np.sort(rng.normal(size=(4, len(QUANTILES))), axis=1)
    assert (np.diff(bands.apply(forecast(own)).quantiles, axis=1) >= 0).all()


def test_twelve_errors_give_the_widest_honest_band_and_a_warning():
    frame = known(12, h=1)
    with pytest.warns(UserWarning, match=r"95 % takes 39 past errors, and there are 12.*85%"):
        bands = calibrate(frame)
    lower, upper = bands.apply(forecast(SHAPE[None])).band(95)
    middle = frame["y"].median()
    assert lower[0] == pytest.approx(frame["y"].min() - middle)
    assert upper[0] == pytest.approx(frame["y"].max() - middle)


def test_forecasts_of_one_origin_count_as_one_error():
    with pytest.warns(UserWarning, match="there are 12"):
        calibrate(known(12, h=10), ends=())


def test_enough_errors_are_no_cause_for_a_warning():
    calibrate(known(39, h=1))


def test_a_single_error_is_refused():
    with pytest.raises(SeriesError, match="errors of two origins"):
        calibrate(known(1))


def test_a_frame_without_outcomes_is_refused():
    with pytest.raises(SchemaError, match="cutoff"):
        calibrate(known(50).drop(columns="cutoff"))


@pytest.mark.parametrize("ends", [(0,), (5, 5), (5, 2)])
def test_stretches_that_do_not_rise_are_refused(ends):
    with pytest.raises(ConfigError, match="rise"):
        calibrate(known(50), ends=ends)


def test_bands_survive_json_and_nonsense_does_not():
    bands = calibrate(known(120), own=100)
    again = Bands.from_plain(bands.to_plain())
    own = forecast(np.tile(SHAPE, (4, 1)))
    assert np.array_equal(bands.apply(own).quantiles, again.apply(own).quantiles)
    with pytest.raises(ConfigError, match="calibrate again"):
        Bands.from_plain({"ends": [1]})
    with pytest.raises(ConfigError, match="calibrate again"):
        Bands.from_plain({"ends": [1], "offsets": {"A": [[0.0]]}})
