"""Earlier nights whose turn it is before tonight's: missed, half-finished, failed, and those whose bars came late."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.aliases import followed
from fints.bars.arrivals import late_bars
from fints.bars.nights import NO_BAR
from fints.sessions import parse_interval
from pipelines.night_ledger import ATTEMPTS, Turn, attempts, failures, instant_of, newest, regular
from pipelines.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fints.bars.nights import NightEntry
    from fints.settings.catch_up import CatchUpSettings
    from pipelines.gathered import Arrived
    from pipelines.night_calendar import NightCalendar, Slot
    from pipelines.night_ledger import NightLedger

MISSED: Final = "caught up, because it was missed"
CAME: Final = "made when its bars had come"
OVERTAKEN: Final = "a later night of the same date took its place"
UNFINISHED: Final = "completed, because the run that began it was stopped"
_NAMED: Final = 3  # symbols named where bars of many came late


@dataclass(frozen=True, slots=True)
class Agenda:
    """What one run has to do before tonight's night.

    Parameters
    ----------
    turns : tuple of Turn
        Oldest first.
    skipped : tuple of pair of Turn and str
        Nights that are not run, with the reason.
    given_up : tuple of NightEntry
        Nights that were begun too often and never ended.
    late : tuple of Turn
        Nights whose bars came late: those of `turns`, and tonight's if it is among them.
    tonight : Turn
        Tonight's own night; with the reason, where it is made again.
    left : str
        What is left alone, in a sentence; empty if nothing is.
    """

    tonight: Turn
    turns: tuple[Turn, ...] = ()
    skipped: tuple[tuple[Turn, str], ...] = ()
    given_up: tuple[NightEntry, ...] = ()
    late: tuple[Turn, ...] = ()
    left: str = ""


@dataclass(frozen=True, slots=True)
class CatchUp:
    """Finds the nights to be made up for.

    Parameters
    ----------
    ledger : NightLedger
    calendar : NightCalendar
    policy : CatchUpSettings
    gathered : Arrived
        Bars up to now, and how they came.
    entries : sequence of NightEntry
        Of the ledger, in order.
    """

    ledger: NightLedger
    calendar: NightCalendar
    policy: CatchUpSettings
    gathered: Arrived
    entries: Sequence[NightEntry] = field(repr=False)

    def agenda(self, tonight: Turn) -> Agenda:
        """Return what is to be done before tonight's night; nothing on an empty ledger."""
        now = self.gathered.reading.now
        held = regular(self.entries, now)
        last = newest(held)
        owed = [entry for entry in last.values() if entry.owed and entry.night != tonight.night]
        given_up = tuple(entry for entry in owed if attempts(held, entry.night) >= ATTEMPTS)
        turns = {entry.night: _resumed(entry) for entry in owed if entry not in given_up}
        failed = [entry for entry in last.values() if entry.state == "failed" and entry.night != tonight.night]
        turns |= {entry.night: _resumed(entry) for entry in self._retried(held, failed)}
        late, left = self._late(held, last)
        turns |= {name: turn for name, turn in late.items() if name != tonight.night}
        missed, skipped = self._missed(held, tonight, {*turns, *(entry.night for entry in (*given_up, *failed))})
        resumed = [turn for name, turn in turns.items() if name not in late]
        overtaken = self._overtaken(resumed, held, [tonight, *missed])
        skipped += [(turn, OVERTAKEN) for turn in overtaken]
        turns = {name: turn for name, turn in turns.items() if turn not in overtaken}
        turns |= {turn.night: turn for turn in missed}
        return Agenda(
            turns=tuple(sorted(turns.values(), key=lambda turn: turn.as_of)),
            skipped=tuple(skipped),
            given_up=given_up,
            late=tuple(late.values()),
            tonight=_again(tonight, late.get(tonight.night), last.get(tonight.night)),
            left=left,
        )

    def _retried(self, held: Sequence[NightEntry], failed: Sequence[NightEntry]) -> list[NightEntry]:
        """Return the nights that failed and may not any more: other bars are here, and they did not fail too often."""
        version = self.gathered.reading.version
        tried = [e for e in failed if e.data_version != version and failures(held, e.night) < ATTEMPTS]
        return sorted(tried, key=lambda entry: entry.as_of)[-self.policy.most :]

    def _overtaken(self, turns: Sequence[Turn], held: Sequence[NightEntry], coming: Sequence[Turn]) -> list[Turn]:
        """Return the nights of whose date a later one is done, or will be: its forecasts are the ones that stand."""
        if parse_interval(self.calendar.interval) is not None:  # those of another hour stand beside them
            return []
        later = [entry.as_of for entry in held if entry.state == "done"] + [instant_of(turn.as_of) for turn in coming]
        found = []
        for turn in turns:
            last = self.calendar.last_of(turn.as_of)
            if any(turn.as_of < moment <= last for moment in later):
                found.append(turn)
        return found

    def _missed(
        self, held: Sequence[NightEntry], tonight: Turn, owed: set[str]
    ) -> tuple[list[Turn], list[tuple[Turn, str]]]:
        """Return the nights since the last one that is done: those to run, and those to skip with the reason."""
        done = [entry.as_of for entry in held if entry.state == "done"]
        if not done:
            return [], []
        slots = self.calendar.between(max(done), tonight.as_of)
        if not slots:
            return [], []
        by_hand = {entry.night for entry in self.entries if entry.state == "done" and entry.asked}
        taken = [pd.Timestamp(name) for name in by_hand if "T" in name]
        told = {(entry.night, entry.reason) for entry in newest(held).values() if entry.state == "skipped"}
        run, skipped = [], []
        for slot in slots:
            turn = Turn(slot.until, slot.until, reason=MISSED)
            # one of an earlier hour of the date that failed is no reason to leave the night of the date out
            if turn.night in owed or any(_inside(slot, moment) for moment in taken):
                continue
            if not self.gathered.came(slot.after, slot.until):
                skipped.append((turn, NO_BAR))
            elif self.policy.missed == "skip":
                skipped.append((turn, "it was missed (catch_up.missed: skip)"))
            else:
                run.append(turn)
        over = len(run) - self.policy.most
        if over > 0:
            skipped += [
                (turn, f"more than {self.policy.most} nights were missed (catch_up.most)") for turn in run[:over]
            ]
            run = run[over:]
        return run, [(turn, why) for turn, why in skipped if (turn.night, why) not in told]

    def _late(self, held: Sequence[NightEntry], last: dict[str, NightEntry]) -> tuple[dict[str, Turn], str]:
        """Return the nights that lacked bars that have come since the last run, and what is left of them."""
        if not held:
            return {}, ""
        reading = self.gathered.reading
        present = {old: new for old, new in followed(reading.aliases).items() if new in reading.symbols}
        known = max(entry.data_version for entry in held)
        come = late_bars(reading.folder, reading.interval, [*reading.symbols, *present], known, reading.version)
        final = come["end"] + self.calendar.settle
        turns = []
        for entry in sorted(last.values(), key=lambda entry: entry.as_of):
            lacked = come["symbol"][final <= pd.Timestamp(entry.known_at)]
            if len(lacked) and _stands(entry, last.values()):
                reason = CAME if entry.reason == NO_BAR else _because(lacked)
                turns.append(replace(_resumed(entry), reason=reason, remade=_remade(entry, lacked, present)))
        if self.policy.late == "leave":
            said = f"{counted(len(turns), 'night')} lacked bars that have come since (catch_up.late: leave)"
            return {}, said if turns else ""
        over = len(turns) - self.policy.most
        said = f"{counted(over, 'earlier night')} lacked bars that have come since (catch_up.most: {self.policy.most})"
        return {turn.night: turn for turn in turns[max(over, 0) :]}, said if over > 0 else ""


