"""Runs in MLflow: the only module that imports it."""

from __future__ import annotations

import logging
import math
import os
import socket
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pandas as pd
    from mlflow import MlflowClient

_BATCH = {"metrics": 1000, "params": 100}
_PARAM_LENGTH = 6000
_CREATE_SECONDS = 120

CLIENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ASYNC_LOGGING": "false",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "15",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
}
"""Environment of a client, where it says nothing else: MLflow waits minutes for a server that is not there."""

SERVER = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}


@dataclass(frozen=True, slots=True)
class Run:
    """One MLflow run that is open; implements `fints.forecast.Tracker`.

    Parameters
    ----------
    client : MlflowClient
    run_id, experiment_id : str
    """

    client: MlflowClient
    run_id: str
    experiment_id: str

    def log_params(self, params: Mapping[str, object]) -> None:
        """Record flat settings."""
        from mlflow.entities import Param

        entries = [Param(key, str(value)[:_PARAM_LENGTH]) for key, value in params.items()]
        for start in range(0, len(entries), _BATCH["params"]):
            self.client.log_batch(self.run_id, params=entries[start : start + _BATCH["params"]])

    def log_metrics(self, metrics: Mapping[str, float], step: int = 0) -> None:
        """Record figures at a step; those that are not finite become tags, since MLflow would drop or bend them."""
        self.log_curves({key: {step: value} for key, value in metrics.items()})

    def log_curves(self, curves: Mapping[str, Mapping[int, float]]) -> None:
        """Record whole curves, value by step, in few calls."""
        from mlflow.entities import Metric, RunTag

        now = int(time.time() * 1000)
        points = [(key, step, float(value)) for key, curve in curves.items() for step, value in curve.items()]
        entries = [Metric(key, value, now, step) for key, step, value in points if math.isfinite(value)]
        for start in range(0, len(entries), _BATCH["metrics"]):
            self.client.log_batch(self.run_id, metrics=entries[start : start + _BATCH["metrics"]])
        odd = [RunTag(f"fints.not_finite.{key}", str(value)) for key, _, value in points if not math.isfinite(value)]
        if odd:
            self.client.log_batch(self.run_id, tags=odd[:100])

    def log_text(self, text: str, file: str) -> None:
        """Store a text as an artifact."""
        self.client.log_text(self.run_id, text, file)

    def log_table(self, table: pd.DataFrame, file: str) -> None:
        """Store a table as an artifact that MLflow shows (JSON)."""
        plain = table.astype({c: str for c in table.columns if table[c].dtype.kind in "mMO"})
        self.client.log_table(self.run_id, plain, file)

    def describe(self, markdown: str) -> None:
        """Set the description that stands at the top of the run's page."""
        self.client.set_tag(self.run_id, "mlflow.note.content", markdown)


