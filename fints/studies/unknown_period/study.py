"""The study: several planted series and a real week, several encodings, everything that they can be told."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.studies.findings import Findings
from fints.studies.ledger import Ledger
from fints.studies.protocol import Protocol
from fints.studies.scores import score
from fints.studies.trial import Trial
from fints.studies.unknown_period.arms import ARMS, LEARNED, T_ROPE
from fints.studies.unknown_period.boards import Board, learned_periods
from fints.studies.unknown_period.chapters import method, task_chapter
from fints.studies.unknown_period.log import log
from fints.studies.unknown_period.tasks import NOISY, TASKS, TWENTY
from fints.studies.unknown_period.tellings import TELLINGS, Telling, detected_period
from fints.studies.unknown_period.verdicts import verdicts
from fints.studies.unknown_period.week import (
    CYCLE,
    DAYS,
    NONE,
    ROPE,
    WEEK_ARMS,
    WeekArm,
    WeekBoard,
    WeekProtocol,
    WeekTrial,
    detected_week,
    pattern_size,
)
from fints.studies.unknown_period.week_chapter import week_chapter
from fints.studies.unknown_period.week_verdicts import week_verdict
from fints.studies.work import run_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.studies.planted import PlantedCycles
    from fints.studies.study import Bench, Budget
    from fints.studies.unknown_period.arms import Arm
    from fints.studies.work import Unit

    Place = tuple[str, Arm | WeekArm, int]

LEDGER = "trials.jsonl"

WEEK = "week"
"""Stands for the name of a task where a unit is of real volume."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a budget pays for.

    Parameters
    ----------
    tasks : tuple of str
        Of `TASKS`.
    tellings : tuple of Telling
    week : tuple of WeekArm
    seeds : int
        Seeds 0, 1, 2 …
    """

    tasks: tuple[str, ...]
    tellings: tuple[Telling, ...]
    week: tuple[WeekArm, ...]
    seeds: int

    @property
    def arms(self) -> tuple[Arm, ...]:
        """What is tried on every task."""
        return tuple(arm for arm in ARMS if arm.telling in self.tellings)

    def with_seeds(self, seeds: int | None) -> Scope:
        """Return the same with another number of seeds, if one is given."""
        return self if seeds is None else replace(self, seeds=seeds)


_FEW = tuple(telling for telling in TELLINGS if telling.off in (0.0, 0.01, 0.1))

SCOPES: Mapping[Budget, Scope] = MappingProxyType(
    {
        "quick": Scope(
            (TWENTY.name, NOISY.name),
            _FEW,
            (*(WeekArm(CYCLE, telling) for telling in _FEW), WeekArm(ROPE), WeekArm(NONE)),
            seeds=2,
        ),
        "full": Scope(tuple(TASKS), TELLINGS, WEEK_ARMS, seeds=5),
    }
)
"""Extent of the study by budget; training is the same."""


def usual_protocol() -> Protocol:
    """Return the protocol of the study of extrapolation with fewer steps: a wrong period shows long before the end."""
    usual = Protocol()
    return Protocol(training=usual.training.model_copy(update={"max_steps": 300}))


@dataclass(frozen=True, slots=True)
class UnknownPeriod:
    """Trains the transformer on cycles whose period is known, detected, or wrong.

    Parameters
    ----------
    protocol : Protocol
    week : WeekProtocol
    scopes : mapping of str to Scope
    """

    protocol: Protocol = field(default_factory=usual_protocol)
    week: WeekProtocol = field(default_factory=WeekProtocol)
    scopes: Mapping[Budget, Scope] = field(default_factory=lambda: SCOPES)

    @property
    def name(self) -> str:
        """Name of the study."""
        return "unknown-period"

    @property
    def question(self) -> str:
        """What it asks."""
        return "What does the forecaster lose when the period of a cycle is detected, or wrong, instead of known?"

    def run(self, bench: Bench) -> Findings:
        """Train what the ledger does not hold yet, score everything, and say what it means.

        Parameters
        ----------
        bench : Bench
        """
        scope = self.scopes[bench.budget].with_seeds(bench.seeds)
        seeds = range(scope.seeds)
        detected = {
            name: [detected_period(TASKS[name].panel(self.protocol.trained, seed)) for seed in seeds]
            for name in scope.tasks
        }
        found = detected_week(self.week)
        wanted: dict[Place, Unit] = {}
        for seed in seeds:  # whole rounds of one seed first, so that a study stopped early has compared everything
            for name in scope.tasks:
                for arm in scope.arms:
                    plan = arm.plan(TASKS[name], detected[name][seed])
                    wanted[name, arm, seed] = Trial(TASKS[name], arm.config, plan, seed, self.protocol)
            for real in scope.week:
                wanted[WEEK, real, seed] = WeekTrial(real, real.telling.period(DAYS, found), seed, self.week)
        results = run_units(list(wanted.values()), Ledger(bench.folder / LEDGER), bench.workers, bench.progress)
        answers = dict(zip(wanted, results, strict=True))
        boards = [self._board(TASKS[name], scope, np.array(detected[name]), answers) for name in scope.tasks]
        squared = {arm: np.array([answers[WEEK, arm, seed]["squared"] for seed in seeds]) for arm in scope.week}
        week = WeekBoard(self.week, found, pattern_size(self.week), squared)
        bench.tracker.log_params({"budget": bench.budget, "seeds": scope.seeds})
        log(bench.tracker, boards, week, self.protocol)
        return Findings(
            title="A period that is not known",
            verdicts=[*verdicts(boards), week_verdict(week)],
            chapters=[*map(task_chapter, boards), week_chapter(week, len(seeds)), method(self.protocol, len(seeds))],
        )

    def _board(
        self, task: PlantedCycles, scope: Scope, detected: NDArray[np.float64], answers: Mapping[Place, dict[str, Any]]
    ) -> Board:
        mine = {arm: {seed: answers[task.name, arm, seed] for seed in range(scope.seeds)} for arm in scope.arms}
        scores = tuple(score(arm, task, mine[arm], self.protocol) for arm in scope.arms)
        learned = {
            arm: learned_periods(arm, [result["learned"] for result in mine[arm].values()])
            for arm in scope.arms
            if arm.encoding in (LEARNED, T_ROPE)
        }
        return Board(task, self.protocol, detected, scores, learned)
