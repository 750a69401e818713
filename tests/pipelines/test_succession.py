"""A scripted degradation: a model that was good, a market that changes, a fit that knows the new one, a person."""

import io
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from fints.errors import ModelError
from fints.report.champion import in_one_line
from pipelines.model_command import list_models
from pipelines.outcome import Exit
from pipelines.progress import stages
from tests.pipelines.play import NIGHTS, Play


def kinds(night):
    return [one.kind for one in night.ruling.events if one.kind != "keep"]


def test_the_first_night_installs_what_did_better_on_the_hold_out_and_calls_it_provisional(played):
    first, _ = played[1][0]
    assert kinds(first) == ["install"]
    assert first.name == first.ruling.in_use == "Combination"
    assert first.ruling.provisional
    assert "did better than HAR on the hold-out" in first.ruling.sentences[0]


def test_when_the_market_changes_the_night_falls_back_on_the_baseline_and_puts_a_new_fit_on_trial(played):
    second, done = played[1][1]
    assert kinds(second) == ["fall_back", "challenge"]
    assert second.name == second.ruling.in_use == "HAR"
    assert set(done.night.forecasts()["model"]) == {"HAR"}
    assert second.model is None
    assert second.ruling.since == pd.Timestamp(NIGHTS[1])


def test_a_fit_that_knows_the_new_market_is_promoted_over_the_baseline(played):
    third = played[1][2][0]
    assert "promote" in kinds(third)
    assert third.name == "Combination"
    assert not third.ruling.provisional
    assert third.version != played[1][0][0].version
    told = next(one for one in third.ruling.events if one.kind == "promote")
    assert told.figures["p_HAR"] < told.figures["asked"]
    assert "lower than HAR" in told.why


def test_the_page_and_the_machine_readable_night_say_which_model_is_in_use_and_why(played):
    night, done = played[1][1]
    page = done.page.read_text("utf-8")
    assert "Model in use: HAR" in page
    assert "standing in for a champion that fell" in page
    assert done.night.alerts == ()  # that was decided, and is no damage
    assert "Last decisions" in page
    assert night.ruling.events[-2].why.split(":")[0] in page
    plain = json.loads(json.dumps(done.to_json()))["models"]["log_volume"]
    assert plain["in_use"] == "HAR"
    assert [one["kind"] for one in plain["events"]][-2:] == ["fall_back", "challenge"]


def test_a_night_before_the_last_decision_follows_the_book_and_writes_nothing(after):
    play, nights = after
    before = play.models.book.read()
    for day, (night, done) in zip(NIGHTS[1:2], nights[1:2], strict=True):
        again, repeated = play.night(day, again=True)
        assert again.version == night.version
        numbers = ["ds", "step", "mean", "q05", "q95"]
        pd.testing.assert_frame_equal(
            repeated.night.forecasts()[numbers], done.night.forecasts()[numbers], check_exact=True
        )
    assert play.models.book.read() == before


def test_a_person_goes_back_and_the_night_repeated_uses_what_was_chosen(after):
    play, nights = after
    decision = play.models.rollback("the desk wants the old one")
    assert decision.as_of == pd.Timestamp(NIGHTS[-1])
    night, _ = play.night(NIGHTS[-1], again=True)
    assert night.version == decision.seat.version != nights[-1][0].version
    assert "the desk wants the old one" in night.ruling.sentences[0]
    earlier, _ = play.night(NIGHTS[0], again=True)
    assert earlier.version == nights[0][0].version


def test_a_champion_whose_files_are_gone_is_fitted_again_from_the_same_rows_to_the_bit(after):
    play, nights = after
    version = nights[-1][0].version
    shutil.rmtree(play.models.shelf.folder / version.rpartition("/")[2])
    night, done = play.night(NIGHTS[-1], again=True)
    assert night.version == version
    assert any("it was fitted again from the same rows" in note for note in night.notes)
    columns = ["ds", "mean", "q05", "q95"]
    pd.testing.assert_frame_equal(
        done.night.forecasts()[columns], nights[-1][1].night.forecasts()[columns], check_exact=True
    )


