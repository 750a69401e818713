"""The record of what a night promised: kept, read, and set aside where it is damaged."""

from dataclasses import replace

import pandas as pd
import pytest

from fints.errors import StoreError
from fints.settings import load_settings
from fints.verification import Promise
from pipelines.home import Home
from pipelines.verification_book import PromiseBook
from tests.pipelines.play import NIGHTS

NIGHT = pd.Timestamp("2018-08-15")


def settings_of():
    return load_settings(None, ["dataset=made", "targets=[log_volume]"])


@pytest.fixture
def one_record(tmp_path):
    """Return a book with one record, its promise, and its file."""
    book = PromiseBook.under(Home(tmp_path), settings_of())
    promise = Promise("log_range", pd.Timestamp("2018-12-31T22:00Z"), "HAR", "v")
    assert book.keep(NIGHT, [promise]) == ()
    (file,) = book.folder.iterdir()
    return book, promise, file


def test_every_damaged_record_is_set_aside_under_a_name_of_its_own_and_said(one_record):
    book, promise, file = one_record
    for number, content in enumerate(["[", "{}", "[" * 100_000, '{"promises": [1]}'], 1):
        file.write_text(content)
        (said,) = book.keep(NIGHT, [promise])
        assert f"{file.name}.damaged-{number}" in said
        assert (book.folder / f"{file.name}.damaged-{number}").read_text() == content
        assert len(book.read(NIGHT)) == 1
    assert book.nights() == [NIGHT]


def test_a_record_that_cannot_be_opened_for_a_moment_stays_with_its_promises(one_record, monkeypatch):
    book, promise, file = one_record
    before = file.read_bytes()
    later = replace(promise, made_at=pd.Timestamp("2019-01-02T22:00Z"))

    def busy(*_args, **_how):
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        for way in ("open", "read_bytes", "read_text"):
            patch.setattr(type(file), way, busy)
        with pytest.raises(OSError, match="Too many open files"):
            book.keep(NIGHT, [later])
        with pytest.raises(StoreError, match="Too many open files"):
            book.read(NIGHT)
    assert file.read_bytes() == before
    assert [*book.folder.iterdir()] == [file]
    assert book.keep(NIGHT, [later]) == ()
    assert [one.made_at for one in book.read(NIGHT)] == [later.made_at, promise.made_at]


def test_the_report_of_a_night_says_that_its_damaged_record_was_set_aside(after):
    play, _ = after
    book = PromiseBook.under(play.home, play.settings)
    file = book.folder / f"{pd.Timestamp(NIGHTS[-1]):%Y-%m-%dT%H%M%S}.json"
    file.write_text(file.read_text()[:-10])
    _, done = play.night(NIGHTS[-1], again=True)
    said = [remark for remark in done.night.remarks if "set aside" in remark]
    assert len(said) == 1
    assert f"{file.name}.damaged-1" in done.page.read_text("utf-8")
    assert said[0] in done.to_json()["remarks"]


def test_nights_within_a_day_are_told_apart(tmp_path):
    book = PromiseBook.under(Home(tmp_path), settings_of())
    nights = [pd.Timestamp("2018-12-31 15:30"), pd.Timestamp("2018-12-31 21:00")]
    for night in reversed(nights):
        book.keep(night, [Promise("log_range", pd.Timestamp("2018-12-31T22:00Z"), "HAR", "v")])
    (book.folder / "notes.json").write_text("mine")
    assert book.nights() == nights
    assert book.read(nights[0])[0].by_step.empty
