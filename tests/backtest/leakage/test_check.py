from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fints.backtest import Folds, make_folds
from fints.backtest.leakage import STAGES, Recipe, check_leakage
from fints.sessions import get_calendar

SPEC = importlib.util.spec_from_file_location("leaky_models", Path(__file__).with_name("leaky.py"))
leaky = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(leaky)
H, LEAKY, Honest, honest_panel, only = leaky.H, leaky.LEAKY, leaky.Honest, leaky.honest_panel, leaky.only


def two_windows(panel: pd.DataFrame) -> Folds:
    return make_folds(panel, H, 2, H)


@pytest.mark.parametrize("stage", LEAKY)
def test_a_leaky_model_is_caught_and_its_stage_is_named(stage: str, bars: pd.DataFrame) -> None:
    maker, panel = LEAKY[stage]
    report = check_leakage(bars, Recipe(only(maker), two_windows, panel))
    (row,) = report.to_frame().to_dict("records")
    assert (row["verdict"], row["stage"]) == ("leaks", stage)
    assert report.sentences()[0].startswith(f"{row['model']}: {stage} (")
    assert not report.tight


@pytest.mark.parametrize("refit", [False, True])
def test_an_honest_model_is_tight(refit: bool, bars: pd.DataFrame) -> None:
    report = check_leakage(bars, Recipe(only(lambda _panel: Honest()), two_windows, honest_panel, refit=refit))
    assert report.sentences() == []
    assert report.tight
    assert len(report.cutoffs) == 2
    # the rows shown, the spreads and the forecast, of two windows
    assert report.compared["Honest"] > 50


def test_the_stages_that_follow_a_leak_are_told_in_the_order_of_the_flow(bars: pd.DataFrame) -> None:
    report = check_leakage(bars, Recipe(only(leaky.LeakyScaler), two_windows, honest_panel))
    assert [leak.stage for leak in report.of("LeakyScaler")] == ["scaler", "forecast"]
    assert report.of("LeakyScaler")[0].place.startswith("scaler[")
    stages = [STAGES.index(leak.stage) for leak in report.leaks]
    assert stages == sorted(stages)


def test_a_panel_is_enough(bars: pd.DataFrame) -> None:
    panel = honest_panel(bars)
    assert check_leakage(panel, Recipe(only(lambda _panel: Honest()), two_windows)).tight
    assert check_leakage(panel, Recipe(only(leaky.LeakyScaler), two_windows)).leaks[0].stage == "scaler"
    assert (
        check_leakage(panel, Recipe(only(lambda _panel: leaky.LeakyCalendar()), two_windows)).leaks[0].stage
        == "calendar"
    )


def test_the_calendar_is_as_it_was_once_the_check_is_over(bars: pd.DataFrame) -> None:
    before = get_calendar("XNYS").sessions("2018-06-01", "2019-06-01")
    check_leakage(bars, Recipe(only(lambda _panel: Honest()), two_windows, honest_panel))
    pd.testing.assert_index_equal(get_calendar("XNYS").sessions("2018-06-01", "2019-06-01"), before)


def test_a_history_of_the_series_that_will_go_on_is_caught(bars: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    def survivors(folds: Folds, panel: pd.DataFrame, cutoff: pd.Timestamp) -> pd.DataFrame:
        known = folds.known(panel, cutoff)
        going_on = panel.loc[~known, "unique_id"].unique()
        return panel[known & panel["unique_id"].isin(going_on)].reset_index(drop=True)

    monkeypatch.setattr(Folds, "history", survivors)
    report = check_leakage(bars, Recipe(only(lambda _panel: Honest()), two_windows, honest_panel))
    (row,) = report.to_frame().to_dict("records")
    assert (row["verdict"], row["stage"]) == ("leaks", "target")
    assert row["place"].startswith("history rows")
    assert row["cutoff"] == report.cutoffs[1]


class Chancy(Honest):
    """Draws its forecast from a generator without a seed."""

    name = "Chancy"

    def point(self, panel: pd.DataFrame) -> dict[str, float]:
        rng = np.random.default_rng()
        return {name: last + rng.normal() for name, last in super().point(panel).items()}


def test_a_model_that_is_random_is_called_unsteady_and_not_leaky(bars: pd.DataFrame) -> None:
    report = check_leakage(bars, Recipe(only(lambda _panel: Chancy()), two_windows, honest_panel))
    assert report.leaks == ()
    assert report.unsteady == {"Chancy": "forecast, [mean]"}
    assert not report.tight
    assert report.to_frame()["verdict"].tolist() == ["unsteady"]


class Failing(Honest):
    name = "Failing"

    def fit(self, panel: pd.DataFrame) -> Honest:
        raise ValueError("no fit today")


def test_a_model_that_raises_is_not_called_tight(bars: pd.DataFrame) -> None:
    report = check_leakage(bars, Recipe(only(lambda _panel: Failing()), two_windows, honest_panel))
    assert not report.tight
    assert "no fit today" in report.sentences()[0]
    assert report.to_frame()["verdict"].tolist() == ["failed"]


class Peeking(Honest):
    """Looks at one value of the row after the history, where nobody should be able to reach it."""

    name = "Peeking"

    def __init__(self, panel: pd.DataFrame) -> None:
        self.lookup = lambda ds: panel.loc[panel["ds"] > ds, "y"].iloc[0]

    def point(self, panel: pd.DataFrame) -> dict[str, float]:
        return {name: last + 1e-9 * self.lookup(panel["ds"].max()) for name, last in super().point(panel).items()}


def test_a_leak_without_a_trace_in_the_model_shows_in_its_forecast(bars: pd.DataFrame) -> None:
    report = check_leakage(bars, Recipe(only(Peeking), two_windows, honest_panel))
    assert [leak.stage for leak in report.leaks] == ["forecast"]
    assert report.leaks[0].cutoff == report.cutoffs[0]
