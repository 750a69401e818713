import pytest

from pipelines.sealed import read_sealed, write_sealed


def test_what_was_written_is_read_under_its_label_alone(tmp_path):
    file = tmp_path / "new" / "one"
    write_sealed(file, "label", b"content")
    assert read_sealed(file, "label") == b"content"
    assert read_sealed(file, "another") is None
    assert read_sealed(tmp_path / "two", "label") is None


@pytest.mark.parametrize("place", [0, 31, 32, 38])
def test_one_bit_that_differs_is_noticed(tmp_path, place):
    file = tmp_path / "one"
    write_sealed(file, "label", b"content")
    whole = bytearray(file.read_bytes())
    whole[place] ^= 1
    file.write_bytes(whole)
    assert read_sealed(file, "label") is None


@pytest.mark.parametrize("length", [0, 5, 32, 35])
def test_a_file_cut_short_is_not_read(tmp_path, length):
    file = tmp_path / "one"
    write_sealed(file, "label", b"content")
    file.write_bytes(file.read_bytes()[:length])
    assert read_sealed(file, "label") is None


def test_a_place_that_cannot_be_written_is_no_failure(tmp_path):
    (tmp_path / "file").write_text("in the way")
    write_sealed(tmp_path / "file" / "one", "label", b"content")
    assert read_sealed(tmp_path / "file" / "one", "label") is None
