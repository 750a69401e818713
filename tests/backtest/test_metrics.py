from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import mean_pinball_loss

from fints.backtest.metrics import LEVELS, information_coefficient, losses, season_lag, seasonal_scale, summarise
from fints.forecast import QUANTILE_COLUMNS, QUANTILES


def test_levels_are_the_bands_whose_ends_are_stated() -> None:
    assert LEVELS == (95, 90, 80, 60, 50, 40, 20)


def test_the_scale_is_the_mean_seasonal_difference() -> None:
    y = np.array([0.0, 1, 2, 3, 4, 10, np.nan, 2])
    assert seasonal_scale(y, 5) == pytest.approx((10 + 0) / 2)


@pytest.mark.parametrize("y", [np.ones(20), np.arange(3.0)])
def test_a_scale_that_cannot_be_is_not_a_number(y: np.ndarray) -> None:
    assert np.isnan(seasonal_scale(y, 5))


def test_the_season_is_a_week_of_daily_bars_and_a_session_of_hours() -> None:
    days = pd.DataFrame({"ds": pd.date_range("2018-01-01", periods=9), "interval": "1d"})
    hours = pd.DataFrame({"ds": pd.date_range("2018-01-01 10:00", "2018-01-01 16:00", freq="h"), "interval": "1h"})
    shorter = hours.head(4).assign(ds=lambda f: f["ds"] + pd.Timedelta(days=2))
    following = hours.assign(ds=lambda f: f["ds"] + pd.Timedelta(days=1))
    assert season_lag(days) == 5
    assert season_lag(pd.concat([hours, following, shorter])) == 7


def scored() -> pd.DataFrame:
    spread = np.linspace(-1, 1, len(QUANTILES))
    rows = [("A", 1, 0.0, 0.1), ("A", 2, 2.0, 1.0), ("B", 1, 5.0, 5.0), ("B", 2, 5.0, 3.0)]
    frame = pd.DataFrame(rows, columns=["unique_id", "step", "y", "mean"])
    frame[list(QUANTILE_COLUMNS)] = frame["mean"].to_numpy()[:, None] + spread
    frame["model"] = "M"
    return frame


def test_coverage_counts_values_inside_the_band_ends_included() -> None:
    table = losses(scored())
    # bands reach ±1 at 95 %: errors are 0.1, 1 (on the edge), 0 and 2
    assert table["cov95"].tolist() == [1, 1, 1, 0]
    assert table["cov20"].tolist() == [1, 0, 1, 0]


def test_every_series_counts_the_same() -> None:
    frame = scored()
    frame = pd.concat([frame, frame[frame["unique_id"] == "B"].assign(step=3)], ignore_index=True)
    table = summarise(frame.join(losses(frame)), pd.Series({"A": 0.5, "B": 2.0}), ["model"]).iloc[0]
    rmse_a, rmse_b = np.sqrt((0.01 + 1) / 2), np.sqrt(4 / 2)
    assert table["RMSE"] == pytest.approx((rmse_a + rmse_b) / 2)
    assert table["MAE"] == pytest.approx((0.55 + 1) / 2)
    assert table["MASE"] == pytest.approx((0.55 / 0.5 + 1 / 2.0) / 2)
    assert table["cov95"] == pytest.approx((1 + 0.5) / 2)
    assert table["n"] == 6


def test_pinball_and_widths_are_those_of_the_stated_quantiles() -> None:
    frame = scored()
    table = losses(frame)
    by_quantile = [
        mean_pinball_loss(frame["y"], frame[column], alpha=p)
        for column, p in zip(QUANTILE_COLUMNS, QUANTILES, strict=True)
    ]
    assert table["pinball"].mean() == pytest.approx(np.mean(by_quantile), rel=1e-12)
    np.testing.assert_allclose(table["width95"], 2.0)
    assert (table[[f"width{level:g}" for level in LEVELS]].diff(axis=1).iloc[:, 1:] < 0).all().all()


@pytest.mark.parametrize(
    ("target", "more"), [("log_volume", []), ("log_range", ["QLIKE"]), ("log_return", ["hit"]), ("", [])]
)
def test_the_target_decides_on_qlike_and_the_hit_rate(target: str, more: list[str]) -> None:
    frame = scored()
    table = summarise(frame.join(losses(frame, target)), pd.Series({"A": 0.5, "B": 2.0}), ["model"])
    assert [c for c in table.columns if c in {"QLIKE", "hit"}] == more
    assert list(table.columns[1:7]) == ["RMSE", "MAE", "MASE", "sMAPE", "CRPS", "pinball"]
    assert "width80" in table.columns


def test_scores_of_windows_and_steps_average_to_that_of_the_series() -> None:
    frame = scored()
    rows, scales = frame.join(losses(frame, "log_range")), pd.Series({"A": 0.5, "B": 2.0})
    whole = summarise(rows, scales, ["model"]).iloc[0]
    by_step = summarise(rows, scales, ["model", "step"])
    for name in ("MAE", "MASE", "sMAPE", "CRPS", "pinball", "QLIKE", "cov80", "width80"):
        assert by_step[name].mean() == pytest.approx(whole[name])


def test_the_information_coefficient_is_spearman_s_in_each_group() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"model": np.repeat(["M", "N"], 20), "y": rng.normal(size=40).round(1)})
    frame["mean"] = frame["y"] + rng.normal(size=40).round(1)
    table = information_coefficient(frame, ["model"]).set_index("model")
    for name, rows in frame.groupby("model"):
        assert table.loc[name, "ic"] == pytest.approx(spearmanr(rows["y"], rows["mean"]).statistic, rel=1e-12)
    assert table["n"].tolist() == [20, 20]


def test_an_information_coefficient_needs_forecasts_that_vary() -> None:
    flat = pd.DataFrame({"model": "Naive", "step": 1, "y": [0.1, -0.2, 0.3], "mean": 0.0})
    few = pd.DataFrame({"model": "HAR", "step": 1, "y": [0.1, -0.2], "mean": [0.1, 0.2]})
    table = information_coefficient(pd.concat([flat, few], ignore_index=True), ["model", "step"])
    assert table["ic"].isna().all()
    assert table.columns.tolist() == ["model", "step", "ic", "n"]
