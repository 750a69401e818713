"""Peak memory: the kernel's high-water mark of resident memory, in a process of its own.

There glibc maps every block of 64 KiB or more by itself and returns it when it is freed, so the mark counts tensors.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
MAPPED = {"MALLOC_MMAP_THRESHOLD_": str(64 << 10), "MALLOC_TRIM_THRESHOLD_": "0", "OMP_NUM_THREADS": "1"}


def measure() -> dict[str, list[float]]:
    """Return MiB above queries, keys and gradients by name: forward, and forward and backward.

    Empty where the system has no mark. Tables are made anew in every run.
    """
    if not CLEAR.exists():
        return {}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.encodings.memory"],
        env={**os.environ, **MAPPED},
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _mebibytes(key: str) -> float:
    line = next(line for line in STATUS.read_text(encoding="ascii").splitlines() if line.startswith(key))
    return int(line.split()[1]) / 1024


def _main() -> None:
    import torch

    from benchmarks.encodings.rotations import Tensors
    from benchmarks.encodings.shapes import KINDS, LARGE, peers

    torch.set_num_threads(1)
    tensors, at = Tensors.of(LARGE), LARGE.own()
    turns = {}
    for kind in KINDS:
        encoding = LARGE.build(kind)
        learned = tuple(encoding.parameters())
        turns[kind] = (lambda q, k, e=encoding: e.prepare(at, at).layer(0).rotate(q, k), learned)
    turns |= {name: (turn, ()) for name, turn in peers(LARGE.width).items()}
    found = {}
    for name, (turn, learned) in turns.items():
        found[name] = []
        for run in (tensors.forward(turn), tensors.both_ways(turn, learned)):
            run()
            CLEAR.write_text("5", encoding="ascii")
            before = _mebibytes("VmRSS")
            run()
            found[name].append(_mebibytes("VmHWM") - before)
    print(json.dumps(found))


if __name__ == "__main__":
    _main()
