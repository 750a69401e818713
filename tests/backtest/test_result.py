from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fints.backtest import CrossValidation, Folds, diebold_mariano
from fints.errors import UnknownNameError
from fints.forecast import QUANTILE_COLUMNS

H = 4


def result(errors: dict[str, np.ndarray], failures: dict[str, str] | None = None) -> CrossValidation:
    """Build the outcome of windows side by side from errors of shape (windows, H), the same for two series."""
    windows = len(next(iter(errors.values())))
    cutoffs = tuple(pd.Timestamp("2018-01-01") + pd.Timedelta(days=10 * w) for w in range(windows))
    rows = []
    for model, of_model in errors.items():
        for unique_id in ("A", "B"):
            for cutoff, of_window in zip(cutoffs, of_model, strict=True):
                for step, error in enumerate(of_window, start=1):
                    ds = cutoff + pd.Timedelta(days=step)
                    row = {"unique_id": unique_id, "cutoff": cutoff, "ds": ds, "step": step, "y": 0.0, "model": model}
                    rows.append(row | {"seed": 0} | {"mean": -error} | dict.fromkeys(QUANTILE_COLUMNS, -error))
    return CrossValidation(
        frame=pd.DataFrame(rows),
        folds=Folds(cutoffs, h=H, step_size=H),
        scales=pd.Series({"A": 1.0, "B": 2.0}),
        failures=failures or {},
        void=pd.DataFrame(columns=["model", "unique_id", "cutoff", "ds", "step", "reason"]),
        models={},
        seconds={},
    )


def noise(windows: int, scale: float, seed: int) -> np.ndarray:
    return scale * np.random.default_rng(seed).normal(size=(windows, H))


def test_the_leaderboard_has_the_best_model_first() -> None:
    board = result({"Naive": noise(10, 2.0, 0), "HAR": noise(10, 1.0, 1)}).leaderboard()
    assert board["model"].tolist() == ["HAR", "Naive"]
    assert board.columns.tolist() == [
        "model", "RMSE", "MAE", "MASE", "sMAPE", "CRPS", "cov80", "cov95", "letters", "in_set",
        "n", "windows", "void", "seeds", "RMSE_sd", "problem",
    ]  # fmt: skip
    assert board["n"].tolist() == [80, 80]
    assert board["windows"].tolist() == [10, 10]


def test_the_leaderboard_shows_the_coverage_of_the_levels_asked() -> None:
    board = result({"HAR": noise(3, 1.0, 1)}).leaderboard(levels=[50])
    assert [c for c in board.columns if c.startswith("cov")] == ["cov50"]
    with pytest.raises(UnknownNameError, match="unknown band level '85'"):
        result({"HAR": noise(3, 1.0, 1)}).leaderboard(levels=[85])


def test_models_are_compared_on_the_rows_they_share() -> None:
    cv = result({"HAR": noise(3, 1.0, 1), "Naive": noise(3, 1.0, 2)})
    frame = cv.frame[~((cv.frame["model"] == "Naive") & (cv.frame["step"] == 2))]
    partial = CrossValidation(frame, cv.folds, cv.scales, cv.failures, cv.void, cv.models, cv.seconds)
    assert partial.leaderboard()["n"].tolist() == [18, 18]
    assert sorted(partial.by_step()["step"].unique()) == [1, 3, 4]


def test_errors_by_step_and_by_series_average_to_the_leaderboard() -> None:
    cv = result({"HAR": noise(6, 1.0, 1), "Naive": noise(6, 2.0, 2)})
    board = cv.leaderboard().set_index("model")["MAE"]
    for table in (cv.by_step(), cv.by_series()):
        pd.testing.assert_series_equal(table.groupby("model")["MAE"].mean(), board.sort_index())
    assert set(cv.by_series()["unique_id"]) == {"A", "B"}


def test_windows_are_the_sample_of_the_test() -> None:
    mine, theirs = noise(12, 1.0, 1), noise(12, 1.4, 2)
    row = result({"HAR": mine, "Naive": theirs}).significance("Naive").iloc[0]
    # both series have the same errors: counting them twice would halve the variance
    expected = diebold_mariano((mine**2).mean(axis=1), (theirs**2).mean(axis=1), lag=1)
    assert row["statistic"] == pytest.approx(expected.statistic)
    assert (row["windows"], row["lag"]) == (12, 1)
    assert row["rmse_change"] == pytest.approx(np.sqrt((mine**2).mean() / (theirs**2).mean()) - 1)