def test_a_champion_that_cannot_be_had_is_stood_in_for_by_the_baseline_and_that_is_said(after, monkeypatch):
    play, nights = after
    shutil.rmtree(play.models.shelf.folder / nights[-1][0].version.rpartition("/")[2])
    monkeypatch.setattr("pipelines.learning.Lesson.key", property(lambda self: "2001-01-01-000000000000"))
    night, _ = play.night(NIGHTS[-1], again=True)
    assert night.name == "HAR"
    gone = play.models.shelf.folder / nights[-1][0].version.rpartition("/")[2]
    assert night.ruling.sentences[0].startswith("HAR stands in for Combination of ")
    assert night.ruling.sentences[0].endswith(f": its files are gone ({gone}).")
    assert any("its rows were restated since" in note for note in night.notes)


def test_a_damaged_champion_that_a_person_went_back_to_is_nowhere_said_to_be_in_use(after, monkeypatch):
    play, _ = after
    play.models.promote("HAR", "a try")
    seat = play.models.rollback("back").seat
    weights = play.models.shelf.folder / seat.key / "model" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    monkeypatch.setattr("pipelines.learning.Lesson.key", property(lambda self: "2001-01-01-000000000000"))
    night, done = play.night(NIGHTS[-1], again=True)
    line, stood = in_one_line(night.ruling), f"HAR stands in for {seat}: its files are damaged ({weights.parents[1]})"
    cure = "Restore them from a backup, or put another fit in use"
    assert night.ruling.sentences[:2] == (f"{stood}.", night.ruling.sentences[1])
    assert night.ruling.sentences[1].startswith(cure)
    assert any(stood in note and cure in note for note in done.report.notes)
    assert f"standing in for {seat}, whose files cannot be had" in line
    assert "by hand" not in line
    assert "decided tonight: HAR promoted" not in line
    assert "Combination gone back to" not in line
    page, plain = done.page.read_text("utf-8"), json.dumps(done.to_json())
    for said in (*night.notes, *night.ruling.sentences, page, plain):
        assert f"{seat} is in use" not in said
    assert night.ruling.since == pd.Timestamp(NIGHTS[-1])
    assert not night.ruling.provisional
    assert [(alert.rule, alert.subject) for alert in done.night.alerts] == [("fit", "log_volume")]
    assert stood in done.night.alerts[0].sentence
    assert done.exit_code == Exit.ALERT


def test_a_fit_that_cannot_be_made_again_is_told_with_the_cause_alone(after, monkeypatch):
    play, nights = after
    shutil.rmtree(play.models.shelf.folder / nights[-1][0].version.rpartition("/")[2])

    def refuse(*_):
        raise ModelError("no memory")

    monkeypatch.setattr("pipelines.fits.Fits.made", refuse)
    night, _ = play.night(NIGHTS[-1], again=True)
    assert any("could not be fitted again (no memory)" in note for note in night.notes)
    assert not any("restated" in note for note in night.notes)


def test_a_replay_decides_nothing_that_was_decided_later(after):
    from fints.bars.store import BarStore
    from pipelines.gathered import Reading
    from pipelines.targets import NightInputs, forecast_targets

    play, nights = after
    made = [one.made_at for one in play.models.book.read() if one.as_of == pd.Timestamp(NIGHTS[1])]
    store = BarStore(play.home.store)
    asked = pd.Timestamp(NIGHTS[1])
    reading = Reading(
        play.home.store,
        ("T",),
        {},
        "1d",
        store.version(),
        pd.Timedelta(minutes=15),
        False,
        asked,
        made[0],
        store.version("actions"),
    )
    before = play.models.book.file.read_bytes()
    for by in (made[0], made[0] - pd.Timedelta(seconds=1)):  # as it was decided then, and deciding it once more
        inputs = NightInputs(play.settings, play.home.models, reading, decided_by=by)
        with stages(Console(file=io.StringIO())) as shown:
            (night,), _ = forecast_targets(inputs, shown)
        assert night.name == "HAR"
        assert np.array_equal(night.forecast.quantiles, nights[1][0].forecast.quantiles)
    assert play.models.book.file.read_bytes() == before


def test_a_model_that_a_person_named_in_the_registry_is_adopted_and_that_is_said(after, monkeypatch):
    play, nights = after
    first = nights[0][0].version
    monkeypatch.setattr("pipelines.targets.moved_by_hand", lambda *_: ({"log_volume": first}, []))
    night, _ = play.night("2017-07-11")
    assert night.version == first
    assert [one.by for one in night.ruling.events if one.kind == "promote"] == ["registry"]
    assert "was moved to" in night.ruling.sentences[0]


