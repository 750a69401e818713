"""A folder that another job fills, as it looks at an unlucky moment."""

from __future__ import annotations

import os
import random
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from fints.bars.ingest import ingest
from fints.bars.sources import make_source, parse_source
from fints.bars.sources.base import BarRequest
from fints.bars.sources.config import FolderConfig
from fints.bars.sources.folder import FolderSource
from fints.bars.store import BarStore
from fints.errors import ConfigError, NoSuchRangeError, SourceError

HEADER = "date,open,high,low,close,volume\n"
DAYS = ["2018-12-10", "2018-12-11", "2018-12-12", "2018-12-13", "2018-12-14"]
NOW = pd.Timestamp("2018-12-14 23:00", tz="UTC")


def table(closes: dict[str, float]) -> str:
    return HEADER + "".join(f"{day},{c},{c + 1},{c - 1},{c},1000\n" for day, c in closes.items())


def prices(first: int = 0, last: int = 5, level: float = 100.0) -> dict[str, float]:
    return {day: level + place for place, day in enumerate(DAYS[first:last], first)}


@pytest.fixture
def put(tmp_path):
    """Return a function that writes a file below ``in/``; each is a minute newer than the one before."""
    root, clock = tmp_path / "in", [1_600_000_000]
    root.mkdir()

    def write(name: str, content: str | bytes) -> Path:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        clock[0] += 60
        os.utime(path, (clock[0], clock[0]))
        return path

    write.root = root
    return write


def folder(put, pause=None, **options) -> FolderSource:
    config = parse_source({"kind": "folder", "path": str(put.root), **options})
    return make_source(config) if pause is None else FolderSource(config, pause)


def closes(source, symbol: str = "AAA", interval: str = "1d") -> list[float]:
    return source.fetch(BarRequest(symbol, interval)).bars["close"].tolist()


def parquet(text: str) -> bytes:
    import io

    buffer = io.BytesIO()
    pd.read_csv(io.StringIO(text)).to_parquet(buffer)
    return buffer.getvalue()


WHOLE = table(prices())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("AAA.csv.tmp", WHOLE),
        ("AAA.csv.part", WHOLE),
        ("AAA.parquet.partial", WHOLE),
        ("AAA.csv~", WHOLE),
        ("AAA.csv", WHOLE[:-3]),
        ("AAA.csv", WHOLE[:-1]),
        ("AAA.csv", ""),
        ("AAA.csv", WHOLE[:60] + "\0" * 40),
        ("AAA.csv", WHOLE.encode("utf-16")[:-20]),
        ("AAA.parquet", parquet(WHOLE)[:-4]),
        ("AAA.parquet", b"PAR1"),
        ("AAA.zip", b"PK\3\4 and no directory"),
    ],
)
def test_a_file_that_is_being_written_is_left_for_the_next_run_and_named(put, tmp_path, name, content) -> None:
    put(name, content)
    put("BBB.csv", WHOLE)
    store = BarStore(tmp_path / "store")
    report = ingest(folder(put), store, symbols=["AAA", "BBB"], now=NOW)
    assert report.commit.inserted == {"BBB": 5}
    assert f"the file {name} was left for the next run" in report.failed["AAA"]
    (put.root / name).unlink()
    put("AAA.csv", WHOLE)
    assert ingest(folder(put), store, symbols=["AAA", "BBB"], now=NOW).commit.inserted == {"AAA": 5}


def test_beside_a_complete_file_the_unfinished_one_is_a_note(put) -> None:
    put("AAA.csv", table(prices(0, 3)))
    put("new/AAA.csv.part", table(prices()))
    source = folder(put)
    assert source.symbols() == ["AAA"]
    delivery = source.fetch(BarRequest("AAA"))
    assert len(delivery.bars) == 3
    assert delivery.notes == (
        "the file new/AAA.csv.part was left for the next run: by its name (.part) it is still being written",
    )


def test_a_hidden_draft_of_rsync_is_told_of_the_folder_and_other_hidden_files_never(put) -> None:
    for name in (".AAA.csv.Xa3d", ".DS_Store", ".git/AAA.csv"):
        put(name, WHOLE)
    put("AAA.csv", WHOLE)
    source = folder(put)
    told = source.fetch(BarRequest("AAA"))
    (remark,) = told.remarks
    assert ".AAA.csv.Xa3d" in remark
    assert told.notes == ()


def test_the_last_line_may_lack_its_end_where_the_writer_is_known_for_it(put) -> None:
    put("AAA.csv", WHOLE[:-1])
    assert closes(folder(put, unterminated=True)) == list(prices().values())
    put("AAA.csv", WHOLE[:-8])
    with pytest.raises(SourceError, match=r"AAA\.csv was left.*5 fields and the header 6"):
        closes(folder(put, unterminated=True))


