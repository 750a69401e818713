import pytest

from fints.bars.lock import locked
from fints.errors import LockHeldError


def test_one_process_writes_to_a_store_at_a_time_and_the_next_one_after_it(tmp_path):
    held = pytest.raises(LockHeldError, match=r"another process has been writing to .* for 0 s")
    with locked(tmp_path), held, locked(tmp_path, 0):
        pass
    with locked(tmp_path, 0):
        assert (tmp_path / ".lock").exists()
