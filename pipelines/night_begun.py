"""A night that is to be run, and its entry as begun, unless it is done and stands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.disorder import not_in_order
from pipelines.night_changes import ASKED_AGAIN, what_changed
from pipelines.night_identity import Identity
from pipelines.night_standing import StandingNight, another_night, result_of, standing

if TYPE_CHECKING:
    from fints.bars.nights import NightEntry
    from pipelines.asof import AsOf
    from pipelines.gathered import Reading
    from pipelines.night_ledger import Turn
    from pipelines.night_run import NightRun
    from pipelines.unshown import UnshownNight


@dataclass(frozen=True, slots=True, eq=False)
class Doing:
    """A night that is being run.

    Parameters
    ----------
    turn : Turn
    reading : Reading
    as_of : AsOf
    remarks : tuple of str
        To be said in its report.
    own : bool
        Whether the bars were gathered for it, so that what the ingest said is its own.
    """

    turn: Turn
    reading: Reading
    as_of: AsOf
    remarks: tuple[str, ...] = field(default=())
    own: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Begun:
    """A night that was entered as begun.

    Parameters
    ----------
    entry : NightEntry
    unshown : UnshownNight, optional
        Where its report alone is written again.
    """

    entry: NightEntry
    unshown: UnshownNight | None = None


def begin(run: NightRun, doing: Doing, *, again: bool) -> Begun | StandingNight:
    """Enter a night as begun; one that is done and stands is returned as it is.

    Parameters
    ----------
    run : NightRun
    doing : Doing
    again : bool
        Whether one that is done is run again.
    """
    targets, ledger = run.settings.targets, run.ledger
    identity = Identity.of(run.settings, doing.reading.symbols, run.gathered.exchanges, doing.as_of)
    begun, entries = ledger.draft(doing.turn, doing.reading, identity, "begun"), ledger.entries()
    if doing.own and (again or another_night(begun, entries, run.home, targets)):
        begun = replace(begun, remade=())
    if again:
        done = any(entry.state == "done" and entry.night == begun.night for entry in entries)
        return Begun(_entered(run, begun, begun.reason or (ASKED_AGAIN if done else "")))
    found, why = standing(begun, entries, run.store, run.home, targets)
    if isinstance(found, StandingNight):
        return replace(found, warnings=not_in_order(run.settings, run.home, doing.reading.now) if doing.own else ())
    if found is None:
        why = why or what_changed(begun, entries, run.settings, lambda last: result_of(last, run.home.root / last.page))
        return Begun(_entered(run, begun, begun.reason or why))
    return Begun(_entered(run, found.resumed(begun), why), found)


def _entered(run: NightRun, begun: NightEntry, why: str) -> NightEntry:
    """Enter a night as begun, and say at once why it is made again, where it is: it may take an hour."""
    if why:
        run.stages.console.print(f"The night of {begun.night} is {why}.", highlight=False, markup=False, soft_wrap=True)
    return run.ledger.enter(replace(begun, reason=why))[0]