def test_a_young_file_is_looked_at_twice(put) -> None:
    growing, still = put("AAA.csv", table(prices(0, 2))), put("BBB.csv", WHOLE)
    for path in (growing, still):
        os.utime(path)
    waited = []

    def meanwhile(seconds: float) -> None:
        waited.append(seconds)
        with growing.open("a") as file:
            file.write(table(prices(2, 4))[len(HEADER) :])

    source = folder(put, meanwhile, quiet=30)
    assert source.symbols() == ["AAA", "BBB"]
    assert waited == [30]
    with pytest.raises(SourceError, match=r"AAA\.csv was left for the next run: it changed within 30 s"):
        closes(source)
    assert len(closes(source, "BBB")) == 5
    os.utime(growing, (1_600_000_000,) * 2)
    os.utime(still, (1_600_000_000,) * 2)
    source = folder(put, meanwhile, quiet=30)
    assert source.symbols() == ["AAA", "BBB"]
    assert closes(source) == list(prices(0, 4).values())
    assert waited == [30]


def test_a_source_looks_at_its_folder_once(put, tmp_path) -> None:
    os.utime(put("AAA.csv", WHOLE))
    waited = []
    source = folder(put, waited.append, quiet=30)
    symbols = source.symbols()
    ingest(source, BarStore(tmp_path / "store"), symbols=symbols, now=NOW)
    assert source.symbols() == symbols == ["AAA"]
    assert waited == [30]


@pytest.mark.parametrize("glob", ["**/*.csv", "*.csv", "AAA.csv", "**/*", "**"])
def test_a_draft_of_rsync_is_told_whatever_the_pattern(put, glob) -> None:
    put("AAA.csv", WHOLE)
    put(".AAA.csv.Xa3d", WHOLE[:40])
    put("AAA.csv.bak", WHOLE)
    assert folder(put, glob=glob).fetch(BarRequest("AAA")).remarks == (
        "the file .AAA.csv.Xa3d was left for the next run: by its name (hidden) it is still being written",
    )


def test_a_file_without_rows_is_told(put, tmp_path) -> None:
    put("AAA.csv", WHOLE)
    put("new/AAA.csv", HEADER)
    put("BBB.csv", HEADER)
    report = ingest(folder(put), BarStore(tmp_path / "store"), symbols=None, now=NOW)
    assert report.notes == {"AAA": ("the file new/AAA.csv holds no bars",)}
    assert list(report.failed) == ["BBB"]
    assert "the file BBB.csv holds no bars" in report.failed["BBB"]


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "2262-04-11"])
def test_a_date_that_no_calendar_holds_fails_its_symbol_alone(put, tmp_path, day) -> None:
    put("AAA.csv", WHOLE)
    put("BBB.csv", table({day: 1.0}))
    put("all.csv", f"symbol,date,close\nCCC,2018-12-13,1.5\nDDD,{day},2.5\n")
    put("EEE.parquet", parquet_of(day))
    report = ingest(folder(put), BarStore(tmp_path / "store"), symbols=None, now=NOW)
    assert report.commit.inserted == {"AAA": 5, "CCC": 1}
    assert set(report.failed) == {"BBB", "DDD", "EEE"}
    assert f"'{day}' is beyond the years 1678 to 2261" in report.failed["BBB"]


def parquet_of(day: str) -> bytes:
    import io

    buffer = io.BytesIO()
    pd.DataFrame({"date": pd.array([day], dtype="datetime64[us]"), "close": [1.0]}).to_parquet(buffer)
    return buffer.getvalue()


def damaged_archive() -> bytes:
    import io

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("BAD.csv", WHOLE)
    content = bytearray(buffer.getvalue())
    content[30 + len("BAD.csv")] = 0b111  # a block of a type that does not exist
    return bytes(content)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("BAD.zip", damaged_archive(), "BAD.csv cannot be read: Error -3"),
        ("BAD.csv", "date,close\n2018-12-13,1.5," + "x" * 140_000 + "\n", "line 2: field larger than field limit"),
        ("BAD.csv", "date,close\n2018-12-13," + "x" * 140_000, "is not a number"),
        ("BAD.csv", WHOLE.encode("utf-16")[:-3], "its last character is cut short"),
        ("BAD.csv", b"\xff\xfe", "it is empty"),
        ("BAD.csv", b"\xef\xbb\xbf", "cannot be read"),
    ],
)
def test_a_file_that_no_reader_can_read_fails_alone(put, tmp_path, name, content, message) -> None:
    put("AAA.csv", WHOLE)
    put(name, content)
    report = ingest(folder(put, unterminated=True), BarStore(tmp_path / "store"), symbols=None, now=NOW)
    assert report.commit.inserted == {"AAA": 5}
    assert list(report.failed) == ["BAD"]
    assert message in report.failed["BAD"]


