import numpy as np
import pandas as pd
import pytest

from fints.conformal import AdaptiveBands, calibrate, walk
from fints.conformal.adaptive import Pace
from fints.errors import SeriesError
from fints.forecast import QUANTILE_COLUMNS
from tests.conformal.test_adaptive import SHAPE, cover

DAY = pd.Timedelta(days=1)
START = pd.Timestamp("2000-01-01")
H, STEP = 20, 5


def issued(y, stated: float = 1.0, first: int = 0) -> pd.DataFrame:
    """Forecasts of a normal around zero, H ahead from every STEP-th bar, and the values that came."""
    origins = np.arange(0, len(y) - H, STEP)
    place = (origins[:, None] + np.arange(1, H + 1)).ravel()
    frame = pd.DataFrame(np.tile(stated * SHAPE, (len(place), 1)), columns=list(QUANTILE_COLUMNS))
    frame["unique_id"], frame["mean"] = "A", 0.0
    frame["cutoff"] = START + DAY * (first + np.repeat(origins, H))
    frame["step"] = np.tile(np.arange(1, H + 1), len(origins))
    frame["ds"] = START + DAY * (first + place)
    return frame.assign(y=np.asarray(y)[place])


def inside(rows, low, high):
    return float(((rows[low] <= rows["y"]) & (rows["y"] <= rows[high])).mean())


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(3).normal(size=500)


@pytest.mark.parametrize(("pace", "stated"), [(None, 0.4), (Pace(), 2.5)])
def test_bands_hold_whatever_the_model_stated(pace, stated):
    rows = walk(issued(np.random.default_rng(3).normal(size=800), stated), pace).rows
    assert inside(rows, "q10", "q90") == pytest.approx(0.80, abs=0.05)
    assert inside(rows, "q025", "q975") == pytest.approx(0.95, abs=0.03)


def test_keys_points_and_outcomes_stay_in_their_order(noise):
    frame = issued(noise).sample(frac=1, random_state=1)
    walked = walk(frame, Pace()).rows
    same = ["unique_id", "cutoff", "ds", "step", "y", "mean"]
    pd.testing.assert_frame_equal(walked[same], frame[same])


@pytest.mark.parametrize("pace", [None, Pace()])
def test_no_forecast_profits_from_what_it_forecast(noise, pace):
    """Whatever came in the last block after a cutoff, bands of that block up to the cutoff stay bit-identical."""
    frame = issued(noise)
    cutoff = np.sort(frame["cutoff"].unique())[-4]
    changed = frame.assign(y=frame["y"].where(frame["ds"] <= cutoff, 50.0))
    before, after = (walk(f, pace).rows for f in (frame, changed))
    last_block = frame["cutoff"] >= np.sort(frame["cutoff"].unique())[-12]
    rows = last_block & (frame["cutoff"] <= cutoff)
    assert rows.sum() == 9 * H
    assert before.loc[rows, list(QUANTILE_COLUMNS)].equals(after.loc[rows, list(QUANTILE_COLUMNS)])
    assert not before.loc[last_block & ~rows, "q975"].equals(after.loc[last_block & ~rows, "q975"]) or pace is None


def test_bands_at_the_end_have_learned_from_everything(noise):
    calm = issued(noise)
    wild = calm.assign(y=calm["y"].where(calm["ds"] < calm["ds"].max() - 30 * DAY, 4 * calm["y"]))
    widths = {}
    for name, frame in (("calm", calm), ("wild", wild)):
        bands = walk(frame, Pace()).bands
        assert bands.until == frame["ds"].max().isoformat()
        widths[name] = bands.drifts["A"].size
    assert widths["wild"] > 1.5 * widths["calm"]


def test_fixed_bands_do_not_move(noise):
    assert walk(issued(noise), None).bands.drifts == {}


def test_after_the_variance_doubles_a_night_is_nearly_back_within_sixty_sessions():
    """As a night runs it: origins a week apart, calibrated and moved on a hold-out, then sixty stormy sessions.

    A calibration on so few origins is wide on purpose, which makes errors look small beside it: two points more are
    allowed for the 80 % band than in ``test_adaptive``, where bands start as stated.
    """
    still, moved = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        calm, stormy = rng.normal(size=240), np.sqrt(2) * rng.normal(size=60)
        bands = AdaptiveBands(calibrate(issued(calm))).update(issued(calm))  # the bands of `walk`; see the last test
        later = issued(np.concatenate([calm[-H:], stormy]), first=240 - H)
        later = later[later["ds"] >= START + 240 * DAY]
        still.append(cover(bands, np.sqrt(2)))
        moved.append(cover(bands.update(later), np.sqrt(2)))
    assert np.mean(still, axis=0)[0] < 0.71
    assert np.mean(moved, axis=0)[0] == pytest.approx(0.80, abs=0.055)
    assert np.mean(moved, axis=0)[1] == pytest.approx(0.95, abs=0.03)


def test_too_short_a_stretch_for_a_level_is_warned_of():
    with pytest.warns(UserWarning, match="95 % takes 39 past errors, and there are 12"):
        walk(issued(np.random.default_rng(0).normal(size=80)), Pace())


def test_nothing_to_calibrate_on_is_refused():
    with pytest.raises(SeriesError, match="errors of two origins"):
        walk(issued(np.zeros(22)), Pace())


def test_it_starts_where_adaptive_bands_start(noise):
    """Reference: the same steps by hand, for the bands at the end."""
    walked = walk(issued(noise), Pace(half_life=10))
    by_hand = AdaptiveBands(walked.bands.base, Pace(half_life=10)).update(issued(noise))
    assert by_hand.to_json() == walked.bands.to_json()
