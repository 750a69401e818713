"""Who keeps files private keeps the files of fints so, too."""

import os
import stat

import pandas as pd
import pytest

from pipelines.files import draft_beside, write_text


@pytest.fixture
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("umask", [0o077, 0o027, 0o022], indirect=True)
def test_a_file_that_is_written_in_one_move_heeds_the_umask(tmp_path, umask):
    file = tmp_path / "report.html"
    for text in ("one", "two"):
        write_text(file, text)
        assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~umask
    frame = draft_beside(tmp_path / "rows.parquet")
    pd.DataFrame({"a": [1]}).to_parquet(frame)
    assert stat.S_IMODE(frame.stat().st_mode) == 0o666 & ~umask
    assert frame.name.startswith(".draft-")
    assert frame.name != draft_beside(tmp_path / "rows.parquet").name
