"""How long it takes until something answers: ``import fints`` and ``fints --help``.

Both are set beside a bare start of the interpreter, measured in the same run. Run ``make bench``; the result is
written to ``benchmarks/results/<date>-startup.md``.
"""

from __future__ import annotations

import datetime
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 15
COMMANDS = {
    "python -c pass": (["-c", "pass"], None),
    "import fints": (["-c", "import fints"], 0.3),
    "fints --help": (["-m", "pipelines", "--help"], 0.5),
}
RESULTS = Path(__file__).parent / "results"


def seconds(arguments: list[str]) -> float:
    """Time one run of the interpreter."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - began


def measure() -> dict[str, float]:
    """Median seconds of each command; the rounds take turns, so that a busy moment hits all."""
    for arguments, _ in COMMANDS.values():
        seconds(arguments)
    rounds = [{name: seconds(arguments) for name, (arguments, _) in COMMANDS.items()} for _ in range(RUNS)]
    return {name: statistics.median(r[name] for r in rounds) for name in COMMANDS}


def main() -> int:
    """Measure, print, write; exit code 1 if a target is missed."""
    medians = measure()
    bare = medians["python -c pass"]
    today = datetime.datetime.now(tz=datetime.UTC).date()
    lines = [
        f"# Start-up, {today}",
        "",
        f"Median of {RUNS} runs, CPython {platform.python_version()}, {platform.machine()}.",
        "",
        "| command | seconds | over a bare start | target |",
        "| --- | --- | --- | --- |",
    ]
    for name, (_, target) in COMMANDS.items():
        aim = "" if target is None else f"< {target} s"
        lines.append(f"| `{name}` | {medians[name]:.3f} | {medians[name] / bare:.1f}× | {aim} |")
    text = "\n".join(lines) + "\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{today}-startup.md").write_text(text, encoding="utf-8")
    print(text)
    return int(any(target is not None and medians[name] >= target for name, (_, target) in COMMANDS.items()))


if __name__ == "__main__":
    raise SystemExit(main())
