from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from fints.backtest import Entrant, JobStore, make_folds
from fints.backtest.job_store import code_version, panel_version
from fints.backtest.jobs import Job
from fints.baselines import Naive
from fints.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


def job(panel: pd.DataFrame, **changed: object) -> Job:
    # the first window has a session that was cancelled after its cutoff
    made = Job(
        Entrant(Naive(19), 3, "abc"), make_folds(panel, 19, 1, 1), (0,), diary=lambda _: {"a/b": {1: 0.1, 2: 0.3}}
    )
    return replace(made, **changed)


def test_what_is_read_is_what_was_written_to_the_last_bit(panel: pd.DataFrame, tmp_path: Path) -> None:
    store, outcome = JobStore(tmp_path / "jobs"), job(panel).run(panel)
    assert len(outcome.void)
    store.write("k", outcome)
    read = store.read("k")
    pd.testing.assert_frame_equal(read.rows, outcome.rows, check_exact=True, check_dtype=False)
    pd.testing.assert_frame_equal(read.void, outcome.void.reset_index(drop=True), check_exact=True, check_dtype=False)
    assert (read.seconds, read.curves) == (outcome.seconds, outcome.curves)
    assert [path.name for path in store.folder.iterdir()] == ["k.parquet"]


def test_what_was_begun_long_ago_and_never_finished_is_swept_and_outcomes_stay(
    panel: pd.DataFrame, tmp_path: Path
) -> None:
    store = JobStore(tmp_path)
    store.write("k", job(panel).run(panel))
    for name in ("old.lock", "new.lock", "k.lock", ".draft-old"):
        (tmp_path / name).touch()
    for name in ("old.states", "new.states"):
        (tmp_path / name / "member-0").mkdir(parents=True)
    for name in ("old.lock", ".draft-old", "old.states", "k.parquet"):
        os.utime(tmp_path / name, (1.5e9, 1.5e9))
    store.sweep()
    assert {path.name for path in tmp_path.iterdir()} == {"k.parquet", "new.lock", "new.states"}


def test_a_claim_leaves_the_states_of_what_failed_and_nothing_of_what_is_kept(
    panel: pd.DataFrame, tmp_path: Path
) -> None:
    store = JobStore(tmp_path / "jobs")
    with store.claimed("k") as states:
        states.mkdir()
        (store.folder / ".draft-k-1").touch()
    assert states.is_dir()
    with store.claimed("k") as states:
        store.write("k", job(panel).run(panel))
    assert [path.name for path in store.folder.iterdir()] == ["k.parquet"]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_half_a_file_and_a_changed_one_are_no_outcome(panel: pd.DataFrame, tmp_path: Path, share: float) -> None:
    store = JobStore(tmp_path)
    store.write("k", job(panel).run(panel))
    whole = store.path("k").read_bytes()
    store.path("k").write_bytes(whole[: int(share * len(whole))])
    assert store.read("k") is None
    assert not store.path("k").exists()
    place = len(whole) // 4
    store.path("k").write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
    assert store.read("k") is None
    assert store.read("another") is None


def test_a_folder_that_cannot_be_written_is_named(panel: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("a file stands in the way")
    with pytest.raises(StoreError, match=r"cannot be written to .*jobs"):
        JobStore(tmp_path / "jobs").write("k", job(panel).run(panel))
    with pytest.raises(StoreError, match=r"cannot be written to .*jobs"), JobStore(tmp_path / "jobs").claimed("k"):
        pass


def test_the_key_follows_everything_that_decides_the_outcome_and_nothing_else(panel: pd.DataFrame) -> None:
    one = job(panel)
    folds, model = one.folds, Naive(19)
    others = [
        replace(one, entrant=Entrant(model, 4, "abc")),
        replace(one, entrant=Entrant(model, 3, "abd")),
        replace(one, folds=make_folds(panel, 18, 1, 1)),
        replace(one, folds=replace(folds, embargo=1)),
        replace(one, folds=replace(folds, input_size=50)),
        replace(one, folds=replace(folds, warm_up=50)),
    ]
    keys = [each.key("d") for each in [one, *others]] + [one.key("e")]
    assert len(set(keys)) == len(keys)
    assert replace(one, diary=None, keep_model=True).key("d") == one.key("d")


def test_the_version_of_a_panel_follows_every_value_and_name(panel: pd.DataFrame) -> None:
    changed = panel.copy()
    changed.loc[7, "y"] += 1e-12
    versions = [panel_version(p) for p in (panel, changed, panel.rename(columns={"y": "z"}), panel.iloc[1:])]
    assert len(set(versions)) == 4
    assert panel_version(panel.copy()) == versions[0]
    assert code_version() == code_version()
