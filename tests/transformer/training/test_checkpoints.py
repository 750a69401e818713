import pytest
import torch

from fints.errors import BundleError
from fints.transformer.training import Checkpoints

KEY = "a training"


def state(number):
    return {"numbers": [(number, 0.5)], "weights": {"w": torch.full((3,), float(number))}}


@pytest.fixture
def checkpoints(tmp_path):
    return Checkpoints(tmp_path / "states")


def files(checkpoints):
    return sorted(checkpoints.folder.iterdir())


def test_the_newest_state_comes_back_as_it_was(checkpoints):
    checkpoints.write(3, KEY, state(3))
    checkpoints.write(12, KEY, state(12))
    found, notes = checkpoints.newest(KEY)
    assert found["numbers"] == [(12, 0.5)]
    assert torch.equal(found["weights"]["w"], torch.full((3,), 12.0))
    assert notes == ("went on from step 12, where a training was stopped",)


def test_nothing_is_found_where_nothing_was_written(checkpoints):
    assert checkpoints.newest(KEY) == (None, ())
    assert not checkpoints.folder.exists()


def test_two_states_are_kept(checkpoints):
    for step in (3, 6, 9, 12):
        checkpoints.write(step, KEY, state(step))
    assert [path.name[:9] for path in files(checkpoints)] == ["000000009", "000000012"]


def truncate(path):
    path.write_bytes(path.read_bytes()[:-40])


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("harm", [truncate, flip, empty])
def test_a_damaged_state_gives_way_to_the_one_before(checkpoints, harm):
    checkpoints.write(3, KEY, state(3))
    checkpoints.write(6, KEY, state(6))
    newest = files(checkpoints)[-1]
    harm(newest)
    found, notes = checkpoints.newest(KEY)
    assert found["numbers"] == [(3, 0.5)]
    assert notes[0] == f"{newest} is damaged and was removed"
    assert notes[1].startswith("went on from step 3")


def test_when_every_state_is_damaged_training_begins_anew(checkpoints, caplog):
    checkpoints.write(3, KEY, state(3))
    flip(files(checkpoints)[0])
    found, notes = checkpoints.newest(KEY)
    assert found is None
    assert "damaged" in notes[0]
    assert notes[0] in caplog.text


def test_a_kill_while_writing_leaves_the_state_before(checkpoints):
    checkpoints.write(3, KEY, state(3))
    (checkpoints.folder / "000000006-0123.partial").write_bytes(b"half")
    assert checkpoints.newest(KEY)[0]["numbers"] == [(3, 0.5)]
    checkpoints.write(9, KEY, state(9))
    assert [path.suffix for path in files(checkpoints)] == [".state", ".state"]


def test_the_state_of_another_training_is_removed_in_words(checkpoints):
    checkpoints.write(30, "another", state(30))
    found, notes = checkpoints.newest(KEY)
    assert found is None
    assert "another training (data, settings, seed or version differ)" in notes[0]
    checkpoints.write(3, KEY, state(3))
    assert checkpoints.newest(KEY)[0]["numbers"] == [(3, 0.5)]


def test_clearing_leaves_what_is_not_a_state(checkpoints):
    checkpoints.write(3, KEY, state(3))
    checkpoints.member(1).write(3, KEY, state(3))
    (checkpoints.folder / "notes.txt").write_text("mine")
    checkpoints.clear()
    assert [path.name for path in files(checkpoints)] == ["notes.txt"]
    (checkpoints.folder / "notes.txt").unlink()
    checkpoints.clear()
    assert not checkpoints.folder.exists()
    checkpoints.clear()


def test_members_do_not_see_each_others_states(checkpoints):
    checkpoints.member(0).write(3, KEY, state(3))
    assert checkpoints.member(1).newest(KEY)[0] is None
    assert checkpoints.member(0).newest(KEY)[0] is not None


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BundleError, match="choose a writable folder"):
        Checkpoints(tmp_path / "file" / "states").write(3, KEY, state(3))
