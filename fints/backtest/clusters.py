"""Clusters that jobs are spread over: found at an address, or started on this machine, and ended with the work."""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from fints.errors import ConfigError, FintsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

Cluster = Literal["ray", "dask", "spark"]

NEEDS: dict[Cluster, tuple[str, ...]] = {
    "ray": ("ray",),
    "dask": ("dask", "distributed"),
    "spark": ("joblibspark", "pyspark"),
}
"""Packages of each, which the extra of that name installs."""

_ANSWER_SECONDS = 10.0
_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
_TOLD = 400
"""Characters of another program's error that are passed on: a Java stack takes pages."""


def require_packages(cluster: Cluster) -> None:
    """Refuse a cluster whose packages are not installed.

    Raises
    ------
    ConfigError
        If one is missing, with the extra that installs it.
    """
    for module in NEEDS[cluster]:
        _require(module, cluster)


@contextmanager
def connected(cluster: Cluster, count: int, address: str | None) -> Iterator[None]:
    """Make a cluster the backend that joblib uses.

    Parameters
    ----------
    cluster : {"ray", "dask", "spark"}
    count : int
        Jobs at a time.
    address : str, optional
        Of one that runs; by default one is started on this machine, and ended. Spark looks for its own settings first.

    Raises
    ------
    ConfigError
        If nothing answers at the address, or none can be started.
    """
    from joblib import parallel_config

    if address is not None:
        _require_answer(cluster, address)
    with {"ray": _ray, "dask": _dask, "spark": _spark}[cluster](count, address), parallel_config(cluster, n_jobs=count):
        yield


def lost(cluster: str, error: BaseException) -> FintsError:
    """Return the error of a cluster that did not do its work.

    Parameters
    ----------
    cluster : str
    error : BaseException
        What it raised; the first of its chain is told, since those after it come from clearing up.
    """
    while error.__context__ is not None:
        error = error.__context__
    return FintsError(
        f"the {cluster} cluster did not run the jobs: {_in_short(error)}. Look at its logs, or take the processes of "
        "this machine with workers.backend=loky; ask again, and only what is missing is run"
    )


@contextmanager
def _ray(count: int, address: str | None) -> Iterator[None]:
    ray = _require("ray", "ray")
    from ray.util.joblib import register_ray

    ours = not ray.is_initialized()
    if ours:
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        alone: dict[str, Any] = {} if address else {"num_cpus": count, "include_dashboard": False}
        with _starting("ray"):
            ray.init(address=address, log_to_driver=False, logging_level="warning", **alone)
    # of every pool that joblib makes, it says that it does without an argument that joblib always gives
    logging.getLogger("ray.util.multiprocessing.pool").setLevel(logging.ERROR)
    register_ray()
    try:
        yield
    finally:
        if ours:
            ray.shutdown()


@contextmanager
def _dask(count: int, address: str | None) -> Iterator[None]:
    distributed = _require("distributed", "dask")
    alone: dict[str, Any] = {"n_workers": count, "threads_per_worker": 1, "dashboard_address": None}
    with _starting("dask"):
        client = distributed.Client(address) if address else distributed.Client(**alone)
    with client:
        yield


@contextmanager
def _spark(_count: int, address: str | None) -> Iterator[None]:
    session = _require("pyspark.sql", "spark").SparkSession
    ours = session.getActiveSession() is None
    if ours:
        builder = session.builder.appName("fints")
        for key, value in _QUIET.items():
            builder = builder.config(key, value)
        with _starting("spark"):
            active = (builder.master(address) if address else builder).getOrCreate()
        context = active.sparkContext
        if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
            context.pythonExec = sys.executable  # Spark takes the first python3 of the path, which may lack fints
    else:
        active = session.getActiveSession()
    _require("joblibspark", "spark").register_spark()
    try:
        yield
    finally:
        if ours:
            active.stop()


@contextmanager
def _starting(cluster: Cluster) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        java = "; Spark needs a Java runtime: install one, or set JAVA_HOME" if cluster == "spark" else ""
        raise ConfigError(f"no {cluster} cluster could be reached or started: {_in_short(error)}{java}") from error


def _require_answer(cluster: Cluster, address: str) -> None:
    """Refuse an address at which nothing listens: asked in vain, Ray keeps asking for many minutes.

    Addresses without host and port (``auto``, ``local[4]``, ``yarn``) are left to the cluster's own client.
    """
    found = re.fullmatch(r"(?:(?:\w+)://)?(?P<host>[\w.-]+|\[[0-9a-fA-F:]+\]):(?P<port>\d+)/?", address)
    if found is None:
        return
    try:
        with socket.create_connection((found["host"].strip("[]"), int(found["port"])), _ANSWER_SECONDS):
            pass
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"no {cluster} cluster answers at {address}: {error}; start it, or correct workers.address, or leave it "
            "out and one is started on this machine"
        ) from error


def _in_short(error: BaseException) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said if len(said) <= _TOLD else said[:_TOLD] + ' …'}"


def _require(module: str, extra: str) -> ModuleType:
    """Import a package that an extra installs."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"the backend {extra!r} needs the package {module}, which is not installed: pip install 'fints[{extra}]'"
        ) from error
