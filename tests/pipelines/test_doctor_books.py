"""What the doctor says of decisions, fits, promises, the ledger and the last report."""

import json
import shutil

import pandas as pd
import pytest

from fints.bars.nights import NightTable
from fints.verification import Promise
from pipelines import doctor_data, doctor_nights
from pipelines.doctor import Patient
from pipelines.verification_book import PromiseBook
from tests.pipelines.test_doctor import tree
from tests.pipelines.test_doctor_nights import MONDAY, entry

NOW = pd.Timestamp("2017-07-11T22:00Z")
CHECKS = (
    *(doctor_nights.books, doctor_nights.models, doctor_nights.promises),
    *(doctor_nights.ledger, doctor_nights.report),
)


@pytest.fixture
def patient(after):
    """The home of three nights, with two fits."""
    play, nights = after
    return Patient(play.settings, play.home, NOW, offline=True), play, nights[-1][1].entry


def test_a_home_in_order_is_said_to_be_and_left_as_it_is(patient):
    sick, play, last = patient
    before = tree(play.root)
    found = {check.__name__: check(sick) for check in CHECKS}
    assert {name: one.state for name, one in found.items()} == dict.fromkeys(found, "ok"), found
    assert found["models"].sentence == f"{len(list(sick.home.models.glob('files/log_volume/*/*/model')))} fits, whole"
    assert last.night in found["report"].sentence
    assert tree(play.root) == before


def test_an_empty_home_is_in_order(tmp_path):
    from fints.settings import load_settings
    from pipelines.home import Home

    sick = Patient(load_settings(None, []), Home(tmp_path / "home"), NOW, offline=True)
    assert [check(sick).state for check in CHECKS] == ["ok"] * len(CHECKS)


def test_a_damaged_book_is_named_with_its_line_and_the_cure(patient):
    sick, play, _ = patient
    play.models.book.file.write_text("[]\n{\n")
    found = doctor_nights.books(sick)
    assert found.state == "failed"
    assert f"line 2 of {play.models.book.file} cannot be read" in found.sentence
    assert "HAR stands in" in found.sentence
    assert "Restore the file from a backup" in found.cure


def spoil_weights(folder):
    file = folder / "model" / "weights.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"x")


SPOILED = {
    "weights of another hash": spoil_weights,
    "weights missing": lambda folder: (folder / "model" / "weights.safetensors").unlink(),
    "card cut short": lambda folder: (folder / "model" / "model.json").write_text('{"format"'),
    "hold-out missing": lambda folder: (folder / "holdout.json").unlink(),
    "averages damaged": lambda folder: (folder / "blend.json").write_text("[]"),
    "folder gone": shutil.rmtree,
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_champion_that_is_damaged_or_gone_fails_and_another_fit_is_a_warning(patient, how):
    sick, play, _ = patient
    state = play.models.standing()
    champion, other = state.champion, next(seat.key for seat in state.before if not seat.is_baseline)
    SPOILED[how](play.models.shelf.folder / other)
    found = doctor_nights.models(sick)
    assert (found.state, f"earlier champion {other} cannot be used" in found.sentence) == ("warning", True)
    SPOILED[how](play.models.shelf.folder / champion.key)
    found = doctor_nights.models(sick)
    assert found.state == "failed"
    assert f"the champion {champion.key} cannot be used" in found.sentence
    assert str(play.models.shelf.folder / champion.key) in found.sentence
    assert "fits the model again from the same rows" in found.cure


def test_damaged_promises_are_named_with_the_cure(patient):
    sick, _, _ = patient
    book = PromiseBook.under(sick.home, sick.settings)
    book.keep(pd.Timestamp("2017-07-11"), [Promise("log_volume", NOW, "HAR", "v")])
    file = book.folder / "2017-07-11T000000.json"
    file.write_text(json.dumps({"as_of": "2017-07-11"}))
    found = doctor_nights.promises(sick)
    assert found.state == "failed"
    assert str(file) in found.sentence
    assert "move it away" in found.cure


def test_a_ledger_that_cannot_be_read_fails_with_its_folder(patient):
    sick, play, _ = patient
    for file in (play.home.store / "nights").glob("*.parquet"):
        file.write_bytes(file.read_bytes()[:40])
    found = doctor_nights.ledger(sick)
    assert found.state == "failed"
    assert str(play.home.store / "nights") in found.cure
    for look in (doctor_nights.report, doctor_data.last_night):  # the check of the ledger has the cure
        told = look(sick)
        assert (told.state, told.sentence) == ("warning", "not known, for the ledger cannot be read")


def test_lines_of_the_ledger_that_two_programs_wrote_are_found(tmp_path, patient):
    sick, play, _ = patient
    table = NightTable.under(play.home.store).table
    rows = table.rows()
    table.append(rows)
    found = doctor_nights.ledger(sick)
    assert (found.state, found.sentence) == ("failed", "lines of it have the same number")


@pytest.mark.parametrize("wrong", ["gone", "cut short"])
def test_the_report_of_the_last_night_is_looked_at(patient, wrong):
    sick, play, last = patient
    page = play.home.root / last.page
    page.unlink() if wrong == "gone" else page.write_bytes(page.read_bytes()[:-10])
    found = doctor_nights.report(sick)
    assert found.state == "warning"
    assert wrong in found.sentence
    assert str(page) in found.sentence
    assert "the report alone is written again" in found.cure
    assert f"--as-of {last.night}" in found.cure


def test_a_result_without_the_hash_of_its_report_is_not_taken_for_damage(patient):
    sick, play, last = patient
    kept = (play.home.root / last.page).with_suffix(".json")
    kept.write_text(kept.read_text("utf-8").replace("report_sha256", "another"), "utf-8")
    found = doctor_nights.report(sick)
    assert "no hash of its report is on record" in found.sentence
    assert "damaged" not in found.sentence


def test_forecasts_that_cannot_be_read_are_left_to_the_check_of_the_store(patient):
    sick, play, _ = patient
    for file in (play.home.store / "forecasts").rglob("*.parquet"):
        file.write_bytes(file.read_bytes()[:40])
    assert doctor_nights.report(sick).state == "warning"
    found = doctor_data.store(sick)
    assert found.state == "failed"
    assert "of T (month " in found.sentence
    assert "fints ingest" not in found.cure


def test_forecasts_of_the_last_night_that_are_gone_are_told(patient):
    sick, play, last = patient
    shutil.rmtree(play.home.store / "forecasts")
    found = doctor_nights.report(sick)
    assert found.state == "warning"
    assert f"--as-of {last.night}" in found.cure  # of a live source, --again alone would run tonight's
    assert "the forecasts of the night of" in found.sentence


def test_a_ledger_without_a_night_that_is_done_is_in_order(tmp_path):
    from fints.settings import load_settings
    from pipelines.home import Home

    (tmp_path / "store").mkdir()
    NightTable.under(tmp_path / "store").enter([entry(MONDAY, "begun")])
    sick = Patient(load_settings(None, ["dataset=made"]), Home(tmp_path), NOW, offline=True)
    assert doctor_nights.ledger(sick).sentence == "1 line, 0 nights done"
    assert doctor_nights.report(sick).state == "ok"
