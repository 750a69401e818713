"""Many units of work, in several processes, none of them twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from fints.studies.ledger import settings_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fints.studies.ledger import Ledger


class Unit(Protocol):
    """A piece of work that its settings determine; it can be sent to another process."""

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result, as plain values."""

    def run(self) -> dict[str, object]:
        """Do the work and return the result, as plain values."""


@dataclass(frozen=True, slots=True)
class _Alone:
    """A unit of work on one thread, so that its result does not depend on how many run beside it."""

    unit: Unit

    def __call__(self) -> tuple[Unit, dict[str, object]]:
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return self.unit, self.unit.run()
        finally:
            torch.set_num_threads(threads)


def run_units(
    units: Sequence[Unit], ledger: Ledger, workers: int, progress: Callable[[int, int], None]
) -> list[dict[str, Any]]:
    """Do what the ledger does not hold yet, and write it there as it is finished.

    Parameters
    ----------
    units : sequence of Unit
        Started in this order. Units of equal settings are one piece of work.
    ledger : Ledger
    workers : int
        Processes at a time, never more than are needed; with one, the work is done in this process.
    progress : callable
        Called with the number of finished units and of all.

    Returns
    -------
    list of dict
        One result per unit, in the order given. It does not depend on `workers`.
    """
    from joblib import Parallel, delayed

    keys = [settings_key(unit.settings()) for unit in units]
    known = ledger.read()
    wanted = dict(zip(keys, units, strict=True))
    missing = [unit for key, unit in wanted.items() if key not in known]
    done, total = len(wanted) - len(missing), len(wanted)
    progress(done, total)
    jobs = max(1, min(workers, len(missing)))
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
    for unit, result in parallel(delayed(_Alone(unit))() for unit in missing):
        ledger.append(unit.settings(), result)
        done += 1
        progress(done, total)
    if missing:
        known = ledger.read()
    return [known[key] for key in keys]
