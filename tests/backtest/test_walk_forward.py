from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fints.backtest import Entrant, cross_validation
from fints.baselines import HAR, Naive, SeasonalNaive
from fints.errors import ConfigError, TrainingError
from fints.forecast import QUANTILE_COLUMNS, QUANTILES, Forecast
from fints.series.panel import future_frame

if TYPE_CHECKING:
    from typing import Self


class Spy:
    """A forecaster that writes down what it was shown."""

    def __init__(self, name: str = "Spy", h: int = 5) -> None:
        self.name, self.h = name, h
        self.fitted: list[pd.DataFrame] = SHOWN.setdefault(f"{name}.fit", [])
        self.asked: list[pd.DataFrame] = SHOWN.setdefault(f"{name}.forecast", [])

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return type(self)(self.name, self.h)

    def fit(self, panel: pd.DataFrame) -> Self:
        self.fitted.append(panel.copy())
        return self

    def forecast(self, panel: pd.DataFrame | None = None, *, at: object = None, known_at: object = None) -> Forecast:
        self.asked.append(panel.copy())
        return self.answer(future_frame(panel, self.h)[["unique_id", "ds", "step"]])

    def answer(self, frame: pd.DataFrame) -> Forecast:
        return Forecast(frame, np.zeros(len(frame)), np.zeros((len(frame), len(QUANTILES))))

    def predict(self, panel: pd.DataFrame | None = None, *, at: object = None, known_at: object = None) -> pd.DataFrame:
        return self.forecast(panel).to_wide(self.name)


class Failing(Spy):
    def fit(self, panel: pd.DataFrame) -> Self:
        raise TrainingError("the loss is not a number at step 12")


class Forgetful(Spy):
    def answer(self, frame: pd.DataFrame) -> Forecast:
        return super().answer(frame[frame["unique_id"] != "B"].reset_index(drop=True))


class Broken(Spy):
    def answer(self, frame: pd.DataFrame) -> Forecast:
        good = super().answer(frame)
        return Forecast(frame, np.where(frame["step"] == 3, np.nan, good.mean), good.quantiles)


SHOWN: dict[str, list[pd.DataFrame]] = {}


@pytest.fixture(autouse=True)
def _forget() -> None:
    SHOWN.clear()


def test_scores_a_naive_forecast_as_a_loop_over_windows_would(panel: pd.DataFrame) -> None:
    cv = cross_validation(panel, [Naive(4)], h=4, n_windows=3, step_size=6)
    errors = []
    for name in ("A", "B"):
        y = panel.loc[panel["unique_id"] == name, "y"].to_numpy()
        last = len(y) - 1
        # no session was cancelled after the first of these cutoffs
        errors.append([y[cut + k] - y[cut] for cut in (last - 16, last - 10, last - 4) for k in range(1, 5)])
    expected = np.sqrt(np.mean(np.square(errors), axis=1)).mean()
    assert cv.void.empty
    assert cv.leaderboard()["RMSE"].iloc[0] == pytest.approx(expected)


def test_models_are_fitted_once_on_rows_up_to_the_first_cutoff(panel: pd.DataFrame) -> None:
    cv = cross_validation(panel, [Spy()], h=5, n_windows=3, step_size=5)
    (fitted,) = SHOWN["Spy.fit"]
    assert fitted["ds"].max() == cv.folds.cutoffs[0]
    assert [history["ds"].max() for history in SHOWN["Spy.forecast"]] == list(cv.folds.cutoffs)


@pytest.mark.parametrize(
    ("refit", "windows"),
    [
        (True, [0, 1, 2, 3, 4]),
        (2, [0, 2, 4]),
        (False, [0]),
        (lambda window, _: window == 3, [0, 3]),
        (lambda _, cutoff: cutoff >= pd.Timestamp("2018-12-14"), [0, 3, 4]),
    ],
)
def test_refit_says_in_which_windows_models_are_fitted(
    panel: pd.DataFrame, refit: bool | int, windows: list[int]
) -> None:
    cv = cross_validation(panel, [Spy()], h=5, n_windows=5, step_size=5, refit=refit)
    assert [seen["ds"].max() for seen in SHOWN["Spy.fit"]] == [cv.folds.cutoffs[w] for w in windows]


