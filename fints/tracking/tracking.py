"""MLflow runs under a home, or in a store elsewhere."""

from __future__ import annotations

import logging
import os
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fints.tracking.database import OURS, Database
from fints.tracking.links import Links
from fints.tracking.process import alive
from fints.tracking.redaction import redacted, traced
from fints.tracking.run import Run
from fints.tracking.server import server_command, server_environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mlflow import MlflowClient
    from mlflow.entities import Experiment
    from mlflow.entities import Run as Logged

    from fints.tracking.views import SavedView

LOG = logging.getLogger(__name__)

CLIENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ASYNC_LOGGING": "false",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "15",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_ALLOW_PICKLE_DESERIALIZATION": "false",
}
"""Environment of a client, where it says nothing else: MLflow waits minutes for a server that is not there, and would
unpickle models, and draw a bar for each of them across our progress."""


DATABASES = ("sqlite:", "postgresql", "mysql", "mssql")
"""Beginnings of URIs of databases that MLflow opens itself."""


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
        self.store = Database(home)
        self.database = self.store.file
        self.artifacts = self.store.artifacts
        self.uri = uri or self.store.uri
        self.local = uri is None
        self.remote = self.uri.startswith(("http:", "https:"))

    def prepare(self) -> None:
        """Create the database once, however many processes ask for it at the same time.

        Raises
        ------
        ConfigError
            If another process does not finish creating it, or its home was moved and not mended.
        """
        if not self.local:
            return
        if not self.store.ready():
            self.store.create(lambda uri: _client(uri).search_experiments(max_results=1))
        self.store.require_in_place()

    def warm_up(self) -> None:
        """Do what is slow once in a process, before it is needed: load MLflow, and create the database."""
        self.prepare()
        self._client()

    @contextmanager
    def run(self, experiment: str, name: str, tags: Mapping[str, str], run_id: str | None = None) -> Iterator[Run]:
        """Open a run, and leave it FINISHED, FAILED, or KILLED when interrupted.

        Parameters
        ----------
        experiment : str
        name : str
        tags : mapping of str to str
            MLflow's own among them: ``mlflow.parentRunId``, ``mlflow.note.content``, ``mlflow.runColor``.
        run_id : str, optional
            Of a run that is opened again; a new one by default.
        """
        self.prepare()
        client = self._client()
        experiment_id = self._experiment(client, experiment)
        standard = {"fints.pid": str(os.getpid()), "fints.host": socket.gethostname(), "mlflow.source.name": "fints"}
        if run_id is None:
            run_id = str(client.create_run(experiment_id, run_name=name, tags={**standard, **tags}).info.run_id)
            opened = Run(client, run_id, experiment_id)
        else:
            client.update_run(run_id, status="RUNNING")
            opened = Run(client, run_id, experiment_id)
            opened.log(tags={**standard, **tags})
        try:
            yield opened
        except BaseException as error:
            status = "FAILED" if isinstance(error, Exception) else "KILLED"  # Ctrl-C, SystemExit of a signal handler
            if not (self.remote and _unanswered(error)):  # nobody would take note, and asking takes half a minute
                with suppress(Exception):  # a store that is gone must not hide the error
                    client.set_terminated(run_id, status)
            raise
        client.set_terminated(run_id, opened.status)

    def find(self, experiment: str, tags: Mapping[str, str]) -> list[Logged]:
        """Return the runs of an experiment that have some tags, the newest first.

        Parameters
        ----------
        experiment : str
        tags : mapping of str to str
        """
        self.prepare()
        client = self._client()
        search = " and ".join(f"tags.`{key}` = '{value}'" for key, value in tags.items())
        place, found, token = self._experiment(client, experiment), [], None
        while True:
            page = client.search_runs([place], search, order_by=["start_time DESC"], page_token=token)
            found += page
            token = page.token
            if not token:
                return found

    def sweep(self, experiment: str) -> int:
        """Mark runs of this machine whose process is gone as KILLED; return how many there were."""
        from mlflow.entities import ViewType

        self.prepare()
        client = self._client()
        found = client.search_runs([self._experiment(client, experiment)], "status = 'RUNNING'", ViewType.ACTIVE_ONLY)
        host = socket.gethostname()
        dead = [run for run in found if run.data.tags.get("fints.host") == host and not _at_work(run)]
        for run in dead:
            client.set_terminated(run.info.run_id, "KILLED")
        return len(dead)

    def save_view(self, experiment_id: str, view: SavedView) -> bool:
        """Keep a view of the runs; return whether this MLflow can show it.

        Its form is MLflow's own and documented nowhere: where it may be another one, nothing is kept.
        """
        from fints.tracking.views import supported

        if not supported():
            return False
        try:
            self._client().set_experiment_tag(experiment_id, view.tag, view.encoded())
        except Exception as error:  # noqa: BLE001 — the runs are there without it, too
            LOG.warning("the view %r could not be saved in MLflow: %s", view.name, redacted(error))
            LOG.debug("the view could not be saved: %s", traced(error))
            return False
        return True

    def latest(self, kind: str) -> Logged | None:
        """Return the newest finished run of a kind, over all experiments of fints; None if there is none."""
        client = self._client()
        ours = [found.experiment_id for found in self._experiments(client)]
        search = f"tags.`fints.kind` = '{kind}' and status = 'FINISHED'"
        found = client.search_runs(ours, search, max_results=1, order_by=["start_time DESC"]) if ours else []
        return found[0] if found else None

    def server_command(self, port: int) -> list[str]:
        """Command line of the MLflow server over this store, on this machine only."""
        self.prepare()
        return server_command(self.artifacts, port)

    def server_environment(self) -> Mapping[str, str]:
        """Return what the environment of that server has to hold, beside that of this process."""
        return server_environment(self.uri)

    def links(self, port: int) -> dict[str, str]:
        """Return the address of the runs of every experiment on the server of this machine; see `places`."""
        return self.places(Links.on(port))

    def places(self, address: Links) -> dict[str, str]:
        """Return the address of the runs of every experiment of fints, by its name, the latest first."""
        return {found.name: address.runs(found.experiment_id) for found in self._experiments(self._client())}

    def _experiments(self, client: MlflowClient) -> list[Experiment]:
        ours, latest = f"name LIKE '{OURS}%'", ["last_update_time DESC"]
        return list(client.search_experiments(filter_string=ours, order_by=latest))

    def client(self) -> MlflowClient:
        """Return MLflow's own client of this store."""
        return _client(self.uri)

    def _client(self) -> MlflowClient:
        return self.client()

    def _experiment(self, client: MlflowClient, name: str) -> str:
        found = client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        place = (self.artifacts / name.replace("/", "-")).as_uri()
        # a server decides for itself; over a database that is named, MLflow would take the working directory
        where = {"artifact_location": place} if self.local or self.uri.startswith(DATABASES) else {}
        try:
            return str(client.create_experiment(name, **where))
        except Exception:
            found = client.get_experiment_by_name(name)  # another process may have made it in the meantime
            if found is None:
                raise
            return str(found.experiment_id)


def _client(uri: str) -> MlflowClient:
    os.environ.update({key: os.environ.get(key, value) for key, value in CLIENT.items()})
    from mlflow import MlflowClient

    logging.getLogger("alembic").setLevel(logging.WARNING)
    # it prints the whole traceback of an error that it raises as well, which we tell in a sentence
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
    return MlflowClient(tracking_uri=uri)


def _at_work(run: Logged) -> bool:
    return alive(run.data.tags.get("fints.pid"), run.info.start_time / 1000)


def _unanswered(error: BaseException | None) -> bool:
    """Whether an error comes from a connection that was refused, cut, or left without an answer."""
    while error is not None:
        if isinstance(error, OSError):  # requests' own errors are OSErrors
            return True
        error = error.__cause__ or error.__context__
    return False
