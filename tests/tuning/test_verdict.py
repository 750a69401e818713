from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fints.forecast import QUANTILE_COLUMNS
from fints.tuning.verdict import look_once
from tests.tuning.conftest import PERIOD, tiny_tuner


@pytest.fixture
def looked(monkeypatch):
    """Forecasts whose error grows with that of the period, the test period looked at as often as is counted."""
    looks = []

    def run_fold(candidate, base, panel, folds, windows):
        looks.append(candidate)
        off = 0.1 + abs(candidate.plan.cycles[0].period - PERIOD)
        rng = np.random.default_rng(0)
        rows = pd.DataFrame(
            {"unique_id": "a", "cutoff": np.repeat([folds.cutoffs[w] for w in windows], folds.h), "y": 1.0}
        )
        rows["mean"] = 1 + off * rng.uniform(0.8, 1.2, len(rows))
        rows = rows.assign(**dict.fromkeys(QUANTILE_COLUMNS, rows["mean"]))
        return SimpleNamespace(rows=rows, scored=SimpleNamespace(rmse=off), model=candidate)

    monkeypatch.setattr("fints.tuning.verdict.run_fold", run_fold)
    return looks


def candidates(tuner):
    untuned = tuner.space.untuned
    return untuned, untuned.at({"20 sessions": PERIOD}, "tuned")


def test_the_test_period_is_looked_at_once_by_each_and_the_saving_has_an_interval(looked):
    tuner = tiny_tuner()
    untuned, tuned = candidates(tuner)
    verdict, model = look_once(tuner, untuned, tuned, tuned)
    assert looked == [untuned, tuned]
    assert model is tuned
    rows = verdict.rows.set_index("candidate")
    assert rows.loc["tuned", "RMSE"] < rows.loc["untuned", "RMSE"]
    assert rows.loc["untuned", "windows"] == len(tuner.stages.test)
    assert verdict.rmse.value == pytest.approx(1 - 0.1 / 0.47, abs=0.02)
    assert verdict.sentence.endswith("more than chance.")
    assert "lower than untuned" in verdict.sentence


def test_what_was_turned_down_is_shown_and_not_kept(looked):
    tuner = tiny_tuner()
    untuned, tuned = candidates(tuner)
    verdict, model = look_once(tuner, untuned, untuned, tuned)
    assert model is untuned
    assert "which was turned down" in verdict.sentence


def test_where_nothing_was_tuned_nothing_is_compared(looked):
    tuner = tiny_tuner()
    untuned, _ = candidates(tuner)
    verdict, model = look_once(tuner, untuned, untuned, tuner.space.untuned)
    assert len(looked) == 1
    assert model is untuned
    assert verdict.rows["candidate"].tolist() == ["untuned"]
    assert "nothing else is compared" in verdict.sentence


def test_without_a_test_period_the_chosen_one_is_fitted_on_everything():
    from dataclasses import replace

    from tests.tuning.conftest import FOLDS

    tuner = tiny_tuner(folds=replace(FOLDS, test_windows=0))
    untuned, tuned = candidates(tuner)
    verdict, model = look_once(tuner, untuned, tuned, tuned)
    assert verdict is None
    assert model.fitted.until.startswith(str(tuner.panel["ds"].max().date()))
