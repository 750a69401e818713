"""A study that compares encodings: what a module declares, and how it is run."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fints.errors import ConfigError
from fints.studies.comparison.chapters import chapters
from fints.studies.comparison.elapsed import Elapsed
from fints.studies.comparison.log import log
from fints.studies.comparison.results import Pair, Results
from fints.studies.comparison.trial import ArmTrial
from fints.studies.comparison.wording import tally
from fints.studies.findings import Chapter, Findings
from fints.studies.ledger import Ledger, settings_key
from fints.studies.work import run_units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fints.studies.comparison.arm import Arm, Mode
    from fints.studies.comparison.contrast import Band
    from fints.studies.comparison.task import Task
    from fints.studies.study import Bench, Budget
    from fints.studies.work import Unit

LEDGER = "units.jsonl"


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Arms that are all tried on some tasks, in some modes, with so many seeds.

    Parameters
    ----------
    tasks : tuple of Task
    arms : tuple of Arm
    modes : tuple of Mode
    seeds : int
        Seeds 0, 1, 2 …
    """

    tasks: tuple[Task, ...]
    arms: tuple[Arm, ...]
    modes: tuple[Mode, ...]
    seeds: int


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """What a budget pays for.

    Parameters
    ----------
    blocks : tuple of Block
    extra : tuple of Unit
        Units of the study's own, whose results `Results.extra` holds.
    """

    blocks: tuple[Block, ...]
    extra: tuple[Unit, ...] = ()

    def with_seeds(self, seeds: int | None) -> Scope:
        """Return the same with another number of seeds in every block; its own units stay."""
        if seeds is None:
            return self
        return replace(self, blocks=tuple(replace(block, seeds=seeds) for block in self.blocks))


def itself(trial: ArmTrial) -> Unit:
    """Let a cell be done by training and asking alone."""
    return trial


def no_chapters(results: Results) -> Sequence[Chapter]:  # noqa: ARG001 — a study may need none
    """Add no chapter."""
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """What a study says of itself, each as paragraphs in Markdown.

    Parameters
    ----------
    title, question : str
        The question in one sentence, with its question mark.
    why : str
        Why it matters.
    design : str
        What is special about the tasks and arms; how windows, training and statistics go is added to it.
    limits : str
        What the study does not show.
    consequences : str
        What fints does because of this.
    """

    title: str
    question: str
    why: str
    design: str
    limits: str
    consequences: str


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A study that trains the transformer with several encodings on several tasks and compares their errors.

    Parameters
    ----------
    name : str
        On the command line.
    words : Words
    pairs : tuple of Pair
        What is compared; all of it is corrected for its number.
    scopes : mapping of str to Scope
        By budget.
    verdict : callable
        Makes sentences of the results, the most important first.
    chapters : callable
        Makes further chapters, which stand behind the results.
    drawn : tuple of (str, str)
        Names of task and mode whose errors by horizon are drawn; the first that was run by default.
    forest : {"within", "beyond", "all"}, optional
        Draw the ratios of this band only; of every band by default.
    margin : float
        Differences up to this share count as none.
    smallest : float
        The smallest difference worth finding.
    unit : callable
        Makes the unit of work of a cell. Its result holds what that of `ArmTrial.run` holds, and may hold more, which
        verdict and chapters find in `Results.units`.
    """

    name: str
    words: Words
    pairs: tuple[Pair, ...]
    scopes: Mapping[Budget, Scope]
    verdict: Callable[[Results], Sequence[str]]
    chapters: Callable[[Results], Sequence[Chapter]] = no_chapters
    drawn: tuple[tuple[str, str], ...] = ()
    forest: Band | None = None
    margin: float = 0.05
    smallest: float = 0.02
    unit: Callable[[ArmTrial], Unit] = itself

    @property
    def question(self) -> str:
        """What it asks."""
        return self.words.question

    def run(self, bench: Bench) -> Findings:
        """Train what the ledger does not hold yet, compare, and say what it means.

        Parameters
        ----------
        bench : Bench
        """
        scope = self.scopes[bench.budget].with_seeds(bench.seeds)
        wanted = {cell: self.unit(trial) for cell, trial in cells(scope).items()}
        units: list[Unit] = [*wanted.values(), *scope.extra]
        ledger, elapsed = Ledger(bench.folder / LEDGER), Elapsed(bench.folder / "elapsed.json")
        known = ledger.read()
        new = any(settings_key(unit.settings()) not in known for unit in units)
        start = time.monotonic()
        answers = run_units(units, ledger, bench.workers, bench.progress)
        if new:
            elapsed.add(time.monotonic() - start)
        found: dict[tuple[str, str, str], list[Mapping[str, object]]] = {}
        for (task, mode, arm, _seed), answer in zip(wanted, answers, strict=False):
            found.setdefault((task, mode, arm), []).append(answer)
        results = Results(
            budget=bench.budget,
            arms={arm.name: arm for block in scope.blocks for arm in block.arms},
            tasks={task.name: task for block in scope.blocks for task in block.tasks},
            modes={mode.name: mode for block in scope.blocks for mode in block.modes},
            units=found,
            pairs=self.pairs,
            extra=tuple(answers[len(wanted) :]),
            margin=self.margin,
            smallest=self.smallest,
        )
        log(bench.tracker, results)
        return Findings(
            title=self.words.title,
            verdicts=[*self.verdict(results), tally(results)],
            chapters=chapters(self, results, elapsed.seconds, bench.workers),
        )


def cells(scope: Scope) -> dict[tuple[str, str, str, int], ArmTrial]:
    """List trials by task, mode, arm and seed, whole rounds of one seed first: one stopped early has compared all arms.

    Raises
    ------
    ConfigError
        If two arms, tasks or modes have one name.
    """
    for kind in ("arms", "tasks", "modes"):
        by_name: dict[str, object] = {}
        for one in (one for block in scope.blocks for one in getattr(block, kind)):
            if by_name.setdefault(one.name, one) is not one:
                raise ConfigError(f"two {kind} of the study are called {one.name!r}; give each a name of its own")
    return {
        (task.name, mode.name, arm.name, seed): ArmTrial.of(arm, task, mode, seed)
        for seed in range(max(block.seeds for block in scope.blocks))
        for block in scope.blocks
        if seed < block.seeds
        for task in block.tasks
        for mode in block.modes
        for arm in block.arms
    }
