"""Which earlier nights are made up for, where a night of an early hour failed or was killed."""

from dataclasses import replace

import pandas as pd
import pytest

from fints.bars.ingest_report import IngestReport
from fints.bars.merge import Commit
from fints.bars.nights import NightTable
from fints.sessions import get_calendar
from fints.settings.catch_up import CatchUpSettings
from pipelines.asof import AsOf
from pipelines.catch_up import OVERTAKEN, CatchUp
from pipelines.gathered import Arrived, Reading
from pipelines.night_calendar import NightCalendar
from pipelines.night_ledger import NightLedger, Turn
from tests.pipelines.test_doctor_nights import entry

SETTLE = pd.Timedelta("15min")
FRIDAY, MONDAY, TUESDAY = (f"2025-03-{day}:15:00+00:00" for day in ("07T21", "10T20", "11T20"))
EARLY = "2025-03-10T06:45:00+00:00"
"""Monday after Tokyo's close, when New York has not opened."""


def utc(text):
    return pd.Timestamp(text).tz_convert("UTC")


@pytest.fixture
def agenda(tmp_path, monkeypatch):
    """Say what a run at an instant has to do, on a ledger, of symbols in New York and Tokyo."""
    late = pd.DataFrame({"symbol": pd.Series(dtype=str), "end": pd.Series(dtype="datetime64[ns, UTC]")})
    monkeypatch.setattr("pipelines.catch_up.late_bars", lambda *_: late)

    def ask(tonight, *entries, interval="1d"):
        calendar = NightCalendar.of(["XNYS", "XTKS"], interval, SETTLE)
        hours = [get_calendar(name).schedule("2025-03-05", tonight[:10])["close"] for name in ("XNYS", "XTKS")]
        ends = [end for end in pd.concat(hours) if end + SETTLE <= utc(tonight)]
        reading = Reading(
            folder=tmp_path,
            symbols=(),
            aliases={},
            interval=interval,
            version=2,
            settle=SETTLE,
            live=True,
            asked=None,
            now=utc(tonight),
            actions_version=1,
        )
        as_of = AsOf(utc(tonight).tz_localize(None).normalize(), utc(tonight))
        gathered = Arrived(("XNYS", "XTKS"), pd.DatetimeIndex(ends), as_of, reading, IngestReport(Commit(2)))
        listed = [replace(one, interval=interval, number=number + 1) for number, one in enumerate(entries)]
        ledger = NightLedger(NightTable.under(tmp_path), "made", interval)
        turn = Turn(utc(tonight), utc(tonight))
        found = CatchUp(ledger, calendar, CatchUpSettings(), gathered, listed).agenda(turn)
        return [one.night for one in found.turns], [(one.night, why) for one, why in found.skipped]

    return ask


@pytest.mark.parametrize("state", ["failed", "begun"])
def test_the_night_of_a_date_is_run_though_one_of_an_early_hour_failed_or_was_killed(agenda, state):
    run, skipped = agenda(TUESDAY, entry(FRIDAY), entry(EARLY, state, reason="no luck"))
    assert run == [MONDAY]
    assert skipped == [(EARLY, OVERTAKEN)]


@pytest.mark.parametrize("state", ["failed", "begun"])
def test_a_night_that_a_later_one_of_its_date_overtook_does_not_take_its_place(agenda, state):
    run, skipped = agenda(TUESDAY, entry(FRIDAY), entry(EARLY, state, reason="no luck"), entry(MONDAY))
    assert (run, skipped) == ([], [(EARLY, OVERTAKEN)])


def test_a_night_that_tonights_overtakes_is_left_to_it(agenda):
    assert agenda(MONDAY, entry(FRIDAY), entry(EARLY, "failed", reason="no luck")) == ([], [(EARLY, OVERTAKEN)])


def test_a_night_of_its_date_that_failed_is_tried_again_once(agenda):
    later = replace(entry(MONDAY, "failed", reason="no luck"), data_version=1)
    assert agenda(TUESDAY, entry(FRIDAY), later) == ([MONDAY], [])


def test_hours_of_a_day_stand_beside_each_other(agenda):
    run, _ = agenda(TUESDAY, entry(FRIDAY), entry(EARLY, "begun"), interval="1h")
    assert EARLY in run
    assert MONDAY in run
