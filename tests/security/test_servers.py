"""Servers of fints hear this machine alone."""

import re
from pathlib import Path

import pytest

from fints.errors import FintsError
from fints.tracking import Links, Tracking
from fints.tracking.server import server_command, server_environment
from pipelines import ui

ROOT = Path(__file__).parents[2]


def test_the_mlflow_server_listens_on_this_machine_alone():
    command = server_command(Path("/x"), 5000)
    assert command[command.index("--host") + 1] == "127.0.0.1"


def test_the_password_of_a_database_stands_in_no_command_line():
    uri = "postgresql://me:secret@db/mlflow"
    assert not [word for word in server_command(Path("/x"), 5000) if "secret" in word or "postgresql" in word]
    assert server_environment(uri)["MLFLOW_BACKEND_STORE_URI"] == uri


@pytest.mark.parametrize("uri", ["postgresql://me:secret@db/mlflow", "http://me:secret@host:5000"])
def test_a_store_that_is_away_is_told_in_a_line_without_its_password(tmp_path, monkeypatch, uri):
    def away(*_):
        raise RuntimeError(f"no answer from {uri}")

    monkeypatch.setattr(ui, "find", away)
    with pytest.raises(
        FintsError, match=r"cannot be asked: no answer from .*start its server, or check tracking"
    ) as error:
        ui._found(Tracking(tmp_path, uri), Links.on(5000))
    assert "secret" not in str(error.value)


def test_nothing_listens_everywhere():
    everywhere = re.compile(r"""0\.0\.0\.0|["']::["']|INADDR_ANY|\.bind\(\(\s*["']["']""")
    sources = [path for folder in ("fints", "pipelines") for path in (ROOT / folder).rglob("*.py")]
    assert len(sources) > 300
    assert not [path for path in sources if everywhere.search(path.read_text("utf-8"))]
