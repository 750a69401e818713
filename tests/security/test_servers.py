"""Servers of fints hear this machine alone."""

import re
from pathlib import Path

from fints.tracking.server import server_command

ROOT = Path(__file__).parents[2]


def test_the_mlflow_server_listens_on_this_machine_alone():
    command = server_command("sqlite:///x.db", Path("/x"), 5000)
    assert command[command.index("--host") + 1] == "127.0.0.1"


def test_nothing_listens_everywhere():
    everywhere = re.compile(r"""0\.0\.0\.0|["']::["']|INADDR_ANY|\.bind\(\(\s*["']["']""")
    sources = [path for folder in ("fints", "pipelines") for path in (ROOT / folder).rglob("*.py")]
    assert len(sources) > 300
    assert not [path for path in sources if everywhere.search(path.read_text("utf-8"))]
