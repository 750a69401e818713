"""What the doctor says of the nights that were."""

import pandas as pd
import pytest

from fints.bars.nights import NightEntry, NightTable
from fints.bars.store import BarStore
from pipelines import doctor_data
from tests.pipelines.test_doctor import patient
from tests.verification.conftest import bars_of

FRIDAY, MONDAY, TUESDAY = (f"2025-03-{day}T{hour}:15:00+00:00" for day, hour in (("07", 21), ("10", 20), ("11", 20)))


def entry(night, state="done", *, asked="", made=None, reason=""):
    """An entry of the ledger, made an hour after its as-of where nothing else is said."""
    as_of = pd.Timestamp(night) if "T" in night else pd.Timestamp(night, tz="UTC") + pd.Timedelta(days=1)
    moment = pd.Timestamp(made) if made else as_of + pd.Timedelta(hours=1)
    return NightEntry(
        dataset="made",
        interval="1d",
        night=night,
        as_of=as_of,
        known_at="",
        asked=asked,
        made_at=moment,
        state=state,
        data_version=1,
        actions_version=1,
        config="c",
        calendar="c",
        symbols=("A",),
        fints="0",
        began_at=moment,
        reason=reason,
        exit_code={"done": 0, "failed": 1}.get(state),
    )


@pytest.fixture
def last(tmp_path):
    """Say what the doctor finds of the nights of a ledger, of a source that follows New York or none."""
    (tmp_path / "in").mkdir()
    follows = (f"source={{kind: folder, path: {tmp_path / 'in'}}}",)

    def look(*entries, now="2025-03-11T22:00Z", live=True):
        days = ("2025-03-06", "2025-03-07")
        BarStore(tmp_path / "store").commit(bars_of({"A": [1000.0] * 2}, first=days[0], last=days[1]))
        NightTable.under(tmp_path / "store").enter(entries)
        lines = ("dataset=made", *(follows if live else ()))
        return doctor_data.last_night(patient(tmp_path, *lines, now=pd.Timestamp(now)))

    return look


def test_a_last_night_that_is_done_is_in_order(last):
    found = last(entry(FRIDAY), entry(MONDAY), entry(TUESDAY))
    assert (found.state, found.sentence) == ("ok", f"{TUESDAY} is done with code 0")


def test_a_last_night_that_failed_fails_with_its_reason(last):
    found = last(entry(MONDAY), entry(TUESDAY, "begun"), entry(TUESDAY, "failed", reason="the disk is full"))
    assert (found.state, found.sentence) == ("failed", f"{TUESDAY} is failed with code 1: the disk is full")


def test_a_night_that_was_made_up_for_later_does_not_stand_for_the_last_one(last):
    later = "2025-03-11T21:40Z"
    found = last(entry(TUESDAY, "failed", reason="why"), entry(MONDAY, made=later))
    assert found.state == "failed"


def test_a_night_that_was_begun_and_not_ended_is_a_warning(last):
    found = last(entry(MONDAY), entry(TUESDAY, "begun"))
    assert (found.state, found.sentence) == ("warning", f"{TUESDAY} is begun and not ended")


@pytest.mark.parametrize(
    ("now", "state"),
    [
        ("2025-03-10T23:00Z", "ok"),  # the night of Monday may still be at work
        ("2025-03-11T20:00Z", "ok"),
        ("2025-03-11T21:00Z", "failed"),  # it could have begun a day ago
        ("2025-03-09T22:00Z", "ok"),  # a weekend
    ],
)
def test_a_night_is_overdue_a_day_after_it_could_have_begun(last, now, state):
    assert last(entry(FRIDAY), now=now).state == state


def test_the_sessions_without_a_night_are_counted(last):
    found = last(entry(FRIDAY), now="2025-03-17T23:00Z")
    assert (found.state, found.sentence) == ("failed", f"{FRIDAY} is done with code 0; 5 sessions since without one")
    assert "fints schedule" in found.cure


@pytest.mark.parametrize(
    "night",
    ["2025-03-14", "2025-03-14T20:15:00+00:00", FRIDAY],
    ids=["a date", "an instant", "a night of the schedule, again"],
)
def test_a_night_run_by_hand_hides_no_dead_scheduler(last, night):
    by_hand = entry(night, asked=night, made="2025-03-17T22:50Z")
    found = last(entry(FRIDAY), by_hand, now="2025-03-17T23:00Z")
    assert found.state == "failed", found
    assert "5 sessions since without one" in found.sentence


def test_a_night_of_the_schedule_that_was_mended_by_hand_is_in_order(last):
    mended = entry(TUESDAY, asked=TUESDAY, made="2025-03-11T21:40Z")
    assert last(entry(TUESDAY, "failed", reason="why"), mended).state == "ok"


def test_nights_run_by_hand_alone_are_no_schedule(last):
    found = last(entry(TUESDAY, asked=TUESDAY))
    assert found.state == "warning"
    assert "by the schedule" in found.sentence
    assert "fints schedule" in found.cure


def test_of_a_source_that_follows_no_market_every_night_counts_and_none_is_overdue(last):
    found = last(entry("2018-12-31", asked="2018-12-31", made="2019-01-01T00:00Z"), live=False)
    assert (found.state, found.sentence) == ("ok", "2018-12-31 is done with code 0")


def test_of_a_source_that_follows_no_market_the_run_made_last_counts(last):
    found = last(entry("2018-12-31"), entry("2018-12-03", "failed", reason="why"), live=False)
    assert found.state == "failed"
