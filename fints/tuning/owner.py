"""Which process runs a trial, and whether it still lives."""

from __future__ import annotations

import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

_AFTER_NAME = 19
"""Place of a process's start in ``/proc/<pid>/stat`` after its name, which may hold spaces (proc(5), field 22)."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process of a machine.

    Parameters
    ----------
    host : str
    pid : int
    started : str
        Ticks after the machine's start at which it started, and which start that was; empty where the system does not
        tell (only Linux does). A number that another process got later does not pass for it.
    """

    host: str
    pid: int
    started: str = ""

    @classmethod
    def here(cls) -> Self:
        """Return this process."""
        return cls(socket.gethostname(), os.getpid(), _started(os.getpid()))

    @classmethod
    def from_dict(cls, value: Mapping[str, object]) -> Self:
        """Read what `to_dict` returned."""
        return cls(str(value["host"]), int(str(value["pid"])), str(value.get("started", "")))

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"

    def gone(self) -> bool:
        """Tell whether the process has ended; of a process of another machine that is not known."""
        if self.host != socket.gethostname():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # somebody else's process: it exists
            pass
        state = _stat(self.pid)
        if state and state[0] == "Z":  # it has ended, and its parent has not asked how
            return True
        started = _started(self.pid)
        return bool(self.started and started) and started != self.started


def _started(pid: int) -> str:
    stat = _stat(pid)
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("utf-8").strip()
    except OSError:
        return ""
    return f"{boot}/{stat[_AFTER_NAME]}" if stat else ""


def _stat(pid: int) -> list[str]:
    """Return what the system tells of a process after its name, its state first; nothing where it does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return []
