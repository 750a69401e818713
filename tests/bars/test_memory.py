from __future__ import annotations

import ctypes

import pytest

from fints.bars.memory import give_back


def test_memory_is_given_back_where_the_c_library_can_and_nothing_fails_elsewhere(monkeypatch) -> None:
    give_back()
    for fault in (OSError("no such library"), TypeError("None is no name"), AttributeError("malloc_trim")):
        monkeypatch.setattr(ctypes, "CDLL", _raising(fault))
        give_back()


def test_what_asks_for_memory_back_hides_no_other_fault(monkeypatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", _raising(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        give_back()


def _raising(fault: Exception):
    def load(_name: str | None) -> None:
        raise fault

    return load
