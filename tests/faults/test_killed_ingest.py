"""An ingest that is killed at any instant: the store is as before or as after, and the next run completes it."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from fints.bars.store import BarStore
from tests.faults import child
from tests.faults.conftest import assert_same, contents, same

if TYPE_CHECKING:
    from pathlib import Path


def states(home: Path, nights, known: dict[str, dict]) -> str:
    """Say which of the states between two complete ones a store is in; fail if it is in none."""
    store = BarStore(home / "store")
    assert store.verify() == []
    found = contents(home / "store")
    assert not found["bars"].duplicated(["symbol", "interval", "end"]).any()
    written = [name for name, wanted in known.items() if same(found, wanted, "bars")]
    assert len(written) == 1
    return written[0] + "".join(f" {t}" for t in ("findings", "quarantine") if same(found, known["after"], t))


def kill_at_random(count: int, seed: int, nights, begin, finish, tmp_path) -> Counter[str]:
    """Kill ingests at instants spread over a whole run, one in each part of it; return the states they left."""
    known = {
        "before": contents(nights.homes[0] / "store"),
        "after": contents(nights.homes[1] / "store"),
    }
    assert not any(same(known["before"], known["after"], name) for name in known["before"])
    trial, rng = tmp_path / "trial", random.Random(seed)
    shutil.copytree(nights.homes[0], trial)
    began = time.monotonic()
    assert finish(child.run, trial, *nights.command(1)) == 0
    takes = time.monotonic() - began
    left: Counter[str] = Counter()
    for part in rng.sample(range(count), count):
        home = tmp_path / f"home-{part}"
        shutil.copytree(nights.homes[0], home)
        process = begin(child.run, home, *nights.command(1))
        time.sleep(takes * (part + rng.random()) / count)
        process.kill()
        process.join()
        left[states(home, nights, known)] += 1
        assert finish(child.run, home, *nights.command(1)) == 0, child.said(home)
        assert BarStore(home / "store").verify() == []
        assert_same(contents(home / "store"), known["after"])
        shutil.rmtree(home)
    return left


def test_killed_at_eight_instants_nothing_is_lost_or_doubled_and_the_next_run_completes(
    nights, begin, finish, tmp_path
) -> None:
    assert sum(kill_at_random(8, 8, nights, begin, finish, tmp_path).values()) == 8


def test_killed_while_the_store_is_made_the_next_run_completes(nights, begin, finish, tmp_path) -> None:
    rng = random.Random(9)
    wanted = contents(nights.homes[0] / "store")
    for _ in range(4):
        home = tmp_path / "home"
        process = begin(child.run, home, *nights.command(0))
        while not (home / "store").exists() and process.is_alive():
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.join()
        assert BarStore(home / "store").verify() == []
        assert finish(child.run, home, *nights.command(0)) == 0, child.said(home)
        assert_same(contents(home / "store"), wanted)
        shutil.rmtree(home)


@pytest.mark.soak
def test_killed_at_a_hundred_instants_nothing_is_lost_or_doubled_and_the_next_run_completes(
    nights, begin, finish, tmp_path
) -> None:
    left = kill_at_random(100, 11, nights, begin, finish, tmp_path)
    print(dict(left))
    assert sum(left.values()) == 100
    assert len(left) > 1
