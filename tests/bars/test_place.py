from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fints.bars.place import check_place, misread
from fints.bars.store import BarStore
from fints.bars.table import StoreTable
from fints.errors import StoreError

_ODD = "[]^|\\%?#&=+;:'\"*<>{}`~ @$!(),é日\x01\t20aF"
SCHEMA = pa.schema([("symbol", pa.string()), ("close", pa.float64())])


@given(st.text(st.sampled_from(_ODD) | st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_a_table_under_any_path_that_passes_is_read_back_from_there(name: str) -> None:
    assume(name not in {".", ".."})
    with tempfile.TemporaryDirectory() as folder:
        table = StoreTable(Path(folder) / name / "bars", SCHEMA, ("symbol",))
        assume(not misread(table.path))
        table.create()
        table.append(pa.table({"symbol": ["^GSPC", "BRK/B"], "close": [1.0, 2.0]}, schema=SCHEMA))
        table.replace(pa.table({"symbol": ["^GSPC"], "close": [3.0]}, schema=SCHEMA), [{"symbol": "^GSPC"}])
        assert sorted(table.rows().column("close").to_pylist()) == [2.0, 3.0]
        assert table.rows(version=1).num_rows == 2
        assert (table.path / "_delta_log").is_dir()


@pytest.mark.parametrize("piece", ["?", "[", "]", "^", "|", "\\", "\n", "\x7f", "%20", "%2f", "%41"])
def test_a_path_that_is_misread_is_refused_before_anything_is_written(tmp_path: Path, piece: str) -> None:
    home = tmp_path / f"a{piece}b"
    with pytest.raises(StoreError, match="misread") as refused:
        check_place(home)
    assert repr(piece) in str(refused.value)
    with pytest.raises(StoreError, match="Set FINTS_HOME to a folder whose path is without it"):
        BarStore(home / "store").commit({})
    assert list(tmp_path.iterdir()) == []
