"""A night that is killed at any instant: the store is sound, and the next run leaves what an undisturbed one leaves."""

from __future__ import annotations

import random
import shutil
import time

import pandas as pd
import pytest

from fints.bars.store import BarStore
from tests.faults import child
from tests.faults.whole import MADE, NIGHTS, Whole, assert_same, left


def kill_at_random(count: int, seed: int, whole: Whole, begin, finish, tmp_path) -> None:
    """Kill nights at instants spread over a whole one: the first in an empty home, and the second after it."""
    rng = random.Random(seed)
    wanted = {number: left(whole.homes[number + 1]) for number in (0, 1)}
    for part in rng.sample(range(count), count):
        number, home = part % 2, tmp_path / f"home-{part}"
        shutil.copytree(whole.homes[number], home)
        process = begin(child.run, home, *whole.command(number))
        time.sleep(whole.seconds[number] * (part + rng.random()) / count)
        process.kill()
        process.join()
        store = BarStore(home / "store")
        assert store.verify() == []
        if number:
            # what the first night left is there still, and readable by anyone
            kept = store.read_forecasts(as_of=NIGHTS[0]).drop(columns=MADE)
            pd.testing.assert_frame_equal(kept, wanted[0]["forecasts"], check_exact=True)
        assert finish(child.run, home, *whole.command(number)) == 0, child.said(home)
        assert_same(left(home), wanted[number])
        shutil.rmtree(home)


def test_killed_at_twelve_instants_of_a_night_the_next_run_leaves_what_an_undisturbed_one_does(
    whole, begin, finish, tmp_path
) -> None:
    kill_at_random(12, 5, whole, begin, finish, tmp_path)


@pytest.mark.soak
def test_killed_at_two_hundred_instants_of_a_night_the_next_run_leaves_what_an_undisturbed_one_does(
    whole, begin, finish, tmp_path
) -> None:
    kill_at_random(200, 7, whole, begin, finish, tmp_path)
