"""The leak check as a user sees it."""

import pytest

from fints.backtest import Folds

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

BRIEF = ["--set=models=[har, naive, {kind: transformer, encoding: rope, network: {n_layers: 1}}]"]


def test_models_that_know_no_future_pass(fints):
    code, out, _, result = fints("leakcheck", *BRIEF, brief=False)
    assert code == 0
    assert "No forecast and no fitted state knew its future" in out
    rows = result["targets"]["log_volume"]["models"]
    assert [(row["model"], row["verdict"]) for row in rows] == [
        ("HAR", "tight"), ("Naive", "tight"), ("CycleTransformer[rope]", "tight"),
    ]  # fmt: skip
    assert result["store_keeps_versions"]


def test_training_rows_from_after_the_cutoff_fail_and_are_named(fints, monkeypatch):
    monkeypatch.setattr(Folds, "training", lambda _folds, panel, _cutoff: panel)
    code, out, _, result = fints("leakcheck", "--set=models=[har, naive]", brief=False)
    assert code == 1
    assert "log_volume, HAR: target (training rows, column" in out
    (row,) = [row for row in result["targets"]["log_volume"]["models"] if row["model"] == "HAR"]
    assert (row["verdict"], row["stage"]) == ("leaks", "target")
    assert "weights" in row["follows"]


def test_settings_that_cannot_be_are_refused(fints):
    code, _, err, _ = fints("leakcheck", "--set=h=none", brief=False)
    assert code == 2
    assert "h" in err
