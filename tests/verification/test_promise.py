import pandas as pd

from fints.verification import Promise, joined

FIRST = pd.Timestamp("2025-03-10T22:00Z")


def promise(hours, target="log_volume"):
    return Promise(target, FIRST + pd.Timedelta(hours=hours), "HAR", "v")


def test_the_first_promise_of_a_night_stays_however_often_it_is_made_again():
    """Most series were never made again: without it their forecasts would be looked back on no more."""
    kept = [promise(0)]
    for hours in range(1, 60):
        kept = joined([promise(hours), promise(hours, "log_range")], kept)
    made_at = [one.made_at for one in kept if one.target == "log_volume"]
    assert len(made_at) == 32
    assert made_at[-1] == FIRST
    assert made_at[0] == FIRST + pd.Timedelta(hours=59)
    assert len([one for one in kept if one.target == "log_range"]) == 32


def test_a_promise_that_is_made_again_at_the_same_instant_replaces_the_one_before():
    again = Promise("log_volume", FIRST, "Combination", "w")
    kept = joined([again], [promise(0), promise(-24)])
    assert [one.model for one in kept] == ["Combination", "HAR"]
