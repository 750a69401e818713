import json

import numpy as np
import pytest

from fints.transformer.start import flat_start, from_plain, to_plain
from tests.transformer.start.conftest import EFFECTS, H, L, autoregression, start_of, tape_of, weekly


@pytest.fixture(scope="module")
def tape():
    past = np.random.default_rng(0).normal(size=(2, 400, 1))
    return tape_of(5.0 + autoregression(400, 2) + weekly(400) @ EFFECTS, weekly(400), past, hours=(9.5, 10.5))


@pytest.fixture(scope="module")
def made(tape):
    start = start_of(tape)
    assert start.own
    return start


def through_json(start):
    return from_plain(json.loads(json.dumps(to_plain(start), allow_nan=False)))


def test_a_start_comes_back_to_the_bit(made, tape):
    again, cut = through_json(made), tape.cut(tape.origins(L, H), L, H)
    assert to_plain(again) == to_plain(made)
    for name in ("adjusted", "location", "unit"):
        assert np.array_equal(getattr(again.locate(cut), name), getattr(made.locate(cut), name))


@pytest.mark.parametrize("anchor", ["level", "zero"])
def test_a_flat_start_comes_back_too(anchor, tape):
    flat = flat_start(2, 1, L, anchor)
    assert to_plain(through_json(flat)) == to_plain(flat)
    assert np.isinf(through_json(flat).ridge)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"anchor": "sand"}, "sand"),
        ({"shared": {"calendar": [1.0], "weights": [[1.0, 2.0]]}}, "shape"),
        ({"shared": {"calendar": [1.0], "weights": [1.0, 2.0]}}, "shape"),
        ({"shared": {"calendar": [float("nan")], "weights": [[1.0, 2.0, 3.0, 4.0]]}}, "finite"),
        ({"units": {"A": ["much", 1.0]}}, "much"),
    ],
)
def test_what_is_no_start_is_refused(made, change, says):
    with pytest.raises(ValueError, match=says):
        from_plain({**to_plain(made), **change})


@pytest.mark.parametrize("key", ["anchor", "ridge", "phase", "shared", "own", "units"])
def test_a_start_without_a_part_is_refused(made, key):
    plain = to_plain(made)
    del plain[key]
    with pytest.raises(KeyError, match=key):
        from_plain(plain)
