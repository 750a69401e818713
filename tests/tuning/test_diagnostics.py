import pytest

from fints.encodings import encoding_config
from fints.plan import FrequencyPlan
from fints.tuning import Candidate, TrialSummary
from fints.tuning.diagnostics import diagnose

UNTUNED = Candidate(FrequencyPlan.from_periods([20.0]), encoding_config("cycle"))
NAME = "20 sessions"


def learned(spread):
    return TrialSummary(0, "complete", 1.0, 1.0, {}, spread={NAME: spread}, trajectory={NAME: ((0, 20.0), (3, 20.1))})


@pytest.mark.parametrize(
    ("period", "errors", "spread", "told"),
    [
        (20.01, {NAME: 0.1}, 0.5, "moved by 0.05 %, less than its standard error (0.5 %): keep it fixed"),
        (20.4, {NAME: 0.1}, 0.5, "4.0 times its standard error (0.5 %): worth tuning"),
        (20.01, {}, 0.005, "less than the spread of its end over the folds (0.5 %): keep it fixed"),
        (20.4, {}, 0.005, "4.0 times the spread of its end over the folds"),
        (20.0, {NAME: 0.1}, 0.5, "did not move; keep it fixed"),
    ],
)
def test_a_period_that_moved_less_than_it_is_known_is_kept_fixed(period, errors, spread, told):
    (said,) = diagnose([learned(spread)], UNTUNED.at({NAME: period}, "tuned"), UNTUNED, errors, accepted=True)
    assert said.startswith(f"{NAME}: ")
    assert told in said


def test_where_no_trial_learned_it_is_said_that_nothing_is_known():
    (said,) = diagnose([], UNTUNED.at({NAME: 20.4}, "tuned"), UNTUNED, {}, accepted=True)
    assert "not known" in said


def test_without_a_confirmed_gain_nothing_is_worth_tuning_however_far_it_moved():
    (said,) = diagnose([], UNTUNED.at({NAME: 20.4}, "tuned"), UNTUNED, {NAME: 0.1}, accepted=False)
    assert "4.0 times its standard error" in said
    assert "no gain by it was confirmed, keep it fixed" in said
