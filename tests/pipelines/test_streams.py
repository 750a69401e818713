"""How commands end whose output nobody takes, in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.streams import told

ROOT = Path(__file__).parents[2]

_WORK = """
import sys, time
from pathlib import Path
from pipelines import cli
from pipelines.options import screen
from pipelines.outcome import reported

def work():
    with reported():
        print("begun", flush=True)
        sys.stdin.readline()
        for _ in range(3):
            screen().print("x")
            screen(stderr=True).print("x")
        Path(sys.argv[1]).write_text("done")
        raise SystemExit(3)

cli.app = work
cli.main()
"""


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


@pytest.mark.parametrize("both", [False, True])
def test_work_whose_reader_left_goes_on_and_keeps_its_exit_code(tmp_path: Path, both: bool) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _WORK, str(tmp_path / "result")],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if both else subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "begun\n"
        process.stdout.close()
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.wait(60) == 3
    assert (tmp_path / "result").read_text() == "done"


_OPEN = """
import os, sys
from pipelines import cli

def work():
    kept = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
    os.write(1, b"x"), os.write(2, b"x")
    print("x", flush=True), print("x", file=sys.stderr, flush=True)
    raise SystemExit(0 if kept > 2 and sys.stdin.read() == "" else 1)

cli.app = work
cli.main()
"""


def test_no_file_takes_the_place_of_a_stream_that_was_closed(tmp_path: Path) -> None:
    script = tmp_path / "work.py"
    script.write_text(_OPEN)
    line = f'exec "{sys.executable}" "{script}" "{tmp_path / "table"}" <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", line], env=environment(), check=False).returncode == 0
    assert (tmp_path / "table").read_bytes() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_an_error_that_cannot_be_told_keeps_its_exit_code() -> None:
    command = [sys.executable, "-m", "pipelines", "data", "status", "--set", "h=x"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        assert subprocess.run(command, env=environment(), stderr=full, check=False).returncode == 2


def test_a_working_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    line = f'mkdir "{gone}" && cd "{gone}" && rmdir "{gone}" && exec "{sys.executable}" -m pipelines report --json x'
    ended = subprocess.run(["sh", "-c", line], env=environment(), capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("fints: the working folder cannot be found")


_WAIT = """
import time
from pipelines.outcome import reported
with reported():
    print("begun", flush=True)
    time.sleep(60 if {long} else 1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGHUP")
@pytest.mark.parametrize(("ignored", "code"), [(False, 129), (True, 0)])
def test_the_end_of_a_terminal_unwinds_and_nohup_is_left_alone(ignored: bool, code: int) -> None:
    asked = "trap '' HUP; " if ignored else ""
    line = f'{asked}exec "{sys.executable}" -c "$0"'
    with subprocess.Popen(
        ["sh", "-c", line, _WAIT.format(long=not ignored)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == code
        assert ("SIGHUP" in process.stderr.read()) is not ignored


def test_a_signal_that_comes_while_its_stream_is_written_to_is_told_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    class Entered:
        def write(self, text: str) -> int:
            raise RuntimeError(f"reentrant call with {text!r}")

    monkeypatch.setattr(sys, "stderr", Entered())
    told("fints: stopped")
    assert capfd.readouterr().err == "fints: stopped\n"
