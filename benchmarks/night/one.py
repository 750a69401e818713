"""One night in this process, at an instant of the benchmark's choosing: ``python -m benchmarks.night.one``.

What it measures of itself is written as JSON: wall and CPU seconds of the process and of those it started, and of each
stage.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    Told = Callable[..., None]


class Timed:
    """The stages of a run, timed; a stage that is told of by another process has its wall time alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, tuple[float, float]] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[Told]:
        """Time one stage."""
        began, used = time.perf_counter(), time.process_time()
        yield lambda *_told: None
        wall, cpu = self.seconds.get(name, (0.0, 0.0))
        self.seconds[name] = (wall + time.perf_counter() - began, cpu + time.process_time() - used)


def main() -> None:
    """Run ``fints nightly`` with the arguments after the first two: the instant, and the file for the figures."""
    moment, file, *arguments = sys.argv[1:]
    from pipelines import cli, clock, progress

    timed = Timed()

    @contextmanager
    def stages(_console: Console) -> Iterator[Timed]:
        yield timed

    now = pd.Timestamp(moment)
    if not pd.isna(now):
        clock.now = lambda: now
    progress.stages = stages  # type: ignore[assignment]
    sys.argv = ["fints", "nightly", *arguments]
    began = time.perf_counter()
    code: object = 0
    try:
        cli.main()
    except SystemExit as left:
        code = left.code
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    told = {
        "code": code,
        "wall": time.perf_counter() - began,
        "cpu": sum(usage.ru_utime + usage.ru_stime for usage in (own, others)),
        "stages": {name: list(seconds) for name, seconds in timed.seconds.items()},
    }
    Path(file).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
