import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fints
from fints.series.windows import Tape
from fints.transformer.start.blocks import beats, date_blocks


@pytest.fixture
def tape():
    ds = pd.date_range("2020-01-06", periods=60, unit="ns")
    frames = [
        pd.DataFrame({"unique_id": name, "ds": ds[first:], "y": 1.0, "exchange": "24/7", "interval": "1d"})
        for name, first in (("a", 0), ("b", 10))
    ]
    return Tape.from_panel(fints.series.validate_panel(pd.concat(frames, ignore_index=True)), (), ())


def test_windows_of_one_date_share_a_block_whatever_their_series(tape):
    origins = np.array([20, 25, 60 + 10, 60 + 15])
    blocks = date_blocks(tape, origins, h=5)
    assert tape.ds[20] == tape.ds[70]
    assert blocks.tolist() == [0, 1, 0, 1]


def test_a_block_holds_h_dates(tape):
    blocks = date_blocks(tape, np.arange(20, 50), h=10)
    assert np.bincount(blocks).tolist() == [10, 10, 10]


def test_blocks_without_a_window_are_not_counted(tape):
    assert date_blocks(tape, np.array([20, 45]), h=5).tolist() == [0, 1]


@given(st.lists(st.floats(0.0, 10.0), min_size=4, max_size=30))
def test_nothing_beats_itself(errors):
    errors = np.array(errors)
    assert not beats(errors, errors, np.arange(len(errors)))


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1.0))
def test_what_is_always_better_by_the_same_wins_and_its_rival_loses(seed, gain):
    errors = np.random.default_rng(seed).random(20)
    blocks = np.arange(20) // 2
    assert beats(errors, errors + gain, blocks)
    assert not beats(errors + gain, errors, blocks)


def test_noise_seldom_beats_noise_and_as_often_as_one_standard_error_says():
    rng = np.random.default_rng(0)
    blocks = np.arange(40) // 2
    wins = np.mean([beats(rng.random(40), rng.random(40), blocks) for _ in range(2000)])
    assert 0.13 < wins < 0.19  # one side of the normal distribution beyond one: 0.16


def test_many_windows_of_one_date_are_one_witness():
    errors, others = np.zeros(1000), np.r_[np.full(990, 1.0), np.full(10, -1.0)]
    alike = np.r_[np.zeros(990, int), np.arange(1, 11)]
    assert not beats(errors, others, alike)
    assert beats(errors, others, np.arange(1000))