def test_embargo_keeps_the_last_bars_from_training_but_not_from_the_history(panel: pd.DataFrame) -> None:
    cv = cross_validation(panel, [Spy()], h=5, n_windows=2, step_size=5, purge=2, embargo=3)
    days = panel.loc[panel["unique_id"] == "A", "ds"].tolist()
    cutoff = days.index(cv.folds.cutoffs[0])
    assert SHOWN["Spy.fit"][0]["ds"].max() == days[cutoff - 5]
    assert SHOWN["Spy.forecast"][0]["ds"].max() == days[cutoff]


@pytest.mark.parametrize("refit", [False, True])
def test_what_happens_after_a_cutoff_changes_no_forecast_by_a_single_bit(
    panel: pd.DataFrame, refit: bool | int
) -> None:
    models = [Naive(5), SeasonalNaive(5), HAR(5), HAR(5, calendar=True)]
    panel = panel.assign(cal_monday=(panel["ds"].dt.day_of_week == 0).astype(float))
    before = cross_validation(panel, models, h=5, n_windows=3, step_size=5, refit=refit)
    cutoff = before.folds.cutoffs[1]
    changed = panel.copy()
    changed.loc[changed["ds"] > cutoff, "y"] = 1e6
    after = cross_validation(changed, models, h=5, n_windows=3, step_size=5, refit=refit)
    assert not before.failures
    columns = ["model", "unique_id", "cutoff", "ds", "step", "mean", *QUANTILE_COLUMNS]
    until = [cv.frame.loc[cv.frame["cutoff"] <= cutoff, columns] for cv in (before, after)]
    pd.testing.assert_frame_equal(*until, check_exact=True)
    later = [cv.frame.loc[cv.frame["cutoff"] > cutoff, "mean"] for cv in (before, after)]
    assert not np.isclose(*later).any()


def test_a_forecast_for_a_session_that_was_cancelled_is_void_and_counted(panel: pd.DataFrame) -> None:
    # the cutoff is Friday 2018-11-30; the closure of 2018-12-05 was announced the day after
    cv = cross_validation(panel, [Naive(19)], h=19, n_windows=1, step_size=1)
    assert cv.folds.cutoffs == (pd.Timestamp("2018-11-30"),)
    assert set(cv.void["ds"]) == {pd.Timestamp("2018-12-05")}
    assert len(cv.void) == 2
    assert pd.Timestamp("2018-12-05") not in set(cv.frame["ds"])
    assert cv.leaderboard()["void"].tolist() == [2]
    thursday = cv.frame[(cv.frame["ds"] == "2018-12-06")]
    assert thursday["step"].unique().tolist() == [4]


def test_a_missing_bar_is_void_and_the_later_steps_keep_their_sessions(panel: pd.DataFrame) -> None:
    holed = panel[~((panel["unique_id"] == "B") & (panel["ds"] == "2018-12-27"))]
    cv = cross_validation(holed, [Naive(5)], h=5, n_windows=1, step_size=5)
    assert cv.void[["unique_id", "ds"]].to_numpy().tolist() == [["B", pd.Timestamp("2018-12-27")]]
    last = cv.frame[(cv.frame["unique_id"] == "B") & (cv.frame["ds"] == "2018-12-31")]
    assert last["y"].tolist() == [panel.loc[panel["unique_id"] == "B", "y"].iloc[-1]]


