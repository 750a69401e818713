"""The study: a planted cycle, told a little wrong, and everything that could set it right."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from fints.studies.findings import Findings
from fints.studies.ledger import Ledger
from fints.studies.valley.arms import ARMS, ValleyUnit
from fints.studies.valley.boards import ValleyBoard
from fints.studies.valley.chapters import course, method, results
from fints.studies.valley.log import log
from fints.studies.valley.protocol import ValleyProtocol
from fints.studies.valley.verdicts import verdicts
from fints.studies.work import run_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.studies.study import Bench, Budget

LEDGER = "arms.jsonl"

SEEDS: Mapping[Budget, int] = MappingProxyType({"quick": 2, "full": 5})
"""Seeds by budget; everything else is the same."""


@dataclass(frozen=True, slots=True)
class Valley:
    """Tunes a period that was told wrong, and sets gradient descent and random search beside it.

    Parameters
    ----------
    protocol : ValleyProtocol
    seeds : mapping of str to int
    """

    protocol: ValleyProtocol = field(default_factory=ValleyProtocol)
    seeds: Mapping[Budget, int] = field(default_factory=lambda: SEEDS)

    @property
    def name(self) -> str:
        """Name of the study."""
        return "valley"

    @property
    def question(self) -> str:
        """What it asks."""
        return "Does tuning find a period that neither gradient descent nor blind search finds?"

    def run(self, bench: Bench) -> Findings:
        """Run what the ledger does not hold yet, and say what it means.

        Parameters
        ----------
        bench : Bench
        """
        seeds = range(bench.seeds or self.seeds[bench.budget])
        # Whole rounds of one seed first, so that a study stopped early has compared everything.
        units = {(arm, seed): ValleyUnit(arm, seed, self.protocol, str(bench.folder)) for seed in seeds for arm in ARMS}
        found = run_units(list(units.values()), Ledger(bench.folder / LEDGER), bench.workers, bench.progress)
        answers = dict(zip(units, found, strict=True))
        board = ValleyBoard(self.protocol, {arm: [answers[arm, seed] for seed in seeds] for arm in ARMS})
        bench.tracker.log_params({"budget": bench.budget, "seeds": len(seeds)})
        log(bench.tracker, board)
        return Findings(
            title="A razor valley",
            verdicts=verdicts(board),
            chapters=[results(board), course(board), method(board)],
            passed=board.holds,
        )
