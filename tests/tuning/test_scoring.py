import numpy as np
import pandas as pd
import pytest

from fints.backtest import make_folds
from fints.errors import ModelError
from fints.forecast import QUANTILE_COLUMNS
from fints.tuning.scoring import band_of, scaled, score_fold


def losses(squared_by_step, cutoffs=1):
    rows = [
        {
            "unique_id": "a",
            "cutoff": pd.Timestamp("2020-01-01") + pd.Timedelta(days=c),
            "step": step,
            "squared": value,
            "crps": value / 2,
        }
        for c in range(cutoffs)
        for step, value in squared_by_step.items()
    ]
    return pd.DataFrame(rows)


def test_each_band_beyond_the_trained_horizon_counts_the_same_however_many_steps_it_has():
    steps = (
        dict.fromkeys((1, 2), 100.0)
        | dict.fromkeys(range(3, 6), 1.0)
        | dict.fromkeys(range(6, 11), 4.0)
        | dict.fromkeys(range(11, 21), 9.0)
    )
    scored = score_fold(losses(steps), trained_h=2)
    assert scored.rmse == pytest.approx((1 + 2 + 3) / 3)
    assert scored.crps == pytest.approx((0.5 + 2 + 4.5) / 3)


def test_where_nothing_lies_beyond_all_steps_count():
    assert score_fold(losses({1: 1.0, 2: 9.0}), trained_h=2).rmse == pytest.approx(np.sqrt(5))


def test_origins_are_scored_one_by_one_beyond_the_trained_horizon():
    scored = score_fold(losses({1: 100.0, 3: 4.0, 4: 2.0}, cutoffs=3), trained_h=2)
    assert scored.origins["squared"].tolist() == [3.0, 3.0, 3.0]
    assert scored.origins.index.is_monotonic_increasing


def test_steps_beyond_the_last_band_join_it():
    assert band_of(np.array([2, 3, 5, 6, 10, 11, 20, 21, 99]), 2).tolist() == [0, 1, 1, 2, 2, 3, 3, 3, 3]


def forecast_rows(panel, cutoff, error):
    after = panel[panel["ds"] > cutoff].groupby("unique_id").head(2)
    rows = after.assign(cutoff=cutoff, step=after.groupby("unique_id").cumcount() + 1, mean=after["y"] + error)
    return rows.assign(**dict.fromkeys(QUANTILE_COLUMNS, rows["y"] + error))


def two_series(spread):
    ds = pd.date_range("2020-01-01", periods=12)
    parts = [
        pd.DataFrame({"unique_id": name, "ds": ds, "y": np.tile([0.0, width], 6), "exchange": "24/7", "interval": "1d"})
        for name, width in (("a", 2.0), ("b", spread))
    ]
    return pd.concat(parts, ignore_index=True)


def test_errors_are_counted_in_standard_deviations_of_the_context():
    panel = two_series(20.0)
    folds = make_folds(panel, 2, 1)
    found = scaled(forecast_rows(panel, folds.cutoffs[0], 3.0), folds, panel, context=4).groupby("unique_id")
    assert found["squared"].mean().to_dict() == pytest.approx({"a": 9.0, "b": 0.09})
    assert found["crps"].mean().to_dict() == pytest.approx({"a": 3.0, "b": 0.3})


def test_contexts_that_never_move_are_left_out_and_a_fold_of_none_is_an_error():
    panel = two_series(0.0)
    folds = make_folds(panel, 2, 1)
    rows = forecast_rows(panel, folds.cutoffs[0], 3.0)
    assert scaled(rows, folds, panel, context=4)["unique_id"].unique().tolist() == ["a"]
    with pytest.raises(ModelError, match="scored"):
        scaled(rows[rows["unique_id"] == "b"], folds, panel, context=4)
