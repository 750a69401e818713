"""How often a night was killed or failed."""

from dataclasses import replace

import pandas as pd
import pytest

from fints.bars.nights import NightEntry
from pipelines.night_ledger import ATTEMPTS, attempts, failures, newest_done, regular

STATES = {"u": "due", "b": "begun", "f": "failed", "d": "done", "s": "skipped"}
MINE, OTHER = "2025-03-07T21:15:00+00:00", "2025-03-10T20:15:00+00:00"


def entries(story):
    """Tell a ledger: small letters are entries of the night in question, ``D`` is another night that was done."""
    moment = pd.Timestamp("2025-03-11 22:00Z")
    return [
        NightEntry(
            dataset="market",
            interval="1d",
            night=OTHER if letter == "D" else MINE,
            as_of=moment,
            known_at="",
            asked="",
            made_at=moment,
            state=STATES[letter.lower()],
            data_version=1,
            actions_version=1,
            config="c",
            calendar="c",
            symbols=(),
            fints="0",
            began_at=moment,
            number=number,
        )
        for number, letter in enumerate(story, start=1)
    ]


@pytest.mark.parametrize(
    ("story", "count"),
    [
        ("", 0),
        ("bfD", 1),
        ("bfDbfDbfD", 3),
        ("fDfDfD", 3),  # it failed before it could be begun
        ("ubfDubfD", 2),
        ("bfDbd", 0),  # it succeeded in the end
        ("bfbfbfbfbf", 0),  # no night was done: the cause is not this one's
        ("bfbfbfD", 3),
        ("bbbfD", ATTEMPTS),  # it was given up
        ("bbbf", ATTEMPTS),
        ("bbfD", 1),
    ],
)
def test_failures_count_once_another_night_was_done(story, count):
    assert failures(entries(story), MINE) == count


@pytest.mark.parametrize(("story", "count"), [("", 0), ("bb", 2), ("bbub", 3), ("bbfb", 1), ("bbdD", 0), ("bDb", 2)])
def test_kills_count_from_the_last_end(story, count):
    assert attempts(entries(story), MINE) == count


@pytest.mark.parametrize("state", ["begun", "failed"])
def test_a_report_that_could_not_be_written_again_makes_no_debt(state):
    done = replace(entries("d")[0], forecasts_version=7)
    again = replace(done, state=state, number=2)
    anew = replace(again, forecasts_version=None, number=3)  # `--again`, by a clock that stood still
    assert regular([done, again], done.as_of) == [done]
    assert regular([done, again, anew], done.as_of) == [done, anew]
    assert regular([again], done.as_of) == [again]


def test_the_newest_night_that_is_done_is_of_the_same_configuration_and_was_made_before():
    (done,), day, now = entries("d"), pd.Timedelta(days=1), pd.Timestamp("2025-03-12 22:00Z")
    first, stamp = replace(done, stamp=pd.Timestamp("2025-03-07")), pd.Timestamp("2025-03-10")
    of_others = [
        replace(first, stamp=stamp, config="another"),
        replace(first, stamp=stamp, state="failed"),
        replace(first, stamp=stamp, made_at=now + day),  # by a clock that was ahead
        replace(first, stamp=stamp, made_at=now),  # of the same run
        replace(first, stamp=None),
    ]
    assert newest_done([first, *of_others], "c", now) == first.stamp
    assert newest_done([first, *of_others], "c", now + 2 * day) == stamp
    assert newest_done(of_others[:2], "c", now) is None
