import pandas as pd
import pytest

from fints.champion import Book, Decision, Seat
from fints.errors import DamagedBookError, StoreError

SEAT = Seat("Combination", "line/2018-11-20-0123456789ab", "2018-11-20T00:00:00")


def decision(day="2018-12-03", kind="install", made="2018-12-03T22:00Z", **changes):
    return Decision(kind, SEAT, pd.Timestamp(day), pd.Timestamp(made), "because", figures={"windows": 3.0}, **changes)


def test_a_book_that_is_not_there_is_empty(tmp_path):
    assert Book(tmp_path / "a" / "book.jsonl").read() == ()


def test_what_is_entered_is_read_again_in_order(tmp_path):
    book = Book(tmp_path / "a" / "book.jsonl")
    book.append([decision(), decision(kind="challenge")])
    book.append([decision("2018-12-04", "keep")])
    assert [one.kind for one in book.read()] == ["install", "challenge", "keep"]
    assert book.read()[0] == decision()


def test_decisions_made_later_can_be_left_out(tmp_path):
    book = Book(tmp_path / "book.jsonl")
    book.append([decision()])
    book.append([decision("2018-12-04", "keep", "2018-12-04T22:00Z")])
    assert len(book.read(pd.Timestamp("2018-12-04T21:59Z"))) == 1
    assert len(book.read(pd.Timestamp("2018-12-04T22:00Z"))) == 2


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_line_that_was_not_finished_is_passed_over_and_cut_off_by_the_next(tmp_path, share):
    book = Book(tmp_path / "book.jsonl")
    book.append([decision()])
    whole = book.file.read_bytes()
    book.append([decision(kind="challenge"), decision(kind="promote")])
    added = book.file.read_bytes()[len(whole) :]
    book.file.write_bytes(whole + added[: max(1, int(share * (len(added) - 1)))])
    assert [one.kind for one in book.read()] == ["install"]
    book.append([decision(kind="withdraw")])
    assert [one.kind for one in book.read()] == ["install", "withdraw"]


@pytest.mark.parametrize("tail", [b"\0" * 40, b'[{"kind": "ins' + b"\0" * 40, b"x", b"{}", b"\xff", b"[1"])
def test_a_tail_that_is_no_line_that_was_begun_is_damage_and_stays(tmp_path, tail):
    """A file system may leave zeros where power was lost."""
    book = Book(tmp_path / "book.jsonl")
    book.append([decision()])
    whole = book.file.read_bytes() + tail
    book.file.write_bytes(whole)
    for use in (book.read, lambda: book.append([decision(kind="withdraw")])):
        with pytest.raises(DamagedBookError, match=r"line 2 .* the beginning of a decision"):
            use()
    assert book.file.read_bytes() == whole


@pytest.mark.parametrize("content", [b"", b"\0" * 400, b"[", b'[{"kind": "install"'])
def test_a_book_of_which_no_line_was_finished_is_damaged_and_not_empty(tmp_path, content):
    book = Book(tmp_path / "book.jsonl")
    book.file.write_bytes(content)
    for use in (book.read, lambda: book.append([decision()])):
        with pytest.raises(DamagedBookError, match=r"line 1 .*no line of it was finished"):
            use()
    assert book.file.read_bytes() == content


@pytest.mark.parametrize("line", ["{", "[1]", '[{"kind": "install"}]', '{"kind": "install"}', "\xff"])
def test_a_line_that_is_damaged_is_refused_and_named(tmp_path, line):
    book = Book(tmp_path / "book.jsonl")
    book.append([decision()])
    with book.file.open("ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    with pytest.raises(StoreError, match="the book of decisions"):
        book.read()


@pytest.mark.parametrize("change", [{"kind": "crown"}, {"by": "nobody"}, {"made": "2018-12-03"}, {"day": "NaT"}])
def test_a_decision_that_cannot_be_is_refused(change):
    with pytest.raises(ValueError, match="a decision"):
        decision(**change)
