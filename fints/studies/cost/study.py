"""The study: every encoding timed in turns with plain RoPE."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from fints.studies.comparison.elapsed import Elapsed
from fints.studies.cost import words
from fints.studies.cost.chapters import chapters
from fints.studies.cost.loads import ENCODINGS, LARGE, NIGHTLY
from fints.studies.cost.results import Timings
from fints.studies.cost.trial import CostTrial
from fints.studies.cost.verdicts import verdict
from fints.studies.curves import slug
from fints.studies.findings import Findings
from fints.studies.ledger import Ledger, settings_key
from fints.studies.work import run_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.study import Bench, Budget, StudyTracker


@dataclass(frozen=True, slots=True)
class Part:
    """Encodings that are timed at a load.

    Parameters
    ----------
    load : str
    encodings : tuple of str
    repeats : int
    """

    load: str
    encodings: tuple[str, ...]
    repeats: int


EXTENT: Mapping[Budget, tuple[Part, ...]] = MappingProxyType(
    {
        "quick": (Part(NIGHTLY.name, tuple(ENCODINGS), 5),),
        "full": (Part(NIGHTLY.name, tuple(ENCODINGS), 10), Part(LARGE.name, tuple(ENCODINGS), 5)),
    }
)
"""What is timed by budget."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Every encoding over plain RoPE, in turns.

    Parameters
    ----------
    extent : mapping of str to tuple of Part
        By budget.
    """

    extent: Mapping[Budget, tuple[Part, ...]] = field(default_factory=lambda: EXTENT)

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return "cost"

    @property
    def question(self) -> str:
        """What it asks."""
        return words.QUESTION

    def run(self, bench: Bench) -> Findings:
        """Time what the ledger does not hold yet, in this process alone, and say what it means.

        Parameters
        ----------
        bench : Bench
            Its seeds are numbers of repeats; its workers are not asked, as units side by side would disturb each other.
        """
        units = _units(self.extent[bench.budget], bench.seeds)
        ledger, elapsed = Ledger(bench.folder / "units.jsonl"), Elapsed(bench.folder / "elapsed.json")
        known, start = ledger.read(), time.monotonic()
        new = any(settings_key(unit.settings()) not in known for unit in units)
        answers = run_units(units, ledger, 1, bench.progress)
        if new:
            elapsed.add(time.monotonic() - start)
        found: dict[tuple[str, str], list[Mapping[str, object]]] = {}
        for unit, answer in zip(units, answers, strict=True):
            found.setdefault((unit.load, unit.encoding), []).append(answer)
        timings = Timings(bench.budget, found)
        _log(bench.tracker, timings)
        return Findings("What encodings cost", verdict(timings), chapters(timings, elapsed.seconds))


def _units(parts: tuple[Part, ...], repeats: int | None) -> list[CostTrial]:
    """List the units, a repeat of all encodings first, so that none has a moment of the machine to itself."""
    most = max(repeats or part.repeats for part in parts)
    return [
        CostTrial(part.load, name, repeat)
        for repeat in range(most)
        for part in parts
        if repeat < (repeats or part.repeats)
        for name in part.encodings
    ]


def _log(tracker: StudyTracker, timings: Timings) -> None:
    """Record every ratio, and a run below for every encoding."""
    tracker.log_params({"budget": timings.budget, "repeats": timings.repeats})
    tracker.log_metrics({"cost/cpu_seconds": timings.seconds})
    for name in dict.fromkeys(name for _, name in timings.units):
        with tracker.child(name, {"fints.encoding": str(ENCODINGS[name]["kind"])}) as run:
            for (load, of, measure), contrast in timings.contrasts.items():
                if of == name:
                    ends = {key: getattr(contrast.times, key) for key in ("mean", "low", "high")}
                    key = f"{load}/{slug(measure)}"
                    run.log_metrics({f"{key}.{end}": value for end, value in ends.items() if np.isfinite(value)})
