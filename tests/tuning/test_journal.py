import logging

import optuna
import pytest

from fints.errors import StoreError
from fints.tuning import StudyStore
from fints.tuning.quiet import quiet


def filled(path, values=(1.0, 2.0)):
    """A journal with a study of two trials."""
    with quiet():
        study = optuna.create_study(storage=StudyStore("s", path).open(), study_name="s")
        for value in values:
            study.add_trial(optuna.create_trial(value=value))


def values(path):
    with quiet():
        return [t.value for t in optuna.load_study(storage=StudyStore("s", path).open(), study_name="s").trials]


def test_half_a_line_at_the_end_is_cut_off_so_that_the_next_line_stays_whole(tmp_path, caplog):
    path = tmp_path / "s.journal"
    filled(path)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"op_code":4,"worker_i')
    with caplog.at_level(logging.WARNING):
        assert values(path) == [1.0, 2.0]
    assert "cut off" in caplog.text
    with quiet():
        optuna.load_study(storage=StudyStore("s", path).open(), study_name="s").add_trial(
            optuna.create_trial(value=3.0)
        )
    assert values(path) == [1.0, 2.0, 3.0]
    assert list(tmp_path.glob("*.corrupt-*")) == []


def test_optuna_alone_would_lose_the_journal_after_half_a_line(tmp_path):
    """Why it is mended: the day this fails, the mending may go."""
    path = tmp_path / "s.journal"
    filled(path)
    path.write_bytes(path.read_bytes() + b'{"op_code":4,"worker_i')

    def reopened():
        backend = optuna.storages.journal.JournalFileBackend(str(path))
        return optuna.load_study(storage=optuna.storages.JournalStorage(backend), study_name="s")

    def go_on():
        reopened().add_trial(optuna.create_trial(value=3.0))
        reopened()

    with quiet(), pytest.raises((ValueError, AttributeError)):
        go_on()


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: [lines[0], b"\x00\xff not json\n", *lines[1:]],
        lambda lines: [lines[0], b'{"op_code":4}\n', *lines[1:]],
        lambda lines: [b"[1, 2]\n", *lines],
        lambda lines: [*lines[1:]],
    ],
    ids=["garbage", "lost keys", "other json", "lost head"],
)
def test_a_damaged_journal_is_moved_aside_whole_and_a_new_one_begun(tmp_path, caplog, damage):
    path = tmp_path / "s.journal"
    filled(path)
    damaged = b"".join(damage(path.read_bytes().splitlines(keepends=True)))
    path.write_bytes(damaged)
    with caplog.at_level(logging.WARNING):
        assert not StudyStore("s", path).exists()
    (aside,) = tmp_path.glob("s.journal.corrupt-*")
    assert aside.read_bytes() == damaged
    assert str(aside) in caplog.text
    filled(path, [5.0])
    assert values(path) == [5.0]


def test_a_folder_in_the_place_of_the_journal_is_no_journal(tmp_path):
    (tmp_path / "s.journal").mkdir()
    with pytest.raises(StoreError, match="journal"):
        StudyStore("s", tmp_path / "s.journal").check()


def test_a_folder_that_cannot_be_made_is_an_error_of_the_store(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="check its folder"):
        StudyStore("s", tmp_path / "file" / "s.journal").check()
