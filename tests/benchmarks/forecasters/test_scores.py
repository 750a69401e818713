import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.forecasters.judging import LEVELS, QUANTILE_NAMES
from benchmarks.forecasters.scores import Spread, averaged, band_scores, compare, daily_scores, losses, window_losses


def forecasts(error: float = 1.0, seed: int = 0, unit: float = 1.0) -> pd.DataFrame:
    """Two groups of two series, ten origins, seventy steps."""
    rng = np.random.default_rng(seed)
    keys = pd.MultiIndex.from_product([["A", "B"], [0, 1], range(10), range(1, 71)])
    frame = keys.set_names(["group", "series", "number", "step"]).to_frame(index=False)
    frame["series"] = frame["group"] + frame["series"].astype(str)
    frame["y"], frame["unit"] = rng.standard_normal(len(frame)), unit
    frame["yhat"] = frame["y"] + error * rng.standard_normal(len(frame))
    frame[QUANTILE_NAMES] = frame[["yhat"]].to_numpy() + np.linspace(-1.3, 1.3, len(LEVELS))
    return frame


@settings(max_examples=30)
@given(y=st.floats(-3, 3), unit=st.floats(0.1, 5), seed=st.integers(0, 99))
def test_the_crps_is_twice_the_mean_pinball_loss_in_units_of_the_window(y, unit, seed):
    quantiles = np.sort(np.random.default_rng(seed).standard_normal(len(LEVELS)))
    frame = forecasts(unit=unit).head(1).assign(y=y)
    frame[QUANTILE_NAMES] = quantiles
    pinball = [p * (y - q) if y >= q else (1 - p) * (q - y) for p, q in zip(LEVELS, quantiles, strict=True)]
    assert losses(frame)["crps"].item() == pytest.approx(2 * np.mean(pinball) / unit)


def test_scores_do_not_depend_on_the_order_of_the_rows():
    frame = forecasts()
    mixed = frame.sample(frac=1, random_state=1)
    assert daily_scores(mixed) == pytest.approx(daily_scores(frame))
    assert band_scores(mixed) == pytest.approx(band_scores(frame))
    np.testing.assert_allclose(window_losses([mixed]), window_losses([frame]))


def test_bands_put_together_are_all_steps():
    frame = forecasts()
    lengths = np.array([14, 21, 35])
    squares = np.array(list(band_scores(frame).values())) ** 2
    assert squares @ lengths / lengths.sum() == pytest.approx(losses(frame)["squared"].mean())


def test_windows_are_those_of_each_group_and_the_smaller_loss_has_a_negative_statistic():
    good, bad = forecasts(0.5), forecasts(2.0, seed=0)
    assert len(window_losses([good])) == 20
    assert compare([good], [bad]).statistic < 0 < compare([bad], [good]).statistic
    assert compare([good, bad], [good, bad]).reason


def test_averaging_forecasts_of_independent_errors_makes_them_better():
    parts = [forecasts(seed=0), forecasts(seed=0)]
    noise = np.random.default_rng(5).standard_normal(len(parts[0]))
    parts = [frame.assign(yhat=frame["y"] + sign * noise) for frame, sign in zip(parts, (1, -1), strict=True)]
    assert daily_scores(averaged(parts))["RMSE"] == pytest.approx(0, abs=1e-9)


def test_an_interval_over_seeds_is_student_s():
    spread = Spread((1.0, 2.0, 3.0))
    assert spread.mean == 2
    assert spread.half == pytest.approx(4.302653 / np.sqrt(3))
    assert np.isnan(Spread((1.0,)).half)
