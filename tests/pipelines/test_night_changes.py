"""A night that is done, asked for again: why it is made again, or that nothing was to do and what is damaged beside."""

import io
import re
from dataclasses import replace

import pandas as pd
import pytest
from rich.console import Console

from fints.errors import CalendarError, SeriesError
from fints.sessions.calendars import ExchangeCalendar
from fints.settings import load_settings
from fints.verification import Promise
from pipelines.made_up import MadeUp
from pipelines.night_changes import ASKED_AGAIN, what_changed
from pipelines.night_identity import hashes_of
from pipelines.nightly import Nights, run_nightly
from pipelines.progress import stages
from pipelines.targets import NightInputs, forecast_targets
from pipelines.verification_book import PromiseBook
from tests.pipelines.play import NIGHTS
from tests.pipelines.test_doctor_nights import FRIDAY, entry

DONE = replace(entry("2025-03-07"), stamp=pd.Timestamp("2025-03-07"))
SETTINGS = load_settings(None, ["h=20"])
CHANGED = {
    "bars": ({"data_version": 3}, "it was made from version 1 of the bars, and 3 is the newest"),
    "fints": ({"config": "d", "fints": "9"}, "fints 0 made it, and this is 9"),
    "symbols": ({"config": "d", "symbols": ("B",)}, "the symbols are others: B came; A went"),
    "settings": ({"config": "d", "calendar": "d"}, "other settings are given: h"),
    "calendar": ({"calendar": "d"}, "other sessions to come are known"),
    "bars and settings": ({"config": "d", "data_version": 3}, "3 is the newest; and other settings are given: h"),
}


def changed(drafted, *entries, settings=SETTINGS):
    return what_changed(drafted, entries, settings, lambda _: {"settings": hashes_of(load_settings(None, ["h=10"]))})


@pytest.mark.parametrize("what", CHANGED)
def test_a_night_that_is_another_one_now_says_what_changed(what):
    differing, said = CHANGED[what]
    found = changed(replace(DONE, state="begun", **differing), DONE)
    assert found.startswith("made again because ")
    assert said in found
    assert ("sessions to come" in found) == (what == "calendar")  # those of another horizon are others anyhow


def test_settings_that_are_not_on_record_are_not_made_up():
    found = what_changed(replace(DONE, config="d"), [DONE], SETTINGS, lambda _: None)
    assert found == "made again because other settings are given"


def test_a_night_that_was_never_done_or_did_not_change_has_no_reason():
    assert changed(DONE) == changed(DONE, replace(DONE, state="failed")) == changed(DONE, DONE) == ""


def test_a_night_asked_for_by_its_date_names_the_one_of_the_schedule():
    scheduled = replace(entry(FRIDAY), stamp=pd.Timestamp("2025-03-07"))
    assert f"--as-of {FRIDAY}" in changed(DONE, scheduled)
    assert changed(DONE, replace(scheduled, stamp=pd.Timestamp("2025-03-06"))) == ""
    assert changed(replace(DONE, night=FRIDAY), DONE) == ""


def test_what_counts_is_hashed_by_name_and_nothing_is_written_out():
    one, other = (hashes_of(load_settings(None, [f"h={h}", "tracking.enabled=false"])) for h in (10, 20))
    assert {name for name in one if one[name] != other[name]} == {"h"}
    assert not {"tracking", "alerts", "catch_up", "workers", "settle"} & set(one)
    assert all(len(value) == 12 for value in one.values())


def test_a_reason_that_ends_in_a_full_stop_gets_no_second_one():
    (said,) = Nights(None, (MadeUp(replace(DONE, state="failed", reason="The disk is full.")),)).sentences()
    assert said.endswith("failed: The disk is full.")


def test_a_cause_that_all_targets_share_is_told_once(monkeypatch, tmp_path):
    monkeypatch.setattr("pipelines.targets.side_by_side", lambda *_: ["the file is cut short"] * 2)
    inputs = NightInputs(load_settings(None, []), tmp_path, None, decided_by=pd.Timestamp("2018-12-31T22:00Z"))
    with pytest.raises(SeriesError, match=r"^nothing can be forecast. the file is cut short$"):
        forecast_targets(inputs, None)


def run(play, *lines, **how):
    shown = io.StringIO()
    with stages(Console(file=shown, width=400)) as told:
        settings = load_settings(None, [*play.stated, *lines])
        done = run_nightly(settings, play.home, pd.Timestamp(NIGHTS[-1]), told, **how)
    return done.tonight, shown.getvalue()


def test_why_it_is_made_again_is_said_at_once_in_the_report_and_in_the_ledger(after):
    play, _ = after
    night, said = run(play, "input_size=31")
    assert f"The night of {NIGHTS[-1]} is made again because other settings are given: input_size." in said
    assert said.index("is made again because") < said.index("log_volume: hold-out")
    assert "This night was made again because other settings are given: input_size." in night.report.notes
    assert night.entry.reason == "made again because other settings are given: input_size"


def test_a_night_that_is_asked_for_again_says_that_it_was(after):
    night, said = run(after[0], again=True)
    assert night.entry.reason == ASKED_AGAIN
    assert f"is {ASKED_AGAIN}." in said


def test_a_night_that_stands_says_that_nothing_was_to_do_and_that_a_promise_is_damaged(after):
    play, _ = after
    night, _ = run(play)
    assert "is done, and nothing was to do" in str(night)
    assert night.warnings == ()
    book = PromiseBook.under(play.home, play.settings)
    book.keep(pd.Timestamp("2017-07-12"), [Promise("log_volume", night.entry.made_at, "HAR", "v")])
    (book.folder / "2017-07-12T000000.json").write_text("{")
    (warning,) = run(play)[0].warnings
    assert "the promises of earlier nights are not in order: cannot be read: " in warning
    assert "2017-07-12T000000.json" in warning


def test_the_baseline_is_never_said_to_have_been_fitted_earlier(played):
    """On the second night it was fallen back on, beside a fit of the first."""
    (first, _), (second, done), _ = played[1]
    assert not first.reused
    assert second.ruling.in_use == "HAR"
    assert not second.reused
    facts = done.report.facts["Run"]["model of log_volume"]
    assert facts.endswith("/HAR")


def test_where_none_is_on_trial_it_is_said_when_the_next_fit_is_due(played):
    from pipelines.next_fit import next_fit_in_words

    first, done = played[1][0]
    assert first.ruling.sentences[-1].startswith("There is no challenger; the next fit is due after the session of ")
    panel, as_of = first.panel.assign(exchange="XNYS"), done.night.as_of
    assert next_fit_in_words(panel, 1, as_of).endswith("after the session of 2016-11-15, in 1 session")
    said = [next_fit_in_words(panel[panel["ds"] <= day], 5, as_of) for day in ("2016-11-11", "2016-11-14")]
    left = [int(one.split(" in ")[1].split()[0]) for one in said]
    assert left[1] == (left[0] - 1 or 5)


def test_where_no_session_of_then_is_known_yet_the_fit_is_due_in_so_many(played, monkeypatch):
    from pipelines.next_fit import next_fit_in_words

    def unknown(*_, **__):
        raise CalendarError("the calendar ends")

    first, done = played[1][0]
    monkeypatch.setattr(ExchangeCalendar, "next_sessions", unknown)
    said = next_fit_in_words(first.panel.assign(exchange="XNYS"), 5, done.night.as_of)
    assert re.fullmatch(r"the next fit is due in \d sessions?", said)
