"""The interface of a study."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from fints.forecast import Tracker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from fints.studies.findings import Findings

Budget = Literal["quick", "full"]
"""Minutes, or hours; a study of the full budget goes on where it was stopped."""


class StudyTracker(Tracker, Protocol):
    """Where a study reports to: a run, with runs of its own below it."""

    def log_curves(self, curves: Mapping[str, Mapping[int, float]]) -> None:
        """Record whole curves, value by step."""

    def child(self, name: str, tags: Mapping[str, str]) -> AbstractContextManager[StudyTracker]:
        """Open a run below this one.

        Parameters
        ----------
        name : str
        tags : mapping of str to str
            Names as they are used everywhere: ``fints.encoding``, say.
        """


class Untracked:
    """A `StudyTracker` that keeps nothing."""

    def log_params(self, params: Mapping[str, object]) -> None:
        """Pass settings over."""

    def log_metrics(self, metrics: Mapping[str, float], step: int = 0) -> None:
        """Pass figures over."""

    def log_curves(self, curves: Mapping[str, Mapping[int, float]]) -> None:
        """Pass curves over."""

    def child(self, name: str, tags: Mapping[str, str]) -> AbstractContextManager[StudyTracker]:  # noqa: ARG002
        """Return itself: what keeps nothing needs no runs below."""
        return nullcontext(self)


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and with what a study works.

    Parameters
    ----------
    folder : Path
        For results that outlast a kill; it exists, and belongs to this study and budget.
    budget : {"quick", "full"}
    workers : int
        Processes at a time.
    tracker : StudyTracker
    progress : callable
        Called with the units of work done and their number.
    seeds : int, optional
        So many instead of those of the budget.
    """

    folder: Path
    budget: Budget
    workers: int
    tracker: StudyTracker
    progress: Callable[[int, int], None]
    seeds: int | None = None


@runtime_checkable
class Study(Protocol):
    """A question with a reproducible answer."""

    @property
    def name(self) -> str:
        """Its name on the command line and of its report."""

    @property
    def question(self) -> str:
        """What it asks, in one sentence."""

    def run(self, bench: Bench) -> Findings:
        """Answer the question; what was done before in `bench.folder` is not done again."""
