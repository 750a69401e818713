import numpy as np
import pandas as pd
import pytest

from fints.errors import SeriesError
from fints.studies.unknown_period.tasks import NOISY, TASKS, TWENTY, UNEVEN
from fints.studies.unknown_period.tellings import DETECTED, KNOWN, TELLINGS, WRONG, detected_period


def test_periods_are_told_right_wrong_on_either_side_or_as_detected():
    assert KNOWN.period(20.0, 19.5) == 20.0
    assert DETECTED.period(20.0, 19.5) == 19.5
    assert [telling.period(20.0, 19.5) for telling in WRONG] == [18.0, 19.0, 19.6, 19.8, 20.2, 20.4, 21.0, 22.0]
    assert [telling.name for telling in WRONG] == ["−10 %", "−5 %", "−2 %", "−1 %", "+1 %", "+2 %", "+5 %", "+10 %"]
    assert len({telling.name for telling in TELLINGS}) == len(TELLINGS)


def test_what_arithmetic_adds_to_a_period_is_not_told():
    assert DETECTED.period(20.0, 20.0 * (1 + 1e-14)) == KNOWN.period(20.0, 0.0)


@pytest.mark.parametrize("task", [TWENTY, UNEVEN])
def test_without_noise_the_period_is_detected_whether_or_not_it_divides_the_sample(task):
    assert detected_period(task.panel(200, 0)) == pytest.approx(task.periods[0], rel=1e-9)


def test_in_noise_it_is_detected_to_the_precision_that_the_noise_allows():
    n, snr = 200, 1 / (2 * NOISY.sigma**2)
    bound = np.sqrt(6 / (snr * n**3)) / (2 * np.pi) * NOISY.periods[0] ** 2
    off = [detected_period(NOISY.panel(n, seed)) - NOISY.periods[0] for seed in range(10)]
    assert bound / 3 < np.sqrt(np.mean(np.square(off))) < 3 * bound


def test_where_nothing_is_found_it_is_said(monkeypatch):
    class Nothing:
        def to_frame(self):
            return pd.DataFrame({"period": [], "strength": []})

    monkeypatch.setattr("fints.periods.detect_periods", lambda panel: Nothing())
    with pytest.raises(SeriesError, match="no cycle stands out from noise in the 50 bars"):
        detected_period(TWENTY.panel(50, 0))


def test_one_period_divides_the_bars_that_training_sees_and_one_does_not():
    assert {task.name: 200 % task.periods[0] == 0 for task in TASKS.values()} == {
        "twenty": True,
        "uneven": False,
        "noisy": False,
    }
