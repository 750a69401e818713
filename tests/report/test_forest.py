import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from fints.errors import ConfigError
from fints.report.charts import Palette, draw
from fints.report.forest import OPEN, STANDS, draw_forest, forest_size
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


def limits(rows):
    figure = Figure(figsize=(8, 4))
    draw_forest(figure, Forest("f", "t", "x", rows))
    return figure.axes[0].get_xlim(), figure.axes[0].get_lines()


def test_an_estimate_is_shown_where_it_is_however_far_from_the_others():
    (low, high), _ = limits([*ROWS, ForestRow("far", "g", 0.2, 0.15, 0.25), ForestRow("farther", "g", 9.0, 8.0, 10.0)])
    assert low < 0.2
    assert high > 9.0


@pytest.mark.parametrize(("row", "marks"), [((2.0, 0.9, 4.2), [">"]), ((0.5, 0.1, 40.0), ["<", ">"]), ((1, 1, 1), [])])
def test_an_interval_that_is_cut_off_ends_in_an_arrow(row, marks):
    _, lines = limits([*ROWS, ForestRow("wide", "g", *row)])
    assert [line.get_marker() for line in lines if line.get_marker() in ("<", ">")] == marks


def test_a_forest_without_rows_is_refused():
    with pytest.raises(ConfigError, match="no rows"):
        Forest("f", "t", "x", [])