def test_a_better_model_is_called_better_with_the_numbers() -> None:
    cv = result({"Cycle": noise(25, 1.0, 1), "HAR": noise(25, 2.0, 2)})
    change = 100 * (1 - np.sqrt((noise(25, 1.0, 1) ** 2).mean() / (noise(25, 2.0, 2) ** 2).mean()))
    size = f"{change:.1f} %"
    assert cv.verdict("Cycle", "HAR") == (
        f"Cycle is better than HAR: RMSE {size} lower over 25 windows (Diebold–Mariano p < 0.001)."
    )
    assert cv.verdict("HAR", "Cycle").startswith("HAR is worse than Cycle: RMSE ")


def test_a_model_that_is_no_better_is_called_not_distinguishable() -> None:
    cv = result({"Cycle": noise(25, 1.0, 1), "HAR": noise(25, 1.0, 2)})
    p = cv.compare("Cycle", "HAR").p_value
    verdict = cv.verdict("Cycle", "HAR")
    assert verdict.startswith("Cycle is not distinguishable from HAR: RMSE ")
    assert verdict.endswith(f"over 25 windows (Diebold–Mariano p = {p:.3f}).")


def test_too_few_windows_are_said_and_no_p_value_is_given() -> None:
    cv = result({"Cycle": noise(7, 1.0, 1), "HAR": noise(7, 5.0, 2)})
    verdict = cv.verdict("Cycle", "HAR")
    assert "not distinguishable from HAR" in verdict
    assert "7 windows are too few for a test to mean anything" in verdict
    row = cv.significance("HAR").iloc[0]
    assert np.isnan(row["p_value"])
    assert row["reason"].startswith("7 windows are too few")


def test_identical_forecasts_are_called_the_same() -> None:
    errors = noise(10, 1.0, 1)
    verdict = result({"Cycle": errors, "HAR": errors}).verdict("Cycle", "HAR")
    assert "the same RMSE to within 0.1 %" in verdict
    assert "lose the same in every window" in verdict


def test_nothing_is_claimed_where_rmse_and_loss_disagree() -> None:
    # Cycle loses little in A and much in B: its mean RMSE is higher, its pooled squared error lower
    cv = result({"Cycle": noise(30, 1.0, 1), "HAR": noise(30, 1.0, 2)})
    frame = cv.frame.copy()
    size = {("Cycle", "A"): 1.0, ("Cycle", "B"): 1.0, ("HAR", "A"): 0.1, ("HAR", "B"): 1.75}
    jitter = np.random.default_rng(5).uniform(0.99, 1.01, len(frame))
    frame["mean"] = [size[key] for key in zip(frame["model"], frame["unique_id"], strict=True)] * jitter
    mixed = CrossValidation(frame, cv.folds, cv.scales, {}, cv.void, {}, {})
    assert mixed.compare("Cycle", "HAR").p_value < 0.001
    assert mixed.verdict("Cycle", "HAR").startswith("Cycle is not distinguishable from HAR: RMSE 8.")


def test_a_failed_model_has_its_cause_in_the_board_and_in_the_verdict() -> None:
    cv = result({"HAR": noise(10, 1.0, 1)}, {"Cycle": "TrainingError: no loss"})
    board = cv.leaderboard()
    assert board["model"].tolist() == ["HAR", "Cycle"]
    assert board["problem"].tolist() == ["", "TrainingError: no loss"]
    assert cv.verdict("Cycle", "HAR") == (
        "Cycle cannot be compared with HAR: Cycle did not finish: TrainingError: no loss."
    )
    assert cv.significance("HAR")["reason"].tolist() == ["Cycle did not finish: TrainingError: no loss"]


def test_by_default_every_model_is_tested_against_the_best() -> None:
    cv = result({"Naive": noise(10, 2.0, 0), "HAR": noise(10, 1.0, 1), "Drift": noise(10, 3.0, 2)})
    table = cv.significance()
    assert set(table["against"]) == {"HAR"}
    assert table["model"].tolist() == ["Naive", "Drift"]


def test_models_without_a_forecast_in_common_are_not_compared() -> None:
    cv = result({"Cycle": noise(10, 1.0, 1), "HAR": noise(10, 1.0, 2)})
    apart = cv.frame[(cv.frame["model"] == "HAR") == (cv.frame["unique_id"] == "A")]
    for frame in (apart, cv.frame.head(0)):
        other = CrossValidation(frame, cv.folds, cv.scales, {}, cv.void, dict.fromkeys(["Cycle", "HAR"]), {})
        assert other.verdict("Cycle", "HAR") == (
            "Cycle cannot be compared with HAR: they have no forecast in common that can be scored."
        )


def test_unknown_models_and_losses_are_named() -> None:
    cv = result({"HAR": noise(10, 1.0, 1)})
    with pytest.raises(UnknownNameError, match="unknown model 'Cycle'"):
        cv.verdict("Cycle", "HAR")
    with pytest.raises(UnknownNameError, match="unknown loss 'rmse'"):
        cv.compare("HAR", "HAR", loss="rmse")
