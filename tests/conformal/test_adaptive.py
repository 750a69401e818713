import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from fints.conformal import AdaptiveBands, calibrate
from fints.conformal.adaptive import Pace
from fints.errors import ConfigError
from fints.forecast import QUANTILE_COLUMNS, QUANTILES, Forecast

SHAPE = norm.ppf(QUANTILES)
H = 4


def issued(y, first: int, name: str = "A") -> pd.DataFrame:
    """Forecasts of a standard normal from every bar, H ahead, and the values that came."""
    origins = len(y) - H
    frame = pd.DataFrame(np.tile(SHAPE, (origins * H, 1)), columns=list(QUANTILE_COLUMNS))
    place = np.repeat(np.arange(origins), H) + np.tile(np.arange(1, H + 1), origins)
    frame["unique_id"], frame["cutoff"] = name, first + np.repeat(np.arange(origins), H)
    frame["step"] = np.tile(np.arange(1, H + 1), origins)
    frame["ds"] = pd.Timestamp("2000-01-01") + pd.to_timedelta(first + place, "D")
    return frame.assign(y=y[place])


def cover(bands: AdaptiveBands, spread: float, name: str = "A") -> np.ndarray:
    frame = pd.DataFrame({"unique_id": name, "ds": pd.Timestamp("2010-01-01"), "step": np.arange(1, H + 1)})
    after = bands.apply(Forecast(frame, np.zeros(H), np.tile(SHAPE, (H, 1))))
    return np.array([(norm.cdf(hi / spread) - norm.cdf(lo / spread)).mean() for lo, hi in map(after.band, (80, 95))])


@pytest.fixture(scope="module")
def base():
    return calibrate(issued(np.random.default_rng(0).normal(size=800), 0), own=10_000)


def test_after_the_variance_doubles_the_bands_are_back_within_sixty_sessions(base):
    fixed, moved = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        bands = AdaptiveBands(base).update(issued(rng.normal(size=104), 900))
        y = np.concatenate([rng.normal(size=H), np.sqrt(2) * rng.normal(size=60)])
        moved.append(cover(bands.update(issued(y, 1000)), np.sqrt(2)))
        fixed.append(cover(AdaptiveBands(base), np.sqrt(2)))
    assert np.mean(fixed, axis=0)[0] < 0.70
    assert np.mean(moved, axis=0) == pytest.approx([0.80, 0.95], abs=0.03)


def test_bands_of_a_steady_series_stay_right(base):
    covered = []
    for seed in range(12):
        y = np.random.default_rng(100 + seed).normal(size=304)
        covered.append(cover(AdaptiveBands(base).update(issued(y, 900)), 1.0))
    assert np.mean(covered, axis=0) == pytest.approx([0.80, 0.95], abs=0.03)


def test_trackers_hold_the_share_even_where_the_size_of_errors_tells_nothing(base):
    """A law of the tracker: with the scorecaster as good as off, the share of breaches still comes right."""
    rng = np.random.default_rng(5)
    y = 3 * rng.normal(size=1504)
    bands = AdaptiveBands(base, Pace(half_life=1e9, rate=0.05)).update(issued(y, 900))
    assert cover(bands, 3.0) == pytest.approx([0.80, 0.95], abs=0.03)


def test_a_series_that_moves_leaves_the_others_where_they_are(base):
    bands = AdaptiveBands(base).update(issued(5 * np.random.default_rng(1).normal(size=60), 900, "wild"))
    assert cover(bands, 1.0, "wild")[0] > 0.95
    assert np.array_equal(cover(bands, 1.0, "other"), cover(AdaptiveBands(base), 1.0, "other"))


def test_learning_night_by_night_is_learning_at_once(base):
    frame = issued(np.random.default_rng(2).normal(size=40), 900)
    at_once, nightly = AdaptiveBands(base).update(frame), AdaptiveBands(base)
    for night in np.unique(frame["ds"]):
        nightly = nightly.update(frame[frame["ds"] <= night])
    assert cover(nightly, 1.0) == pytest.approx(cover(at_once, 1.0), rel=1e-9)
    assert nightly.until == at_once.until


def test_the_bars_of_a_session_count_together(base):
    """A half-life is one of sessions: seven bars a day that err alike move the bands as one would."""
    daily = issued(np.random.default_rng(8).normal(size=40), 900)
    hours = [daily.assign(ds=daily["ds"] + pd.Timedelta(f"{hour}h")) for hour in range(10, 17)]
    hourly = pd.concat(hours, ignore_index=True)
    one, seven = (AdaptiveBands(base).update(frame).drifts["A"] for frame in (daily, hourly))
    assert seven.size == pytest.approx(one.size)
    np.testing.assert_allclose(seven.tracked, one.tracked)


def test_a_night_is_learned_from_once(base):
    frame = issued(np.random.default_rng(3).normal(size=40), 900)
    once = AdaptiveBands(base).update(frame)
    assert once.update(frame) is once


def test_a_rise_of_the_errors_is_followed_fully_and_a_fall_in_part(base):
    sizes = (0.25, 1.0, 4.0)
    assert [Pace(shrink=0.5).multiple(size) for size in sizes] == pytest.approx([0.5, 1.0, 4.0])
    assert [Pace(shrink=0.0).multiple(size) for size in sizes] == pytest.approx([1.0, 1.0, 4.0])
    calm = issued(0.5 * np.random.default_rng(6).normal(size=120), 900)
    covered = [cover(AdaptiveBands(base, Pace(rate=0.0, shrink=s)).update(calm), 0.5)[0] for s in (0.0, 0.3, 1.0)]
    assert covered == sorted(covered, reverse=True)
    assert covered[0] == pytest.approx(cover(AdaptiveBands(base), 0.5)[0], abs=0.01)


def test_unknown_outcomes_teach_nothing(base):
    frame = issued(np.random.default_rng(3).normal(size=40), 900)
    bands = AdaptiveBands(base)
    assert bands.update(frame.assign(y=np.nan)) is bands


def test_bands_survive_the_night_in_json(base):
    bands = AdaptiveBands(base).update(issued(np.random.default_rng(4).normal(size=40), 900))
    again = AdaptiveBands.from_json(bands.to_json())
    assert again.to_json() == bands.to_json()
    assert np.array_equal(cover(again, 1.0), cover(bands, 1.0))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"base": {}, "pace": 1}'])
def test_something_else_is_refused(text):
    with pytest.raises(ConfigError, match="calibrate again"):
        AdaptiveBands.from_json(text)


@pytest.mark.parametrize("pace", [{"half_life": 0}, {"rate": -0.1}, {"rate": 1.0}, {"shrink": 1.1}, {"shrink": -0.1}])
def test_paces_that_lead_nowhere_are_refused(pace):
    with pytest.raises(ConfigError, match="half-life"):
        Pace(**pace)
