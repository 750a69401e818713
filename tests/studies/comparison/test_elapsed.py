import pytest

from fints.errors import StoreError
from fints.studies.comparison.elapsed import Elapsed


def test_the_time_of_runs_adds_up(tmp_path):
    elapsed = Elapsed(tmp_path / "elapsed.json")
    assert elapsed.seconds == 0
    elapsed.add(2.5)
    elapsed.add(1.0)
    assert Elapsed(tmp_path / "elapsed.json").seconds == 3.5


@pytest.mark.parametrize("damaged", ["", "[1]", '{"seconds": null}', "{"])
def test_a_damaged_file_counts_as_none(tmp_path, damaged):
    (tmp_path / "elapsed.json").write_text(damaged)
    assert Elapsed(tmp_path / "elapsed.json").seconds == 0


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(StoreError, match="check the folder"):
        Elapsed(tmp_path / "absent" / "elapsed.json").add(1.0)
