"""A job whose outcome is on disk as soon as it is there, and which no two processes run at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from fints.backtest.job_store import JobStore
    from fints.backtest.jobs import Entrant, Job, Outcome


@dataclass(frozen=True, slots=True, eq=False)
class KeptJob:
    """A job with its place in a store that the process which runs it can reach.

    Parameters
    ----------
    job : Job
    store : JobStore
    key : str
        Under which the outcome lies there.
    """

    job: Job
    store: JobStore
    key: str

    @property
    def entrant(self) -> Entrant:
        """The model."""
        return self.job.entrant

    @property
    def windows(self) -> tuple[int, ...]:
        """Numbers of its windows."""
        return self.job.windows

    def run(self, panel: pd.DataFrame, told: Callable[[int], None] | None = None) -> Outcome:
        """Run the job and keep its outcome, or take the one that another process kept meanwhile.

        A training that was killed goes on from its last state.

        Parameters
        ----------
        panel : pandas.DataFrame
            Schema ``panel``.
        told : callable, optional
            Called with the number of windows done after each.

        Returns
        -------
        Outcome
            As a later run will read it, so that both are the same to the last bit.

        Raises
        ------
        StoreError
            If the outcome cannot be kept.
        """
        with self.store.claimed(self.key) as states:
            found = self.store.read(self.key)
            if found is not None:
                return replace(found, reused=True)
            outcome = replace(self.job, states=states).run(panel, told)
            if outcome.failure:
                return outcome
            self.store.write(self.key, outcome)
            return self.store.read(self.key) or outcome