def test_a_night_before_the_newest_that_is_done_decides_nothing_and_the_next_one_does(after, monkeypatch):
    play, nights = after
    for day in ("2017-07-14", "2017-07-18"):
        last, _ = play.night(day)
    assert last.ruling.events == ()  # so that no decision is newer than the night to come
    first, before = nights[0][0].version, play.models.book.read()
    monkeypatch.setattr("pipelines.targets.moved_by_hand", lambda *_: ({"log_volume": first}, []))
    early, done = play.night("2017-07-17")
    assert early.version == last.version
    assert early.ruling.events == ()
    assert play.models.book.read() == before
    assert play.replay("2017-07-17", done.entry.made_at).equal
    night, _ = play.night("2017-07-19")
    assert night.version == first
    assert [(one.kind, one.by) for one in night.ruling.events] == [("promote", "registry")]


def test_a_model_that_has_learned_from_later_bars_is_not_adopted(after, monkeypatch, tmp_path):
    later = after[1][-1][0].version
    assert later.rpartition("/")[2][:10] > "2016-11-16"
    play = Play(tmp_path / "other", after[0].bars)  # in which no night was done yet
    shutil.copytree(after[0].models.shelf.folder, play.models.shelf.folder)
    monkeypatch.setattr("pipelines.targets.moved_by_hand", lambda *_: ({}, []))
    play.night("2016-11-14", again=True)
    monkeypatch.setattr("pipelines.targets.moved_by_hand", lambda *_: ({"log_volume": later}, []))
    night, _ = play.night("2016-11-16", again=True)
    assert night.version != later
    assert any("has learned from bars after this night" in note for note in night.notes)


def test_a_name_in_the_registry_that_is_no_fit_of_these_settings_is_ignored_and_that_is_said(after, monkeypatch):
    play, nights = after
    for day, named in (("2017-07-11", "0/../../x"), ("2017-07-12", "other-line/2018-01-02-0123456789ab")):
        moved = ({"log_volume": named}, [])
        monkeypatch.setattr("pipelines.targets.moved_by_hand", lambda *_, moved=moved: moved)
        night, _ = play.night(day)
        assert night.version == nights[-1][0].version
        assert any("it is ignored" in note for note in night.notes)


def test_the_models_are_listed_with_their_states_and_scores(model_command, after, tmp_path):
    code, out, err = model_command("list", "log_volume", "--json", str(tmp_path / "models.json"))
    assert code == 0, err
    (told,) = json.loads((tmp_path / "models.json").read_text())
    states = {row["version"]: row for row in told["models"]}
    assert states[after[1][-1][0].version]["state"] == "champion"
    assert states[after[1][-1][0].version]["recent"] < 0
    assert any(row["state"] == "always there" for row in told["models"])
    assert "champion" in out


def test_listing_models_ends_like_any_function_where_nothing_is_wrong(after, monkeypatch):
    """An exit that is raised on success would end a program that calls it."""
    play, _ = after
    monkeypatch.setenv("FINTS_HOME", str(play.root))
    assert list_models("log_volume", overrides=play.stated) is None


def test_a_model_is_promoted_by_hand_by_the_last_part_of_its_version(model_command, after):
    first = after[1][0][0].version
    code, out, err = model_command(
        "promote", first.rpartition("/")[2], "--target=log_volume", "--reason=a trial of ours"
    )
    assert code == 0, err
    assert "is in use from the night of 2017-07-10 on. By hand: a trial of ours" in out
    assert f"{first}: By hand: a trial of ours" in model_command("list")[1]
    assert after[0].models.standing().champion.version == first


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["promote", "2001-01-01-000000000000", "--target=log_volume", "--reason=x"], 2, "unknown version"),
        (["promote", "HAR", "--target=log_volume", "--reason= "], 2, "give a reason"),
        (["rollback", "--target=log_range", "--reason=x"], 2, "unknown target"),
    ],
)
def test_a_wrong_request_is_refused_in_words(model_command, after, arguments, code, said):
    before = after[0].models.book.read()
    found, _, err = model_command(*arguments)
    assert found == code
    assert said in err
    assert after[0].models.book.read() == before


def test_a_home_at_work_is_left_alone(model_command, after):
    with after[0].home.locked():
        code, _, err = model_command("rollback", "--target=log_volume", "--reason=x")
    assert code == 75
    assert "another run" in err
