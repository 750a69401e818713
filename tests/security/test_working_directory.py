"""Nothing that lies in the folder in which a command is started is imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fints.tracking.server import server_command, server_environment

ROOT = Path(__file__).parents[2]
RUN = "the module of the folder ran"
SHADOWS = ("joblib", "multiprocessing", "mlflow", "uvicorn", "click", "numpy", "torch", "pipelines", "fints")
SIDE_BY_SIDE = f"""
import sys
sys.path = [{str(ROOT)!r}, *(place for place in sys.path if place not in ("", {str(Path(__file__).parent)!r}))]

def work():
    from joblib import Parallel, delayed
    print(Parallel(n_jobs=2)(delayed(abs)(number) for number in (-1, -2)))

if __name__ == "__main__":
    from pipelines import cli
    cli.app = work
    cli.main()
"""


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "untrusted"
    place.mkdir()
    for name in SHADOWS:
        (place / f"{name}.py").write_text(f"raise SystemExit({RUN!r})\n")
    return place


def plain_environment(**more):
    return {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"} | more


def test_processes_of_ours_import_nothing_from_it(folder, tmp_path):
    script = tmp_path / "apart" / "script.py"
    script.parent.mkdir()
    script.write_text(SIDE_BY_SIDE)
    command = [sys.executable, str(script)]
    done = subprocess.run(
        command, cwd=folder, env=plain_environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert RUN not in done.stderr
    assert done.stdout.strip() == "[1, 2]", done.stderr


def run_in(folder, command, environment):
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_mlflow_server_imports_nothing_from_it(folder, tmp_path):
    environment = plain_environment(**server_environment(f"sqlite:///{tmp_path / 'x.db'}"))
    command = server_command(tmp_path, 5000)
    done = run_in(folder, [*command[: command.index("server")], "--version"], environment)
    assert RUN not in done.stderr
    assert "version" in done.stdout


def test_the_web_server_below_it_looks_for_modules_elsewhere(folder, tmp_path):
    environment = plain_environment(**server_environment(f"sqlite:///{tmp_path / 'x.db'}"), UVICORN_PORT="1")
    (folder / "shadowed.py").write_text(f"raise SystemExit({RUN!r})\n")
    done = run_in(folder, [sys.executable, "-m", "uvicorn", "shadowed:app"], environment)
    assert RUN not in done.stderr
    assert "Could not import module" in done.stderr