def test_a_file_that_changes_while_it_is_read_is_left(put, monkeypatch) -> None:
    path = put("AAA.csv", WHOLE)
    from fints.bars.sources.documents import Document

    read = Document.read

    def touched(self, separator):
        rows = read(self, separator)
        os.utime(path, (1_700_000_000,) * 2)
        return rows

    monkeypatch.setattr(Document, "read", touched)
    with pytest.raises(SourceError, match="it changed while it was read"):
        closes(folder(put))


def test_of_the_same_bar_in_two_files_the_newest_counts_and_equal_rows_are_one(put) -> None:
    put("b/AAA.csv", table(prices(0, 4)))
    put("a/AAA.csv", table({**prices(2, 5), DAYS[2]: 555.0}))
    delivery = folder(put).fetch(BarRequest("AAA"))
    assert delivery.bars.sort_values("session")["close"].tolist() == [100.0, 101.0, 555.0, 103.0, 104.0]
    assert delivery.notes == ("1 bars of the file b/AAA.csv gave way to other values in a newer file",)


def test_of_two_files_of_the_same_moment_the_later_name_counts(put) -> None:
    paths = [put("x/AAA.csv", table(prices(level=100.0))), put("y/AAA.csv", table(prices(level=200.0)))]
    for path in paths:
        os.utime(path, (1_600_000_000,) * 2)
    assert closes(folder(put)) == list(prices(level=200.0).values())


def test_the_order_in_which_the_system_lists_files_does_not_matter(put, monkeypatch) -> None:
    for place in range(6):
        put(f"{place}.csv", "symbol," + table(prices()).replace("\n2018", f"\n{'AB'[place % 2] * 3},2018"))
        put(f"part-{place}.csv", "symbol," + table({DAYS[place % 5]: 300.0 + place}).replace("\n2018", "\nAAA,2018"))
    wanted = None
    glob = Path.glob
    for seed in range(8):
        shuffled = random.Random(seed)
        monkeypatch.setattr(
            Path, "glob", lambda self, pattern, r=shuffled: r.sample(found := list(glob(self, pattern)), len(found))
        )
        source = folder(put)
        source.symbols()
        told = [source.fetch(BarRequest(symbol)) for symbol in ("AAA", "BBB")]
        frames = [delivery.bars.drop(columns="fetched_at").to_csv() for delivery in told]
        wanted = wanted or (frames, told[0].notes)
        assert (frames, told[0].notes) == wanted


def test_late_doubled_corrected_and_vanished_files_leave_one_true_store(put, tmp_path) -> None:
    store = BarStore(tmp_path / "store")

    def night(day: str):
        return ingest(folder(put), store, symbols=["AAA", "BBB"], now=pd.Timestamp(f"{day} 23:00", tz="UTC"))

    first = put("one.csv", "symbol," + table(prices(0, 2)).replace("\n2018", "\nAAA,2018"))
    report = night(DAYS[1])
    assert (report.commit.inserted, list(report.failed)) == ({"AAA": 2}, ["BBB"])
    put("late.csv", "symbol," + table(prices(0, 3)).replace("\n2018", "\nBBB,2018"))
    put("two.csv", "symbol," + table(prices(0, 3)).replace("\n2018", "\nAAA,2018"))
    assert night(DAYS[2]).commit.inserted == {"AAA": 1, "BBB": 3}
    put("fixed.csv", "symbol," + table({DAYS[0]: 99.0}).replace("\n2018", "\nAAA,2018"))
    report = night(DAYS[2])
    assert (report.commit.inserted, report.commit.revised) == ({}, {"AAA": 1})
    first.unlink()
    (put.root / "late.csv").unlink()
    before = store.read()
    report = night(DAYS[2])
    assert list(report.failed) == ["BBB"]
    pd.testing.assert_frame_equal(store.read(), before)
    assert store.verify() == []


def test_a_session_that_no_file_brought_is_missing_at_the_end(put, tmp_path) -> None:
    put("AAA.csv", table(prices(0, 4)))
    report = ingest(folder(put), BarStore(tmp_path / "store"), symbols=None, now=NOW)
    assert [finding.reason for finding in report.findings] == ["no bar yet for 2018-12-14"]


def test_a_broken_file_fails_its_own_symbols_only_and_is_named(put, tmp_path) -> None:
    put("AAA.csv", WHOLE)
    put("BAD.csv", "what,is,this\n1,2,3\n")
    put("WORSE.zip", b"not at all")
    report = ingest(folder(put), BarStore(tmp_path / "store"), symbols=None, now=NOW)
    assert report.commit.inserted == {"AAA": 5}
    assert set(report.failed) == {"BAD", "WORSE"}
    assert "BAD.csv: no column found" in report.failed["BAD"]
    assert "take it out of the folder" in report.failed["BAD"]