def _resumed(entry: NightEntry) -> Turn:
    failed = f"tried again, because it failed ({entry.reason})"
    reason = failed if entry.state == "failed" else entry.reason or UNFINISHED
    return Turn(pd.Timestamp(entry.night), pd.Timestamp(entry.known_at), reason=reason, remade=entry.remade)


def _again(tonight: Turn, late: Turn | None, last: NightEntry | None) -> Turn:
    """Say of tonight's night why it is made again, and of which series, if it is."""
    if late is None and last is not None and (last.owed or (last.remade and last.state == "failed")):
        late = _resumed(last)
    return tonight if late is None else replace(tonight, reason=late.reason, remade=late.remade)


def _stands(entry: NightEntry, others: Iterable[NightEntry]) -> bool:
    """Say whether late bars make a night again: it stands, waits for its first bar, or is to be made again anyhow."""
    if entry.state == "skipped":
        return entry.reason == NO_BAR
    if entry.state != "done":
        return bool(entry.remade)
    # a later one of the same date took the place of its forecasts
    return not any(one.state == "done" and one.stamp == entry.stamp and one.as_of > entry.as_of for one in others)


def _remade(entry: NightEntry, lacked: Iterable[str], present: Mapping[str, str]) -> tuple[str, ...]:
    """Return the series to be made again: those that lacked bars now, or did before and were not made again yet."""
    if entry.state == "skipped":
        return ()
    before = () if entry.state == "done" else entry.remade
    return tuple(sorted({*before, *(present.get(name, name) for name in lacked)}))


def _inside(slot: Slot, moment: pd.Timestamp) -> bool:
    return bool(slot.after < moment <= slot.until)


def _because(symbols: Iterable[str]) -> str:
    listed = list(symbols)
    names = list(dict.fromkeys(listed))
    more = f" and {counted(len(names) - _NAMED, 'other')}" if len(names) > _NAMED else ""
    return f"made again because of {counted(len(listed), 'late bar')} of {', '.join(names[:_NAMED])}{more}"
