"""The table of the kinds of failure: complete, and each test that it names is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "ingestion.md"
ROW = re.compile(r"^\| (\d\d) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
KINDS = 28

ROWS = {int(number): (happens, done, tests) for number, happens, done, tests in ROW.findall(PAGE.read_text("utf-8"))}


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_the_table_has_every_kind_once() -> None:
    assert [int(number) for number, *_ in ROW.findall(PAGE.read_text("utf-8"))] == list(range(1, KINDS + 1))


@pytest.mark.parametrize("number", range(1, KINDS + 1))
def test_each_kind_has_words_and_tests_of_its_number_that_exist(number) -> None:
    happens, done, cell = ROWS[number]
    named = TEST.findall(cell)
    assert all(text.strip() for text in (happens, done))
    assert named
    for path, name in named:
        assert name.startswith(f"test_kind_{number:02d}_")
        assert name in names_in(path)


def test_every_test_of_a_kind_has_a_number_of_the_table() -> None:
    found = {
        int(match)
        for path in (ROOT / "tests").rglob("test_*.py")
        for match in re.findall(r"def test_kind_(\d\d)_", path.read_text("utf-8"))
    }
    assert found == set(range(1, KINDS + 1))


def test_files_that_the_page_names_are_there() -> None:
    assert not [
        path for path in re.findall(r"`(tests/[\w/]+\.py)`", PAGE.read_text("utf-8")) if not (ROOT / path).exists()
    ]
