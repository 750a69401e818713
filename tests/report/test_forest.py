import re
from xml.etree import ElementTree

import numpy as np
import pytest

from fints.errors import ConfigError
from fints.report.charts import Palette, draw
from fints.report.forest import OPEN, STANDS, forest_size
from fints.studies import Forest, ForestRow

ROWS = [
    ForestRow("a / b", "first", 0.8, 0.7, 0.9, stands=True),
    ForestRow("c / b", "first", 1.0, 0.9, 1.1),
    ForestRow("a / b", "second", 1.2, np.nan, np.nan),
]


def drawn(rows, **rest):
    chart = Forest("ratios", "Ratios", "ratio", rows, **rest)
    return draw(chart, Palette.over([chart]))


def test_it_is_a_whole_svg_in_which_what_stands_differs_by_colour():
    svg = drawn(ROWS, margin=0.05)
    ElementTree.fromstring(svg)
    assert STANDS in svg
    assert OPEN in svg
    assert STANDS not in drawn(ROWS[1:])


def test_a_group_has_one_heading_and_every_row_a_line_of_its_own():
    assert forest_size(Forest("f", "t", "x", ROWS))[1] > forest_size(Forest("f", "t", "x", ROWS[:2]))[1]
    assert len(re.findall('id="ytick_', drawn(ROWS))) == 2 + 3


@pytest.mark.parametrize("row", [ForestRow("wild", "g", 40.0, 0.1, 900.0), ForestRow("wild", "g", 0.01, 0.001, 0.1)])
def test_a_wild_ratio_leaves_the_others_legible(row):
    ElementTree.fromstring(drawn([*ROWS, row]))


def test_a_forest_without_rows_is_refused():
    with pytest.raises(ConfigError, match="no rows"):
        Forest("f", "t", "x", [])
