"""A comparison of arms with units of its own, which train as `ArmTrial` does and read more from the model."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.studies.comparison import ArmTrial, Results
from fints.studies.comparison.chapters import chapters
from fints.studies.comparison.elapsed import Elapsed
from fints.studies.comparison.log import log
from fints.studies.comparison.wording import tally
from fints.studies.findings import Findings
from fints.studies.ledger import Ledger, settings_key
from fints.studies.work import run_units

if TYPE_CHECKING:
    from collections.abc import Callable

    from fints.studies.comparison import Comparison, Scope
    from fints.studies.study import Bench
    from fints.studies.work import Unit

    Cell = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True, eq=False)
class ReadComparison:
    """A `Comparison`, each of whose cells is done by another unit.

    Parameters
    ----------
    comparison : Comparison
        What is compared, and what it says of itself. Units of its own beside the blocks are not run.
    unit : callable
        Makes the unit of a cell. Its result holds what that of `ArmTrial.run` holds, and more, which verdict and
        chapters find in `Results.units`.
    """

    comparison: Comparison
    unit: Callable[[ArmTrial], Unit]

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.comparison.name

    @property
    def question(self) -> str:
        """What it asks."""
        return self.comparison.question

    def run(self, bench: Bench) -> Findings:
        """Train what the ledger does not hold yet, compare, and say what it means.

        Parameters
        ----------
        bench : Bench
        """
        study = self.comparison
        scope = study.scopes[bench.budget].with_seeds(bench.seeds)
        wanted = {cell: self.unit(trial) for cell, trial in cells(scope).items()}
        ledger, elapsed = Ledger(bench.folder / "units.jsonl"), Elapsed(bench.folder / "elapsed.json")
        known, start = ledger.read(), time.monotonic()
        new = any(settings_key(unit.settings()) not in known for unit in wanted.values())
        answers = run_units(list(wanted.values()), ledger, bench.workers, bench.progress)
        if new:
            elapsed.add(time.monotonic() - start)
        found: dict[tuple[str, str, str], list[dict[str, object]]] = {}
        for (task, mode, arm, _), answer in zip(wanted, answers, strict=True):
            found.setdefault((task, mode, arm), []).append(answer)
        results = Results(
            budget=bench.budget,
            arms={arm.name: arm for block in scope.blocks for arm in block.arms},
            tasks={task.name: task for block in scope.blocks for task in block.tasks},
            modes={mode.name: mode for block in scope.blocks for mode in block.modes},
            units=found,
            pairs=study.pairs,
            margin=study.margin,
            smallest=study.smallest,
        )
        log(bench.tracker, results)
        return Findings(
            title=study.words.title,
            verdicts=[*study.verdict(results), tally(results)],
            chapters=chapters(study, results, elapsed.seconds, bench.workers),
        )


def cells(scope: Scope) -> dict[Cell, ArmTrial]:
    """List the trials of a scope by task, mode, arm and seed, whole rounds of one seed first."""
    return {
        (task.name, mode.name, arm.name, seed): ArmTrial.of(arm, task, mode, seed)
        for seed in range(max(block.seeds for block in scope.blocks))
        for block in scope.blocks
        if seed < block.seeds
        for task in block.tasks
        for mode in block.modes
        for arm in block.arms
    }
