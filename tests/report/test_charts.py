import re
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.report.charts import COLOURS, Palette, draw, spread
from fints.studies import HeatMap, Line, LineChart

X = np.arange(1.0, 20.0)


def chart(*names, **options):
    lines = [Line(name, X, np.exp(-0.1 * X) * (i + 1)) for i, name in enumerate(names)]
    return LineChart("errors", "Errors", "bars ahead", "RMSE", lines, **options)


def drawn(one):
    return draw(one, Palette.over([one]))


@pytest.mark.parametrize("log_y", [False, True])
@pytest.mark.parametrize("log_x", [False, True])
def test_a_chart_is_a_whole_svg_with_the_colour_of_every_line(log_x, log_y):
    svg = drawn(chart("rope", "cycle", log_x=log_x, log_y=log_y))
    ElementTree.fromstring(svg)
    assert all(colour in svg for colour in COLOURS[:2])


def test_a_heat_map_is_a_whole_svg():
    svg = drawn(HeatMap("map", "Scores", "key", "query", np.outer(X, X)))
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "<image" in svg


def test_a_figure_holds_no_date_and_does_not_depend_on_the_settings_of_matplotlib():
    one = chart("rope", "cycle")
    before = drawn(one)
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.hashsalt": "other"}):
        after = drawn(one)
        assert mpl.rcParams["font.size"] == 30
    assert after == before
    assert not re.search(r"\b20\d\d-\d\d-\d\d", before)


def test_a_name_looks_the_same_in_every_chart_and_names_differ():
    names = [f"encoding {i}" for i in range(20)]
    charts = [chart(*names[:12]), chart(*reversed(names))]
    palette = Palette.over(charts)
    looks = [tuple(palette.look(line).items()) for line in charts[1].lines]
    assert len(set(map(str, looks))) == 20
    assert [palette.look(line) for line in charts[0].lines] == [palette.look(line) for line in charts[1].lines[:-13:-1]]


def test_a_band_and_points_are_drawn():
    plain = Line("rope", X, X)
    banded = Line("rope", X, X, X / 2, X * 2)
    marked = Line("rope", X, X, marks=True)
    seen = {drawn(LineChart("c", "C", "x", "y", [line])) for line in (plain, banded, marked)}
    assert len(seen) == 3


def test_a_line_of_gaps_only_is_passed_over():
    ElementTree.fromstring(
        drawn(LineChart("c", "C", "x", "y", [Line("none", X, np.full_like(X, np.nan)), Line("a", X, X)]))
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0.01, 0.1))
@settings(max_examples=60)
def test_labels_keep_their_order_and_their_distance(places, gap):
    moved = spread(sorted(places), gap)
    assert len(moved) == len(places)
    assert all(b - a >= gap - 1e-9 for a, b in pairwise(moved))
    assert abs(sum(moved) - sum(places)) < 1e-6


@given(st.integers(1, 8), st.floats(0.01, 0.1))
@settings(max_examples=20)
def test_labels_that_are_far_enough_apart_do_not_move(n, gap):
    places = [i * gap * 1.01 for i in range(n)]
    np.testing.assert_allclose(spread(places, gap), places, atol=1e-12)
