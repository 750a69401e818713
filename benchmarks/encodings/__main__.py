"""What encodings cost, over copying queries and keys and beside two public packages.

Run ``make bench``, or ``python -m benchmarks.encodings``, which starts itself again with the allocator fixed; the
result is written to ``benchmarks/results/<date>-encodings.md``.
"""

from __future__ import annotations

import datetime
import platform
import shutil
from pathlib import Path

from benchmarks.encodings.timing import ROUNDS, start_again_with_fixed_allocator

METHOD = (
    f"One thread. Medians of {ROUNDS} rounds, in which all that is compared takes turns; processor time; every ratio "
    "is taken within a round, ± half its interquartile range. The allocator is fixed by `MALLOC_MMAP_THRESHOLD_` and "
    "`MALLOC_TRIM_THRESHOLD_`: otherwise glibc maps every large tensor afresh. The floor is copying queries and keys "
    "once; for forward + backward it is that and copying their gradients."
)
RESULTS = Path(__file__).parents[1] / "results"


def report() -> tuple[str, bool]:
    """Measure everything; return the page, and whether every target is met."""
    import torch

    from benchmarks.encodings import memory, models, page, rotations
    from benchmarks.encodings.shapes import LARGE, NIGHTLY

    torch.set_num_threads(1)
    torch.manual_seed(0)
    steps = models.step_race()
    kinds = {shape: rotations.all_kinds(shape) for shape in (LARGE, NIGHTLY)}
    eager = {shape: rotations.peer_race(shape) for shape in (LARGE, NIGHTLY)}
    compiled = {shape: rotations.compiled_race(shape) for shape in (LARGE, NIGHTLY)} if shutil.which("g++") else {}
    targets = page.targets(kinds[LARGE], eager[LARGE], compiled.get(LARGE), steps)
    parts = [
        f"# Encodings, {datetime.datetime.now(tz=datetime.UTC).date()}",
        f"CPython {platform.python_version()}, torch {torch.__version__}, {platform.machine()}. {METHOD}",
        page.target_list(targets),
        *(page.peer_table(shape, eager[shape], "eager") for shape in eager),
        *(page.peer_table(shape, compiled[shape], "compiled") for shape in compiled),
        "" if compiled else "There is no C++ compiler here, so nothing was compiled.",
        *(page.kind_table(shape, kinds[shape]) for shape in kinds),
        page.memory_table(memory.measure()),
        page.bias_table(models.bias_race()),
        page.step_table(steps),
    ]
    return "\n\n".join(part for part in parts if part) + "\n", all(target.met for target in targets)


def main() -> int:
    """Measure, print, write; exit code 1 if a target is missed."""
    start_again_with_fixed_allocator()
    text, met = report()
    today = datetime.datetime.now(tz=datetime.UTC).date()
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{today}-encodings.md").write_text(text, encoding="utf-8")
    print(text)
    return int(not met)


if __name__ == "__main__":
    raise SystemExit(main())
