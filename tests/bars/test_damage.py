"""A data file that is gone or cut short: which one, whose rows it holds, what to do, and that once."""

import pytest

from fints.bars.damage import damage_in_words
from fints.bars.layout import BAR_PARTITIONS, bars_schema
from fints.bars.store import BarStore
from fints.bars.table import StoreTable
from fints.bars.verify import verify_files
from fints.errors import StoreError

DAYS = {"2018-12-28": 100.0, "2018-12-31": 101.0, "2019-01-02": 102.0}


def cut(file):
    file.write_bytes(file.read_bytes()[:-100])


def spoil(file):
    file.write_bytes(b"\0" * file.stat().st_size)


HOW = {"cut short": (cut, "it is cut short: "), "spoilt": (spoil, "it is damaged"), "gone": (None, "it is gone")}


@pytest.fixture
def store(tmp_path, make_bars):
    store = BarStore(tmp_path / "store")
    store.commit([make_bars(DAYS, symbol=name) for name in ("AAA", "BBB")])
    return store


@pytest.mark.parametrize("how", HOW)
def test_it_leads_with_the_file_then_the_symbols_then_the_cure(store, how):
    file = next((store.root / "bars").rglob("period=2018/*.parquet"))
    spoiler, fault = HOW[how]
    file.unlink() if spoiler is None else spoiler(file)
    with pytest.raises(StoreError) as raised:
        store.read()
    said = str(raised.value)
    assert said.startswith(f"{file} cannot be read ({fault}")
    assert "; it holds 4 rows of the symbols from AAA to BBB (interval 1d, period 2018). " in said
    assert said.index("AAA to BBB") < said.index("Restore what is damaged from a backup") < said.index("`fints ingest`")
    assert ".." not in said
    assert "untouched" not in said
    assert "magic" not in said.casefold()
    assert not said.endswith(".")


def test_what_the_cure_says_mends_it(store, make_bars):
    cut(next((store.root / "bars").rglob("*.parquet")))
    (store.root / "bars").rename(store.root.parent / "aside")
    store.commit([make_bars(DAYS, symbol=name) for name in ("AAA", "BBB")])
    assert len(store.read()) == 6
    assert store.verify() == []


def test_one_symbol_is_named_alone_and_of_many_files_the_first(tmp_path, make_bars):
    store = BarStore(tmp_path / "store")
    store.commit(make_bars({f"{year}-12-28": 100.0 for year in range(2012, 2019)}))
    for file in (store.root / "bars").rglob("*.parquet"):
        cut(file)
    with pytest.raises(StoreError, match=r"1 rows? of AAA \(interval 1d, period 20.*and 4 more files\. Restore"):
        store.read()
    assert len(store.verify()) == 7


def test_only_bars_can_be_fetched_again(tmp_path):
    (tmp_path / "nights").mkdir()
    said = damage_in_words(tmp_path / "nights", {"part-0.parquet": {"num_records": 3, "size_bytes": 9}})
    assert said.startswith(f"{tmp_path / 'nights' / 'part-0.parquet'} cannot be read (it is gone); it holds 3 rows. ")
    assert "ingest" not in said


def test_whole_files_are_no_damage(store):
    assert damage_in_words(store.root / "bars", store._bars.files()) == ""


def test_what_may_not_be_read_is_told_as_that_and_not_as_damaged(store, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.is_file", refused)  # as under a folder that may not be entered
    table = StoreTable(store.root / "bars", bars_schema(), BAR_PARTITIONS)
    assert damage_in_words(table.path, table.files()) == ""
    monkeypatch.setattr("pyarrow.parquet.ParquetFile", refused)
    assert [said for said in verify_files(table) if "permission denied. Make it readable" in said]
