from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from shutil import which
from threading import Event, Semaphore
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fints.backtest import Entrant, Execution, JobStore, WalkForward, Workers, make_folds
from fints.baselines import HAR, Naive, SeasonalNaive
from fints.errors import ConfigError, SeriesError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from fints.backtest import CrossValidation
    from fints.backtest.pace import Standing

FITTED: list[pd.Timestamp] = []


class Counted(Naive):
    """Writes down where it was fitted, in this process."""

    def fit(self, panel: pd.DataFrame) -> Self:
        FITTED.append(panel["ds"].max())
        return super().fit(panel)


class KilledError(Exception):
    """Stands for whatever ends a run in its midst."""


class Mortal(Naive):
    """Takes its process with it."""

    def fit(self, panel: pd.DataFrame) -> Self:
        os._exit(9)


class Knowing(Naive):
    """Fails where it is fitted in a process that knows MLflow, and says with how many threads."""

    def fit(self, panel: pd.DataFrame) -> Self:
        import sys

        from threadpoolctl import threadpool_info

        threads = {pool["num_threads"] for pool in threadpool_info()}
        raise SeriesError(f"mlflow: {'mlflow' in sys.modules}, threads: {threads}")


def entrants() -> list[Entrant]:
    return [Entrant(model(5), 0, model.__name__) for model in (Counted, HAR, SeasonalNaive)]


def compared(panel: pd.DataFrame, how: Execution | None = None, models: list[Entrant] | None = None) -> CrossValidation:
    folds = make_folds(panel, 5, 6, 5)
    return WalkForward(folds, refit=2).run(panel, models or entrants(), how=how)


def same(one: CrossValidation, other: CrossValidation) -> None:
    for table in ("frame", "void"):
        pd.testing.assert_frame_equal(getattr(one, table), getattr(other, table), check_exact=True)
    pd.testing.assert_frame_equal(one.leaderboard(), other.leaderboard(), check_exact=True)


@pytest.fixture(autouse=True)
def _forget() -> None:
    FITTED.clear()


def test_killed_anywhere_and_asked_for_again_the_outcome_is_the_same_and_no_job_is_run_twice(
    panel: pd.DataFrame, tmp_path: Path
) -> None:
    undisturbed = compared(panel, Execution(store=JobStore(tmp_path / "whole")))
    jobs = len(undisturbed.jobs)
    for number, kill in enumerate(np.random.default_rng(5).integers(0, jobs, 10)):
        FITTED.clear()
        store = JobStore(tmp_path / str(number))

        def dies(standing: Standing, after: int = int(kill)) -> None:
            if standing.done > after:
                raise KilledError

        with pytest.raises(KilledError):
            compared(panel, Execution(store=store, watch=dies))
        resumed = compared(panel, Execution(store=store))
        same(undisturbed, resumed)
        assert resumed.jobs["reused"].sum() == kill + 1
        assert sorted(set(FITTED)) == FITTED
        assert len(FITTED) == 3


def test_only_what_changed_is_run_again(panel: pd.DataFrame, tmp_path: Path) -> None:
    store = JobStore(tmp_path)
    first = compared(panel, Execution(store=store))
    more = compared(panel, Execution(store=store), [*entrants(), Entrant(Naive(5), 1, "naive")])
    assert more.jobs["reused"].tolist() == [True] * len(first.jobs) + [False] * 3
    other = panel.assign(y=panel["y"] + 1e-9)
    assert compared(other, Execution(store=store)).jobs["reused"].sum() == 0


def test_a_failed_job_is_tried_again_and_one_without_a_digest_too(panel: pd.DataFrame, tmp_path: Path) -> None:
    models = [Entrant(Knowing(5), 0, "k"), Entrant(HAR(5))]
    for _ in range(2):
        cv = compared(panel, Execution(store=JobStore(tmp_path)), models)
        assert cv.jobs["reused"].sum() == 0
    assert list(cv.failures) == ["Naive"]


