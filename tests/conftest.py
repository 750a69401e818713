"""What every test shares: quiet libraries, panels that are cheap to make."""

import json
import multiprocessing
import os
import shutil
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

os.environ.setdefault("GOMP_SPINCOUNT", "10000")

# `make soak` asks for many more examples of every law
EXAMPLES = int(os.environ.get("FINTS_EXAMPLES", "50"))
settings.register_profile("fints", max_examples=EXAMPLES, deadline=None, derandomize=True, print_blob=True)
settings.load_profile("fints")

LONG = tuple(
    f"tests/{name}/" for name in ("end_to_end", "faults", "postgresql", "browser", "fuzz", "docs", "pipelines")
)
"""Folders whose files take longest."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Let processes that share the files begin with the longest, so that none is left at work alone."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: not item.nodeid.startswith(LONG))


@pytest.fixture(scope="session")
def daily_panel() -> pd.DataFrame:
    """Two short daily series with a weekly rhythm and noise, on real sessions."""
    from fints.series import add_features, validate_panel
    from fints.sessions import get_calendar

    sessions = get_calendar("XNYS").sessions("2015-01-02", "2016-12-30")
    rng = np.random.default_rng(7)
    parts = []
    for name, level in (("AAA", 10.0), ("BBB", 20.0)):
        y = level + 0.5 * (sessions.day_of_week == 4) + 0.1 * rng.standard_normal(len(sessions))
        parts.append(pd.DataFrame({"unique_id": name, "ds": sessions, "y": y}))
    return add_features(validate_panel(pd.concat(parts, ignore_index=True)), ["monday", "friday", "early_close"])


@pytest.fixture(scope="session")
def forkserver() -> multiprocessing.context.ForkServerContext:
    """Make processes that have loaded the libraries already.

    A process of tests has one fork server, which loads what the first test to use it asks for: so all ask here.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.child", "tests.bars.killed", "mlflow", "fints.tracking"])
    return context


@pytest.fixture(scope="session")
def prepared_database(tmp_path_factory) -> Path:
    """An empty MLflow database: making one takes seconds, copying it does not."""
    from fints.tracking import Tracking

    tracking = Tracking(tmp_path_factory.mktemp("mlflow"))
    tracking.prepare()
    return tracking.database


TINY_MODELS = (
    "[{kind: transformer, encoding: {kind: cycle, learn: true}},"
    " {kind: transformer, encoding: rope, training: {max_steps: 3}}, har, naive]"
)
TINY = (
    *("h=6", "trained_h=3", "input_size=40", "n_windows=16", "periods.detect=false", "workers.count=1"),
    "network={dim: 16, n_heads: 1, n_layers: 1}",
    "training={max_steps: 4, batch_size: 8, validate_every: 2, validation_windows: 16}",
    f"models={TINY_MODELS}",
)
"""A backtest that is over in seconds; what it finds is worth nothing."""


TINY_SEARCH = (
    *("h=6", "trained_h=3", "input_size=40", "trials=5", "workers=1", "periods.detect=false", "periods.priors=[5, 20]"),
    "network={dim: 16, n_heads: 1, n_layers: 1, linear_skip: false, covariates: false, companions: false}",
    "training={max_steps: 30, batch_size: 8, validate_every: 5, validation_windows: 16}",
    *("training.learning_rate=0.02", "training.average=0.5"),
    "folds={n_folds: 2, block: 5, step_size: 4, confirm_folds: 3, test_windows: 15, train_size: 300}",
    'symbols=["^GSPC"]',
)
"""A search that is over in seconds; what it finds is worth nothing."""

HASTY_SEARCH = (
    *(setting for setting in TINY_SEARCH if not setting.startswith(("folds", "trials"))),
    "folds={n_folds: 1, block: 1, step_size: 4, confirm_folds: 1, test_windows: 1, train_size: 300}",
    "trials=2",
)
"""One whose outcome does not even matter."""


@pytest.fixture(scope="session")
def tiny_tuning(tmp_path_factory, prepared_database) -> SimpleNamespace:
    """A real search, logged: its ``home`` and what it ``found``, as for machines. Leave it as it is."""
    home = _home(tmp_path_factory, "tuning", prepared_database)
    found = _run(
        ["tune", *(f"--set={s}" for s in TINY_SEARCH)], home, tmp_path_factory.mktemp("result") / "result.json"
    )
    return SimpleNamespace(home=home, run=found["mlflow_run"], found=found)


@pytest.fixture(scope="session")
def tiny_backtest(tmp_path_factory, prepared_database) -> SimpleNamespace:
    """A real backtest of four models, logged: its ``home``, and the id ``run`` of its MLflow run. Leave it as it is."""
    home = _home(tmp_path_factory, "backtest", prepared_database)
    with pytest.MonkeyPatch.context() as patch:
        shorten_sample(patch)
        settings = [f"--set={s}" for s in TINY]
        found = _run(["backtest", *settings], home, tmp_path_factory.mktemp("result") / "result.json")
    return SimpleNamespace(home=home, run=found["mlflow_run"])


def shorten_sample(patch):
    """Let the sample begin in 2014: five years are enough where it is no matter how good a model is."""
    from fints.bars.sources.sample import SampleSource

    fetch = SampleSource.fetch

    def late(self, request):
        delivery = fetch(self, request)
        bars = delivery.bars[delivery.bars["session"] >= "2014-01-01"].reset_index(drop=True)
        return replace(delivery, bars=bars)

    patch.setattr(SampleSource, "fetch", late)


def _home(folders, name, prepared_database):
    home = folders.mktemp(name) / "home"
    home.mkdir()
    shutil.copy(prepared_database, home / "mlflow.db")
    return home


def _run(arguments, home, result):
    """Run the command line in this process; returns its result for machines."""
    from pipelines.cli import main

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("FINTS_HOME", str(home))
        patch.setattr(sys, "argv", ["fints", *arguments, "--json", str(result)])
        with pytest.raises(SystemExit) as left:
            main()
    assert not left.value.code
    return json.loads(result.read_text())
