"""Whether the process that opened a run still lives."""

from __future__ import annotations

import os
from pathlib import Path

_SLACK = 2.0
_START_FIELD = 19
"""Place of a process's start in ``/proc/<pid>/stat`` after its name, which may hold spaces (proc(5), field 22)."""


def alive(pid: str | None, at: float) -> bool:
    """Tell whether a process of this machine, seen at some time, is still there.

    Its number may belong to another process by now, after a restart of the machine above all; where the system tells
    when that one started, this is noticed.

    Parameters
    ----------
    pid : str, optional
    at : float
        Time at which it was seen, in seconds since 1970.
    """
    if pid is None or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's process: it exists
        pass
    started = _started(int(pid))
    return started is None or started <= at + _SLACK


def _started(pid: int) -> float | None:
    """Seconds since 1970 at which a process started; None where the system does not tell (only Linux does)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        boot = next(line for line in Path("/proc/stat").read_text("utf-8").splitlines() if line.startswith("btime"))
        return float(boot.split()[1]) + float(fields[_START_FIELD]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return None
