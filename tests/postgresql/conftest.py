"""A PostgreSQL server of our own, as Debian installs it: started for these tests, gone after them."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

from tests.tuning.conftest import formula

__all__ = ["formula"]

PATIENCE = 60.0
OWNER = "postgres"
"""The user that the server runs as where we are root, which it refuses to be."""


def program(name):
    """Return where a program of the newest PostgreSQL lies; None if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    return str(found[-1]) if found else shutil.which(name)


@pytest.fixture(scope="session")
def programs():
    """Paths of ``initdb`` and ``postgres``."""
    found = [program("initdb"), program("postgres")]
    if None in found:
        if os.environ.get("FINTS_REQUIRE_POSTGRESQL"):
            pytest.fail("CI must have PostgreSQL: .ci/run installs it")
        pytest.skip("no PostgreSQL on this machine; on Debian: apt-get install postgresql")
    return found


@pytest.fixture(scope="session")
def server(programs):
    """The port of a server on this machine without passwords; its files are not synced, which makes it quick."""
    initdb, postgres = programs
    with tempfile.TemporaryDirectory(prefix="fints-postgresql-", dir="/tmp") as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        place, log = Path(folder) / "data", Path(folder) / "log"
        root = os.geteuid() == 0
        if root:
            shutil.chown(folder, OWNER)
        as_owner = {"user": OWNER, "group": OWNER, "extra_groups": []} if root else {}
        made = [initdb, "-D", str(place), "-U", OWNER, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"]
        subprocess.run(made, check=True, capture_output=True, cwd=folder, **as_owner)
        options = [f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", "fsync=off"]
        command = [postgres, "-D", str(place), *(part for option in options for part in ("-c", option))]
        with log.open("w") as lines:
            running = subprocess.Popen(command, stdout=lines, stderr=lines, cwd=folder, **as_owner)
        try:
            until = time.monotonic() + PATIENCE
            while "ready to accept connections" not in log.read_text():
                assert running.poll() is None, log.read_text()
                assert time.monotonic() < until, log.read_text()
                time.sleep(0.05)
            yield port
        finally:
            running.terminate()
            running.wait(PATIENCE)


@pytest.fixture
def database(server, request):
    """The address of a fresh database."""
    name = f"trials_{abs(hash(request.node.nodeid)) % 10**9}"
    with psycopg.connect(f"postgresql://{OWNER}@127.0.0.1:{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql://{OWNER}@127.0.0.1:{server}/{name}"
