"""The MLflow server of a home, on this machine only."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

from fints.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

HOST = "127.0.0.1"

SERVER = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
"""Environment of a server: without jobs it is two processes instead of ten, and starts in half the time."""


def server_command(uri: str, artifacts: Path, port: int) -> list[str]:
    """Return the command line of a server.

    Parameters
    ----------
    uri : str
        Of the store that it serves.
    artifacts : Path
        Where it puts the artifacts of new experiments.
    port : int
        On this machine; the server hears nobody else.
    """
    return [
        *(sys.executable, "-m", "mlflow", "server", "--host", HOST, "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", uri, "--default-artifact-root", str(artifacts)),
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