def test_another_version_of_the_code_finds_nothing_and_what_it_left_stays(
    panel: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(tmp_path)
    jobs = len(compared(panel, Execution(store=store)).jobs)
    monkeypatch.setattr("fints.backtest.execution.code_version", lambda: "another")
    for reused in (0, jobs):
        assert compared(panel, Execution(store=store)).jobs["reused"].sum() == reused
    monkeypatch.undo()
    assert compared(panel, Execution(store=store)).jobs["reused"].sum() == jobs


class Waiting(Naive):
    """Is being fitted until it is told to go on."""

    begun, go_on = Event(), Event()

    def fit(self, panel: pd.DataFrame) -> Self:
        FITTED.append(panel["ds"].max())
        self.begun.set()
        assert self.go_on.wait(60)
        return super().fit(panel)


def test_two_runs_at_once_on_one_store_share_their_jobs(
    panel: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [Entrant(Waiting(5), 0, "w")]
    looked = Semaphore(0)
    read = JobStore.read
    monkeypatch.setattr(JobStore, "read", lambda *args: (looked.release(), read(*args))[1])
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(compared, panel, Execution(store=JobStore(tmp_path)), models)
        assert Waiting.begun.wait(60)
        other = pool.submit(compared, panel, Execution(store=JobStore(tmp_path)), models)
        for _ in range(3 + 1 + 3):  # the first looks at every job, and at the one that it claims; so does the second
            assert looked.acquire(timeout=60)
        Waiting.go_on.set()
        first, second = one.result(), other.result()
    same(first, second)
    assert sorted(set(FITTED)) == sorted(FITTED)
    assert sorted(pd.concat([first.jobs, second.jobs])["reused"]) == [False] * 3 + [True] * 3
    assert {path.suffix for path in tmp_path.iterdir()} == {".parquet"}


class Stopped(BaseException):
    """Stands for a kill in the midst of a training."""


def test_a_training_that_was_killed_goes_on_from_its_last_state(
    panel: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fints.transformer import CycleTransformer, NetworkConfig, TrainingConfig
    from fints.transformer.training import Checkpoints, Learner

    settings = TrainingConfig(max_steps=8, batch_size=8, validate_every=2, validation_windows=8)
    model = CycleTransformer(5, 20, "rope").with_settings(NetworkConfig(dim=8, n_heads=1, n_layers=1), settings)
    models, steps, write, step = [Entrant(model, 0, "t")], [], Checkpoints.write, Learner.step

    def killed(self: Checkpoints, after: int, *rest: object) -> None:
        write(self, after, *rest)
        if after == 4:
            raise Stopped

    walk = WalkForward(make_folds(panel, 5, 2, 5))
    undisturbed = walk.run(panel, models, how=Execution(store=JobStore(tmp_path / "whole")))
    store = JobStore(tmp_path / "jobs")
    with monkeypatch.context() as during:
        during.setattr(Checkpoints, "write", killed)
        with pytest.raises(Stopped):
            walk.run(panel, models, how=Execution(store=store))
    assert len(list(store.folder.glob("*.states"))) == 1
    monkeypatch.setattr(Learner, "step", lambda *args: (steps.append(1), step(*args))[1])
    same(undisturbed, walk.run(panel, models, how=Execution(store=store)))
    assert len(steps) == 4
    assert [path.suffix for path in store.folder.iterdir()] == [".parquet"]


def test_the_standing_counts_every_job_and_ends_with_nothing_left(panel: pd.DataFrame, tmp_path: Path) -> None:
    seen: list[Standing] = []
    compared(panel, Execution(store=JobStore(tmp_path), watch=seen.append))
    assert [(s.done, s.total, s.reused) for s in seen] == [(n, 9, 0) for n in range(1, 10)]
    assert (seen[-1].seconds, seen[-1].least) == (0.0, False)
    seen.clear()
    compared(panel, Execution(store=JobStore(tmp_path), watch=seen.append))
    assert [s.reused for s in seen] == list(range(1, 10))


def test_two_workers_find_what_one_finds_and_a_job_that_kills_its_process_is_reported(
    panel: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    alone = compared(panel, Execution())
    same(alone, compared(panel, Execution(Workers(2))))
    models = [Entrant(Knowing(5)), *entrants()[1:]]
    with caplog.at_level(logging.ERROR):
        knowing = compared(panel, Execution(Workers(2)), models)
        mortal = compared(panel, Execution(Workers(2)), [Entrant(Mortal(5)), *entrants()[1:]])
    assert knowing.failures["Naive"].startswith("SeriesError: mlflow: False, threads: {1}")
    assert mortal.failures["Naive"].startswith("its process was killed")
    assert set(mortal.frame["model"]) == {"HAR", "SeasonalNaive"}
    expected = alone.frame[alone.frame["model"] != "Naive"].reset_index(drop=True)
    pd.testing.assert_frame_equal(mortal.frame, expected, check_exact=True)


@pytest.mark.filterwarnings("ignore")  # the clusters and their libraries warn about themselves
@pytest.mark.parametrize(
    ("backend", "package"),
    [
        ("ray", "ray"),
        ("dask", "distributed"),
        pytest.param("spark", "joblibspark", marks=pytest.mark.skipif(which("java") is None, reason="no Java runtime")),
    ],
)
def test_a_cluster_finds_what_one_process_finds(panel: pd.DataFrame, backend: str, package: str) -> None:
    pytest.importorskip(package)
    models = [Entrant(HAR(5)), Entrant(SeasonalNaive(5))]
    same(compared(panel, Execution(), models), compared(panel, Execution(Workers(2, backend)), models))


def test_a_backend_that_is_not_installed_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "joblibspark", None)
    with pytest.raises(ConfigError, match=r"'spark' needs the package joblibspark.*pip install 'fints\[spark\]'"):
        Workers(2, "spark")
    with pytest.raises(UnknownNameError, match="Did you mean 'loky'"):
        Workers(2, "lokey")
    with pytest.raises(ConfigError, match="the least"):
        Workers(0)
