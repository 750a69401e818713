import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.periods.accuracy import bound
from benchmarks.periods.cells import Cells


@settings(max_examples=30)
@given(period=st.floats(5, 40), amplitude=st.floats(0.1, 3), phase=st.floats(-3, 3), n=st.sampled_from([500, 2000]))
def test_the_bound_of_regular_places_is_that_of_rife_and_boorstyn(period, amplitude, phase, n):
    assert bound(np.arange(n), period, amplitude, phase) == pytest.approx(6 / (np.pi * amplitude) ** 2 / n**3, rel=0.15)


@settings(max_examples=20)
@given(shift=st.floats(-1000, 1000), scale=st.floats(0.5, 3))
def test_the_bound_does_not_depend_on_where_time_starts_and_scales_with_its_unit(shift, scale):
    place = np.arange(300.0)
    plain = bound(place, 20.37, 1.0, 0.5)
    moved = bound(place + shift, 20.37, 1.0, 0.5 - 2 * np.pi * shift / 20.37)
    assert moved == pytest.approx(plain, rel=1e-6)
    assert bound(scale * place, scale * 20.37, 1.0, 0.5) == pytest.approx(plain / scale**2, rel=1e-6)


def test_a_cell_on_file_is_not_measured_again(tmp_path):
    path = tmp_path / "cells.jsonl"
    assert Cells(path).of("a", lambda: {"x": 1.0}) == {"x": 1.0}
    assert Cells(path).of("a", lambda: pytest.fail("measured again")) == {"x": 1.0}
    assert Cells(path).of("b", lambda: {"x": float("nan")})
    assert [list(json.loads(line)) for line in path.read_text().splitlines()] == [["a"], ["b"]]
    assert Cells().of("a", lambda: {"x": 2.0}) == {"x": 2.0}
