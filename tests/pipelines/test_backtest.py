from dataclasses import replace

import pandas as pd
import pytest

from fints.settings import BacktestSettings
from pipelines.backtest import Backtest, TargetBacktest, verdicts

NAMES = ["HAR-calendar", "HAR", "SeasonalNaive", "Naive"]
"""Best first; each other name is part of another."""


class Ranked:
    """A comparison whose sentences say nothing but the names."""

    def leaderboard(self):
        return pd.DataFrame({"model": NAMES})

    def verdicts(self, pairs, baseline):
        return [f"{model} / {against}" for model, against in pairs]


def test_by_default_the_best_is_said_to_stand_beside_every_other():
    assert [v.sentence for v in verdicts(Ranked(), None, "Naive")] == [f"HAR-calendar / {name}" for name in NAMES[1:]]


def test_every_model_is_said_to_stand_beside_the_chosen_one():
    found = verdicts(Ranked(), "HAR", "HAR")
    assert [v.sentence for v in found] == ["HAR-calendar / HAR", "SeasonalNaive / HAR", "Naive / HAR"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("HAR", ["HAR-calendar / HAR"]),
        ("Naive", ["HAR-calendar / Naive"]),
        ("HAR-calendar", [f"HAR-calendar / {name}" for name in NAMES[1:]]),
    ],
)
def test_a_model_whose_name_is_part_of_another_is_not_taken_for_it(model, said):
    found = TargetBacktest("log_volume", None, Ranked(), verdicts(Ranked(), None, "Naive"), ())
    assert found.said_of(model) == said


def test_bars_on_days_when_the_exchange_was_shut_are_not_complete():
    fine = Backtest(BacktestSettings(), None, 0, (), {})
    assert fine.complete
    assert not replace(fine, misplaced=("9 of 100 bars fall on days when XNYS was shut",)).complete
