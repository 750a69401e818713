"""A file whose name is no text spoils nothing but itself."""

import os

import pytest

from fints.bars.sources import make_source
from fints.bars.sources.base import BarRequest
from fints.bars.sources.config import FilesConfig, FolderConfig
from fints.errors import SourceError

ROWS = b"date,close\n2018-11-20,1.0\n2018-11-21,2.0\n"


@pytest.fixture
def folder(tmp_path):
    place = os.fsencode(tmp_path)
    try:
        for name in (b"SPY.csv", b"a\xff.csv", b"b\xff.csv.part", b"c\xff.zip", b"d\xff.parquet"):
            with open(os.path.join(place, name), "wb") as file:  # noqa: PTH118, PTH123 — a path of bytes
                file.write(ROWS)
    except OSError:
        pytest.skip("the file system takes no such name")
    return tmp_path


def told(source, symbol):
    with pytest.raises(SourceError) as error:
        source.fetch(BarRequest(symbol, "1d", exchange="XNYS"))
    return str(error.value).encode("utf-8").decode()


def test_a_folder_says_which_file_it_is_and_gives_the_others(folder):
    source = make_source(FolderConfig(path=folder, quiet=0, exchange="XNYS"))
    assert source.symbols() == ["SPY", "a\ufffd", "b\ufffd", "c\ufffd", "d\ufffd"]
    assert len(source.fetch(BarRequest("SPY", "1d", exchange="XNYS")).bars) == 2
    assert "a\ufffd.csv has a name that is not UTF-8" in told(source, "a\ufffd")
    assert "b\ufffd.csv.part was left for the next run" in told(source, "b\ufffd")


def test_files_say_which_it_is_and_give_the_others(folder):
    (next(path for path in folder.iterdir() if path.suffix == ".zip")).unlink()
    source = make_source(FilesConfig(path=folder, exchange="XNYS"))
    assert source.symbols() == ["SPY", "a\ufffd", "d\ufffd"]
    assert len(source.fetch(BarRequest("SPY", "1d", exchange="XNYS")).bars) == 2
    assert "rename the file" in told(source, "a\ufffd")
