"""A disk that is full and a store that is read-only: a clear sentence, exit code 1, and nothing half done."""

from __future__ import annotations

import shutil

import pytest

from fints.bars.store import BarStore
from tests.faults import child
from tests.faults.conftest import assert_same, contents, same


@pytest.mark.parametrize("limit", [3_000, 20_000])
def test_where_no_more_can_be_written_it_says_so_and_the_store_is_sound(nights, finish, tmp_path, limit) -> None:
    home = tmp_path / "home"
    shutil.copytree(nights.homes[0], home)
    assert finish(child.run_confined, limit, home, *nights.command(1)) == 1
    said = " ".join(child.said(home).split())
    assert "fints: could not write to" in said
    assert "The last complete version is untouched" in said
    assert "disk space" in said
    assert "Traceback" not in said
    assert BarStore(home / "store").verify() == []
    assert same(contents(home / "store"), contents(nights.homes[0] / "store"), "bars")
    assert finish(child.run, home, *nights.command(1)) == 0, child.said(home)
    assert_same(contents(home / "store"), contents(nights.homes[1] / "store"))


@pytest.fixture
def read_only(nights, tmp_path):
    """A home whose store may be read and not written."""
    home = tmp_path / "home"
    shutil.copytree(nights.homes[0], home)
    paths = [home / "store", *(home / "store").rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield home
    for path in paths:
        path.chmod(0o755)


def test_a_read_only_store_is_named_and_left_as_it_is(read_only, nights, finish) -> None:
    assert finish(child.run_unprivileged, read_only, *nights.command(1)) == 1
    said = " ".join(child.said(read_only).split())
    assert f"could not prepare the store {read_only / 'store'}: permission denied. Make the folder writable" in said
    assert "Traceback" not in said
    assert BarStore(read_only / "store").verify() == []
    assert_same(contents(read_only / "store"), contents(nights.homes[0] / "store"))
