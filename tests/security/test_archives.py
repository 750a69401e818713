"""Archives do not fill the memory."""

import zipfile

import pytest

from fints.bars.sources import make_source
from fints.bars.sources.base import BarRequest
from fints.bars.sources.config import FilesConfig, FolderConfig
from fints.errors import SourceError

HEADER, ROW = b"date,close\n", b"2018-11-20,1.0\n"


def packed(path, members, rows):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in members:
            with archive.open(name, "w") as member:
                member.write(HEADER)
                for _ in range(rows // 100_000):
                    member.write(ROW * 100_000)
    return path


@pytest.mark.parametrize("members", [["SPY.csv"], [f"S{i}.csv" for i in range(6)]])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch, members):
    bomb = packed(tmp_path / "bars.zip", members, 6_000_000 // len(members))
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(SourceError, match=r"bars\.zip holds 8\d MB in .* nothing of it was read"):
        make_source(FilesConfig(path=bomb)).symbols()
    source = make_source(FolderConfig(path=tmp_path, quiet=0))
    assert source.symbols() == ["bars"]
    with pytest.raises(SourceError, match="nothing of it was read"):
        source.fetch(BarRequest("bars", "1d"))


def test_a_small_archive_may_pack_as_well_as_it_likes(tmp_path):
    assert make_source(FilesConfig(path=packed(tmp_path / "bars.zip", ["SPY.csv"], 100_000))).symbols() == ["SPY"]
