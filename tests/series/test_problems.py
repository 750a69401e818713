import numpy as np
import pandas as pd
import pytest

from fints.series import usable, validate_panel
from fints.sessions import get_calendar

DAYS = get_calendar("XNYS").sessions("2018-01-01", "2018-12-31")


def series(uid: str, y) -> pd.DataFrame:
    return pd.DataFrame({"unique_id": uid, "ds": DAYS[: len(y)], "y": np.asarray(y, dtype=float)})


def ordinary(n: int = 100):
    return np.random.default_rng(n).normal(size=n)


@pytest.mark.parametrize(
    ("y", "reason"),
    [
        (ordinary(30), "too short: 30 values, at least 50 are needed"),
        (np.full(80, 3.25), "constant: each of its 80 values is 3.25"),
        (np.full(80, np.nan), "none of its 80 bars has a value"),
        (np.where(np.arange(80) == 4, -np.inf, 1.0), "1 of 80 values are infinite: 2018-01-08; remove them"),
        (np.where(np.arange(80) < 40, np.nan, ordinary(80)), "too short: 40 values, at least 50 are needed"),
    ],
)
def test_a_series_that_teaches_nothing_is_left_out_with_the_reason(y, reason):
    panel = validate_panel(pd.concat([series("BAD", y), series("GOOD", ordinary())]))
    kept, (problem,) = usable(panel, min_length=50)
    assert (problem.unique_id, problem.reason, problem.left_out) == ("BAD", reason, True)
    pd.testing.assert_frame_equal(kept, validate_panel(series("GOOD", ordinary())))


def test_single_missing_values_become_gaps_and_are_reported():
    y = ordinary()
    y[[3, 50, 60, 61]] = np.nan
    kept, (problem,) = usable(validate_panel(series("A", y)), min_length=50)
    assert not problem.left_out
    assert problem.reason == "4 of 100 values are missing: 2018-01-05, 2018-03-15, 2018-03-29 and 1 more"
    assert kept["ds"].tolist() == DAYS[:100][np.isfinite(y)].tolist()


def test_good_series_pass_untouched():
    panel = validate_panel(pd.concat([series("A", ordinary(60)), series("B", ordinary(70))]))
    kept, problems = usable(panel, min_length=60)
    pd.testing.assert_frame_equal(kept, panel)
    assert problems == []


def test_nothing_usable_gives_an_empty_panel_and_every_reason():
    panel = validate_panel(pd.concat([series("A", ordinary(10)), series("B", ordinary(20))]))
    kept, problems = usable(panel, min_length=60)
    assert kept.empty
    assert [problem.unique_id for problem in problems] == ["A", "B"]