def test_what_is_forecast_of_a_series_that_ended_is_void_and_says_so(panel: pd.DataFrame) -> None:
    cutoff = pd.Timestamp("2018-12-20")
    ended = panel[(panel["unique_id"] == "A") | (panel["ds"] <= cutoff)].reset_index(drop=True)
    cv = cross_validation(ended, [Naive(5)], h=5, n_windows=1)
    assert cv.folds.cutoffs == (pd.Timestamp("2018-12-21"),)
    assert cv.void["unique_id"].tolist() == ["B"] * 5
    assert set(cv.void["reason"]) == {"after the last bar of the series"}
    assert set(cv.frame["unique_id"]) == {"A"}


def test_a_model_that_raises_is_reported_and_the_others_go_on(
    panel: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        cv = cross_validation(panel, [Failing("Bad"), Naive(5)], h=5, n_windows=2, step_size=5)
    board = cv.leaderboard().set_index("model")
    assert board.loc["Bad", "problem"] == "TrainingError: the loss is not a number at step 12"
    assert np.isnan(board.loc["Bad", "RMSE"])
    assert board.loc["Naive", "n"] == 20
    assert "Bad left the comparison" in caplog.text


@pytest.mark.parametrize(
    ("model", "cause"),
    [(Forgetful("X"), "B: 0 forecasts where 5 were asked for"), (Broken("X"), "A: the forecast of .* is not a number")],
    ids=["forgetful", "broken"],
)
def test_a_model_that_leaves_forecasts_out_does_not_gain_by_it(panel: pd.DataFrame, model: Spy, cause: str) -> None:
    cv = cross_validation(panel, [model], h=5, n_windows=2, step_size=5)
    assert len(cv.frame) == 0
    assert pd.Series([cv.failures["X"]]).str.fullmatch(f"ModelError: {cause}").all()
    assert cv.leaderboard()["model"].tolist() == ["X"]


def test_a_series_listed_after_the_first_cutoff_waits_for_a_refit(panel: pd.DataFrame) -> None:
    late = panel[(panel["unique_id"] == "A") | (panel["ds"] >= "2018-12-12")]
    once = cross_validation(late, [Spy()], h=5, n_windows=3, step_size=5)
    each = cross_validation(late, [Spy()], h=5, n_windows=3, step_size=5, refit=True)
    assert set(once.frame["unique_id"]) == {"A"}
    assert each.frame.groupby("unique_id")["cutoff"].nunique().to_dict() == {"A": 3, "B": 2}


def test_a_longer_horizon_is_cut_to_the_windows(panel: pd.DataFrame) -> None:
    cv = cross_validation(panel, [Naive(9)], h=3, n_windows=2, step_size=3)
    assert sorted(cv.frame["step"].unique()) == [1, 2, 3]


def test_a_bare_frame_is_enough(panel: pd.DataFrame) -> None:
    bare = cross_validation(panel[["unique_id", "ds", "y"]], [Naive(3)], h=3, n_windows=2, step_size=3)
    full = cross_validation(panel, [Naive(3)], h=3, n_windows=2, step_size=3)
    pd.testing.assert_frame_equal(bare.leaderboard(), full.leaderboard())


def test_the_models_given_stay_unfitted_and_the_fitted_ones_are_returned(panel: pd.DataFrame) -> None:
    given = Naive(3)
    cv = cross_validation(panel, [given], h=3, n_windows=2, step_size=3)
    with pytest.raises(Exception, match="before it was fitted"):
        given.forecast()
    assert len(cv.models["Naive"].forecast(panel)) == 6


def test_progress_is_told_after_each_window(panel: pd.DataFrame) -> None:
    told: list[tuple[str, int, int]] = []
    cross_validation(
        panel, [Naive(3), HAR(3)], h=3, n_windows=2, step_size=3, progress=lambda *state: told.append(state)
    )
    assert told == [("Naive", 1, 2), ("Naive", 2, 2), ("HAR", 1, 2), ("HAR", 2, 2)]


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], "at least one model"),
        ([Naive(5), Naive(5)], "Naive stands there more than once"),
        ([Naive(4)], "Naive forecasts 4 bars and the windows have 5"),
    ],
    ids=["none", "twice", "short"],
)
def test_models_that_do_not_fit_together_are_refused(panel: pd.DataFrame, models: list[Naive], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        cross_validation(panel, models, h=5, n_windows=2, step_size=5)


def test_a_rolling_window_is_all_that_a_model_is_fitted_on(panel: pd.DataFrame) -> None:
    cross_validation(panel, [Spy()], h=5, test_size=15, step_size=5, refit=True, input_size=60, warm_up=50)
    assert [seen.groupby("unique_id").size().tolist() for seen in SHOWN["Spy.fit"]] == [[60, 60]] * 3


class Further(Spy):
    """Trained for fewer bars than it can be asked for, and says so."""

    def forecast(
        self, panel: pd.DataFrame, *, at: object = None, known_at: object = None, h: int | None = None
    ) -> Forecast:
        if h is not None:
            warnings.warn(f"{h} bars are asked for, and the model was trained for {self.h}", UserWarning, stacklevel=2)
        return self.answer(future_frame(panel, h or self.h)[["unique_id", "ds", "step"]])


def test_a_model_that_can_be_asked_for_more_bars_extrapolates_without_a_warning(panel: pd.DataFrame) -> None:
    cv = cross_validation(panel, [Further(h=2), Naive(20)], h=20, n_windows=2, step_size=20)
    assert not cv.failures
    assert sorted(cv.frame.loc[cv.frame["model"] == "Spy", "step"].unique()) == list(range(1, 21))
    bands = cv.extrapolation(panel, {"Spy": 2, "Naive": 2}, 60).by_band()
    assert bands.loc[bands["model"] == "Spy", "band"].tolist() == ["1×", "1–2.5×", "2.5–5×", "5–10×"]


class Seeded(Spy):
    def __init__(self, error: float) -> None:
        super().__init__("Seeded")
        self.error = error

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return type(self)(self.error)

    def answer(self, frame: pd.DataFrame) -> Forecast:
        return Forecast(frame, np.full(len(frame), self.error), np.full((len(frame), len(QUANTILES)), self.error))


def test_of_several_seeds_the_scores_are_averaged_and_not_the_forecasts(panel: pd.DataFrame) -> None:
    nothing = panel.assign(y=panel["y"].where(panel["ds"] < "2018-11-01", 0.0))
    seeds = [Entrant(Seeded(error), seed) for seed, error in enumerate([1.0, -2.0, 3.0])]
    cv = cross_validation(nothing, [*seeds, Spy()], h=5, n_windows=9, step_size=3)
    board = cv.leaderboard().set_index("model")
    assert board.loc["Seeded", "RMSE"] == pytest.approx(2.0)
    assert board.loc["Seeded", "RMSE_sd"] == pytest.approx(1.0)
    assert board["seeds"].to_dict() == {"Spy": 1, "Seeded": 3}
    assert board.loc["Seeded", "n"] == 3 * board.loc["Spy", "n"]
    assert cv.by_step().groupby("model")["RMSE"].mean()["Seeded"] == pytest.approx(2.0)
    assert cv.compare("Seeded", "Spy").windows == 4  # nine that overlap by half


def test_a_seed_that_fails_takes_its_model_out_and_is_named(panel: pd.DataFrame) -> None:
    models = [Entrant(Failing("Bad"), 7), Entrant(Spy("Bad"), 8), Naive(5)]
    cv = cross_validation(panel, models, h=5, n_windows=2, step_size=5)
    assert cv.failures["Bad"].startswith("TrainingError: the loss is not a number at step 12 (fitted at 2018-12-14")
    assert cv.failures["Bad"].endswith("with seed 7; 1 of its 2 jobs failed)")
    assert cv.leaderboard()["model"].tolist() == ["Naive", "Bad"]
    assert cv.jobs["failure"].ne("").tolist() == [True, False, False]


def test_a_negative_refit_is_refused(panel: pd.DataFrame) -> None:
    with pytest.raises(ConfigError, match="refit"):
        cross_validation(panel, [Naive(5)], h=5, n_windows=2, step_size=5, refit=-1)
