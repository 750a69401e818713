"""The MLflow server of a home, on this machine only."""

from __future__ import annotations

import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST = "127.0.0.1"

_SERVER = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true", "PYTHONSAFEPATH": "1"}
"""Without jobs a server is two processes instead of ten, and starts in half the time; and it imports nothing from the
folder in which somebody happens to stand."""


def server_environment(uri: str) -> Mapping[str, str]:
    """Return what the environment of a server has to hold.

    Parameters
    ----------
    uri : str
        Of the store that it serves. It may name a password, and the command line of a process can be read by all users
        of a machine; its environment cannot.
    """
    found = find_spec("mlflow")
    # uvicorn imports from the working directory, whatever Python does, unless it is told of another folder
    place = {} if found is None or found.origin is None else {"UVICORN_APP_DIR": str(Path(found.origin).parents[1])}
    return {**_SERVER, **place, "MLFLOW_BACKEND_STORE_URI": uri}


def server_command(artifacts: Path, port: int) -> list[str]:
    """Return the command line of a server; `server_environment` says of which store.

    Parameters
    ----------
    artifacts : Path
        Where it puts the artifacts of new experiments.
    port : int
        On this machine; the server hears nobody else.
    """
    return [
        *(sys.executable, "-m", "mlflow", "server", "--host", HOST, "--port", str(port), "--workers", "1"),
        *("--default-artifact-root", str(artifacts)),
    ]


def require_free(port: int) -> None:
    """Refuse a port of this machine on which something listens already.

    Raises
    ------
    ConfigError
        If it does.
    """
    if answers(port):
        raise ConfigError(f"something answers on port {port} already; stop it, or choose another --port")


def answers(port: int) -> bool:
    """Whether something listens on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0