class Tracking:
    """MLflow runs under a home.

    Parameters
    ----------
    home : Path
        Folder of ``mlflow.db`` and ``artifacts/``.
    uri : str, optional
        Of another tracking store; ``home``'s database by default.
    """

    def __init__(self, home: Path, uri: str | None = None) -> None:
        self.home = home
        self.database = home / "mlflow.db"
        self.artifacts = home / "artifacts"
        self.uri = uri or f"sqlite:///{self.database}"
        self.local = uri is None

    def prepare(self) -> None:
        """Create the database once, however many processes ask for it at the same time.

        Raises
        ------
        ConfigError
            If another process does not finish creating it.
        """
        if not self.local or self._ready():
            return
        from filelock import FileLock, Timeout

        self.home.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.home / "mlflow.db.lock", timeout=_CREATE_SECONDS):
                if not self._ready():
                    self._create()
        except Timeout as error:
            raise ConfigError(
                f"another process has been creating {self.database} for {_CREATE_SECONDS} s; end it and try again"
            ) from error

    @contextmanager
    def run(self, experiment: str, name: str, tags: Mapping[str, str]) -> Iterator[Run]:
        """Open a run, and leave it FINISHED, FAILED, or KILLED when interrupted.

        Parameters
        ----------
        experiment : str
        name : str
        tags : mapping of str to str
        """
        self.prepare()
        client = self._client()
        experiment_id = self._experiment(client, experiment)
        standard = {"fints.pid": str(os.getpid()), "fints.host": socket.gethostname(), "mlflow.source.name": "fints"}
        info = client.create_run(experiment_id, run_name=name, tags={**standard, **tags}).info
        try:
            yield Run(client, info.run_id, experiment_id)
        except BaseException as error:
            status = "FAILED" if isinstance(error, Exception) else "KILLED"  # Ctrl-C, SystemExit of a signal handler
            with suppress(Exception):  # a server that is gone must not hide the error
                client.set_terminated(info.run_id, status)
            raise
        client.set_terminated(info.run_id, "FINISHED")

    def sweep(self, experiment: str) -> int:
        """Mark runs of this machine whose process is gone as KILLED; return how many there were."""
        from mlflow.entities import ViewType

        self.prepare()
        client = self._client()
        found = client.search_runs([self._experiment(client, experiment)], "status = 'RUNNING'", ViewType.ACTIVE_ONLY)
        host = socket.gethostname()
        dead = [r for r in found if r.data.tags.get("fints.host") == host and not _alive(r.data.tags.get("fints.pid"))]
        for run in dead:
            client.set_terminated(run.info.run_id, "KILLED")
        return len(dead)

    def server_command(self, port: int) -> list[str]:
        """Command line of the MLflow server over this store, on this machine only."""
        self.prepare()
        return [
            *(sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
            *("--backend-store-uri", self.uri, "--default-artifact-root", str(self.artifacts)),
        ]

    def links(self, port: int) -> dict[str, str]:
        """Address on that server of the runs of every experiment of fints, by its name, the latest first."""
        ours, latest = "name LIKE 'fints/%'", ["last_update_time DESC"]
        found = self._client().search_experiments(filter_string=ours, order_by=latest)
        place = f"http://127.0.0.1:{port}/#/experiments/{{}}/runs?workflowType=machine_learning"
        return {experiment.name: place.format(experiment.experiment_id) for experiment in found}

    def _client(self) -> MlflowClient:
        os.environ.update({key: os.environ.get(key, value) for key, value in CLIENT.items()})
        from mlflow import MlflowClient

        for name in ("mlflow.store.db.utils", "alembic"):
            logging.getLogger(name).setLevel(logging.WARNING)

        return MlflowClient(tracking_uri=self.uri)

    def _experiment(self, client: MlflowClient, name: str) -> str:
        found = client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        where = {"artifact_location": (self.artifacts / name.replace("/", "-")).as_uri()} if self.local else {}
        return str(client.create_experiment(name, **where))

    def _ready(self) -> bool:
        return self.database.exists() and self.database.stat().st_size > 0

    def _create(self) -> None:
        """Build the schema beside its place and move it there, so that a killed process leaves nothing half-made."""
        import sqlite3

        draft = self.database.with_suffix(".draft")
        draft.unlink(missing_ok=True)
        Tracking(self.home, f"sqlite:///{draft}")._client().search_experiments(max_results=1)  # noqa: SLF001
        with sqlite3.connect(draft) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
        connection.close()
        draft.replace(self.database)


def require_free(port: int) -> None:
    """Refuse a port of this machine on which something listens already.

    Raises
    ------
    ConfigError
        If it does.
    """
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise ConfigError(f"something answers on port {port} already; stop it, or choose another --port")


def _alive(pid: str | None) -> bool:
    if pid is None or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's process: it exists
        return True
    return True


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Flatten nested settings into dotted keys, for `Run.log_params`."""
    out: dict[str, object] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            out |= flat(value, f"{prefix}{key}.")
        else:
            out[f"{prefix}{key}"] = value
    return out