def test_of_a_file_of_many_symbols_only_those_fail_whose_rows_are_wrong(put, tmp_path) -> None:
    rows = "AAA,2018-12-13,1.5\nBBB,2018-12-13,closed\nCCC,2018-12-13,2.5\n"
    put("all.csv", "symbol,date,close\n" + rows)
    source = folder(put)
    assert source.symbols() == ["AAA", "BBB", "CCC"]
    assert closes(source) == [1.5]
    with pytest.raises(SourceError, match=r"all\.csv, rows of 'BBB', column 'close', row 1: 'closed' is not a number"):
        closes(source, "BBB")


def test_an_unreadable_file_among_files_of_many_symbols_is_told_of_the_folder_whoever_is_asked(put) -> None:
    put("all.csv", "symbol,date,close\nAAA,2018-12-13,1.5\n")
    put("more.csv", "symbol,date\n")
    put("next.csv.part", "")
    source = folder(put)
    for _ in range(2):
        told = source.fetch(BarRequest("AAA"))
        assert told.notes == ()
        assert "more.csv: no column found for close" in told.remarks[0]
        assert "next.csv.part was left" in told.remarks[1]


def test_what_is_wrong_with_a_file_is_said_once_and_under_no_other_symbol(put, tmp_path) -> None:
    put("AAA.csv", "symbol,date,close\nAAA,2018-12-14,1.5\n")
    put("BBB.csv", "symbol,date,close\nBBB,2018-12-14,2.5\n")
    put("A&B.csv", "what,is,this\n1,2,3\n")
    for name, wanted in (("all", ["AAA", "BBB", "A&B"]), ("two", ["AAA", "BBB"])):
        report = ingest(folder(put), BarStore(tmp_path / name), symbols=wanted, now=NOW)
        said = [*report.remarks(), *(f"{symbol}: {cause}" for symbol, cause in report.failed.items())]
        (told,) = [sentence for sentence in said if "no column found" in sentence]
        assert told.startswith("A&B: " if name == "all" else str(put.root / "A&B.csv"))
        assert report.notes == {}


def test_a_pattern_chooses_the_files_and_cannot_lead_out(put) -> None:
    put("daily/AAA.csv", WHOLE)
    put("hourly/BBB.csv", WHOLE)
    assert folder(put, glob="daily/*.csv").symbols() == ["AAA"]
    assert folder(put, glob="**/*.csv").symbols() == ["AAA", "BBB"]
    for pattern in ("../*.csv", "/etc/*", "a/../../b"):
        with pytest.raises(ConfigError, match="may not lead out"):
            folder(put, glob=pattern)


def test_archives_are_read_whole_and_named_by_member(put) -> None:
    path = put.root / "more.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("AAA.csv", WHOLE[:-1])
        archive.writestr("BBB.csv", "void")
    os.utime(path, (1_600_000_000,) * 2)
    source = folder(put)
    assert len(closes(source)) == 5
    with pytest.raises(SourceError, match=r"more\.zip:BBB\.csv: no column found"):
        closes(source, "BBB")


def test_hours_and_days_and_zones_meet_on_one_grid(put) -> None:
    put("AAA.csv", "time,close\n2018-11-23 09:30,1\n2018-11-23 10:30,2\n")
    put("b/AAA.csv", "time,close\n2018-11-23T15:30:00Z,7\n2018-11-23T16:30:00Z,3\n")
    bars = folder(put).fetch(BarRequest("AAA", "1h")).bars.sort_values("end")
    assert bars["start"].dt.strftime("%H:%M").tolist() == ["14:30", "15:30", "16:30"]
    assert bars["close"].tolist() == [1.0, 7.0, 3.0]
    with pytest.raises(NoSuchRangeError, match="hold '1h' bars"):
        folder(put, interval="1h").fetch(BarRequest("AAA"))


def test_nothing_there_is_said_when_it_is_asked_for(put, tmp_path) -> None:
    assert folder(put).symbols() == []
    with pytest.raises(SourceError, match=r"no file in .* holds 'AAA' yet"):
        closes(folder(put))
    with pytest.raises(ConfigError, match="there is no folder"):
        FolderSource(FolderConfig(path=tmp_path / "nowhere")).symbols()


@pytest.mark.parametrize("symbol", ["../in/AAA", "A/B", "/etc/passwd", "AAA.csv", "*"])
def test_a_symbol_is_never_a_path(put, symbol) -> None:
    put("AAA.csv", WHOLE)
    with pytest.raises(SourceError, match="no file in"):
        closes(folder(put), symbol)
    put("all.csv", f'symbol,date,close\n"{symbol}",2018-12-13,1.5\n')
    assert closes(folder(put), symbol) == [1.5]
    assert sorted(path.name for path in put.root.rglob("*")) == ["AAA.csv", "all.csv"]
