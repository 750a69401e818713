"""A night in a fresh process, watched from outside: how long it takes, and how much memory its processes hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

_GLANCE = 0.5  # to ask costs a busy machine some milliseconds


@dataclass(frozen=True, slots=True)
class Measured:
    """What a night took.

    Parameters
    ----------
    wall : float
        Seconds from the start of the process to its end, imports included.
    cpu : float
        Seconds of all its processes.
    peak : float
        GB that its processes held at once; what they share counts once (PSS).
    stages : mapping of str to tuple of float
        Wall and CPU seconds of each, of the process itself.
    targets : mapping of str to mapping of str to float
        Wall seconds of each stage of each target.
    page : float
        MB of the page.
    """

    wall: float
    cpu: float
    peak: float
    stages: Mapping[str, tuple[float, float]]
    targets: Mapping[str, Mapping[str, float]]
    page: float


def night(home: Path, arguments: Sequence[str], now: pd.Timestamp | None) -> Measured:
    """Run ``fints nightly`` in a home, at an instant.

    Raises
    ------
    RuntimeError
        If it fails.
    """
    file, result = home / "measured.json", home / "night.json"
    command = [sys.executable, "-m", "benchmarks.night.one", "" if now is None else now.isoformat(), str(file)]
    began, peak = time.perf_counter(), 0.0
    with TemporaryFile("w+", encoding="utf-8") as told_aloud:  # a pipe that nobody reads would stop it
        process = subprocess.Popen(
            [*command, *arguments, "--json", str(result)],
            env=os.environ | {"FINTS_HOME": str(home), "OMP_NUM_THREADS": "1"},
            stdout=told_aloud,
            stderr=subprocess.STDOUT,
        )
        while process.poll() is None:
            peak = max(peak, _held(process.pid))
            time.sleep(_GLANCE)
        wall = time.perf_counter() - began
        told_aloud.seek(0)
        said = told_aloud.read()
    told: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if process.returncode or told.get("code") not in {0, 4}:
        raise RuntimeError(f"the night ended with {told.get('code', process.returncode)}: {said[-2000:]}")
    night_told = json.loads(result.read_text("utf-8"))
    return Measured(
        wall=wall,
        cpu=told["cpu"],
        peak=peak,
        stages={name: (wall, cpu) for name, (wall, cpu) in told["stages"].items()},
        targets=night_told["seconds"],
        page=Path(night_told["report"]).stat().st_size / 1e6,
    )


def _held(pid: int) -> float:
    """GB that a process and those that it started hold."""
    total = 0.0
    with suppress(OSError, ValueError):
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
        total = next(float(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1e6
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(_held(int(child)) for child in (task / "children").read_text("ascii").split())
    return total
