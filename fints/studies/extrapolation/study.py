"""The study: every encoding, several planted series, several seeds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.extrapolation.arms import (
    ALIBI,
    ARMS,
    CLOCK,
    CLOCK_HALF,
    CYCLE,
    CYCLE_HALF,
    FOURIER,
    NONE,
    ROPE,
    SINUSOIDAL,
)
from fints.studies.extrapolation.chapters import chapters
from fints.studies.extrapolation.log import log
from fints.studies.extrapolation.scores import board
from fints.studies.extrapolation.tasks import ONE, TASKS, THREE
from fints.studies.extrapolation.verdicts import held, verdicts
from fints.studies.findings import Findings
from fints.studies.ledger import Ledger
from fints.studies.protocol import Protocol
from fints.studies.trial import Trial
from fints.studies.work import run_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.extrapolation.arms import Arm
    from fints.studies.extrapolation.scores import Board
    from fints.studies.planted import PlantedCycles
    from fints.studies.study import Bench, Budget

LEDGER = "trials.jsonl"


@dataclass(frozen=True, slots=True)
class Scope:
    """What a budget pays for.

    Parameters
    ----------
    tasks, arms : tuple of str
        Of `TASKS` and of `ARMS`.
    seeds : int
        Seeds 0, 1, 2 …
    """

    tasks: tuple[str, ...]
    arms: tuple[str, ...]
    seeds: int

    def with_seeds(self, seeds: int | None) -> Scope:
        """Return the same with another number of seeds, if one is given."""
        return self if seeds is None else replace(self, seeds=seeds)


SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope(
            (ONE.name, THREE.name),
            (NONE, SINUSOIDAL, FOURIER, ALIBI, ROPE, CYCLE_HALF, CYCLE, CLOCK_HALF, CLOCK),
            seeds=2,
        ),
        "full": Scope(tuple(TASKS), tuple(ARMS), seeds=5),
    }
)
"""Extent of the study by budget; training is the same."""


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """Trains the transformer on planted cycles with every encoding and forecasts beyond the trained bars.

    Parameters
    ----------
    protocol : Protocol
    scopes : mapping of str to Scope
    """

    protocol: Protocol = field(default_factory=Protocol)
    scopes: Mapping[Budget, Scope] = field(default_factory=lambda: SCOPES)

    @property
    def name(self) -> str:
        """Name of the study."""
        return "extrapolation"

    @property
    def question(self) -> str:
        """What it asks."""
        return "Which encodings let the transformer carry a cycle beyond the bars that it was trained on?"

    def run(self, bench: Bench) -> Findings:
        """Train what the ledger does not hold yet, score everything, and say what it means.

        Parameters
        ----------
        bench : Bench
        """
        scope = self.scopes[bench.budget].with_seeds(bench.seeds)
        wanted = self._wanted(scope)
        results = run_units([unit for *_, unit in wanted], Ledger(bench.folder / LEDGER), bench.workers, bench.progress)
        boards = []
        for name in scope.tasks:
            task = TASKS[name]
            mine = {
                (arm.name, seed): result
                for (of, arm, seed, _), result in zip(wanted, results, strict=True)
                if of is task
            }
            boards.append(board(task, self._arms(scope, task), mine, self.protocol))
        bench.tracker.log_params({"budget": bench.budget, "seeds": scope.seeds})
        log(bench.tracker, boards, self.protocol, [result["seconds"] for result in results])
        return self._findings(boards, scope)

    def _wanted(self, scope: Scope) -> list[tuple[PlantedCycles, Arm, int, Trial]]:
        """List the trials, whole rounds of one seed first, so that a study stopped early has compared everything."""
        return [
            (task, arm, seed, Trial(task, arm.config(task), task.plan(arm.clock), seed, self.protocol))
            for seed in range(scope.seeds)
            for task in (TASKS[name] for name in scope.tasks)
            for arm in self._arms(scope, task)
        ]

    @staticmethod
    def _arms(scope: Scope, task: PlantedCycles) -> list[Arm]:
        return [ARMS[name] for name in scope.arms if ARMS[name].suits(task)]

    def _findings(self, boards: list[Board], scope: Scope) -> Findings:
        return Findings(
            title="Extrapolation of planted cycles through the transformer",
            verdicts=verdicts(boards, self.protocol.h),
            chapters=chapters(boards, self.protocol, scope.seeds),
            passed=held(boards),
        )
