"""Why a night that is done is another one now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fints.report.shortfalls import named
from pipelines.night_identity import hashes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fints.bars.nights import NightEntry
    from fints.settings import NightlySettings

    Result = dict[str, Any] | None

ASKED_AGAIN = "made again because --again asked for it"
STOPPED = "made again because the run that was making it again was stopped"


def what_changed(
    drafted: NightEntry,
    entries: Sequence[NightEntry],
    settings: NightlySettings,
    result: Callable[[NightEntry], Result],
) -> str:
    """Say why a night that was done is made again: what it would be made from is not what it was made from.

    Parameters
    ----------
    drafted : NightEntry
        The night as it would be entered.
    entries : sequence of NightEntry
        Of its ledger.
    settings : NightlySettings
        Those of now.
    result : callable
        Gives the stored result of a night that is done; None where it is gone.

    Returns
    -------
    str
        As it goes on behind "the night is"; empty where it was never done, or nothing changed.
    """
    done = [entry for entry in entries if entry.state == "done" and entry.night == drafted.night]
    if not done:
        return _done_by_another_name(drafted, entries)
    last, why = done[-1], []
    if last.data_version != drafted.data_version:
        why.append(
            f"it was made from version {last.data_version} of the bars, and {drafted.data_version} is the newest"
        )
    if last.config != drafted.config:
        why.append(_other_configuration(last, drafted) or _other_settings(settings, result(last)))
    elif last.calendar != drafted.calendar:
        why.append("other sessions to come are known: a closure was announced, or the calendars were upgraded")
    return f"made again because {'; and '.join(why)}" if why else ""


def _other_configuration(last: NightEntry, drafted: NightEntry) -> str:
    """Say whether another version of fints, or other symbols, make the night another one."""
    if last.fints != drafted.fints:
        return f"fints {last.fints} made it, and this is {drafted.fints}"
    before, now = set(last.symbols), set(drafted.symbols)
    moved = [(sorted(now - before), "came"), (sorted(before - now), "went")]
    said = [f"{named(names)} {word}" for names, word in moved if names]
    return f"the symbols are others: {'; '.join(said)}" if said else ""


def _other_settings(settings: NightlySettings, result: Result) -> str:
    """Name the settings that are others than when a night was made, where that is on record."""
    now, then = hashes_of(settings), dict((result or {}).get("settings") or {})
    others = [name for name in {**now, **then} if now.get(name) != then.get(name)]
    return f"other settings are given: {', '.join(others)}" if then and others else "other settings are given"


def _done_by_another_name(drafted: NightEntry, entries: Sequence[NightEntry]) -> str:
    """Name the night of the same date that is done: a date and an instant of it are two nights."""
    if "T" in drafted.night:
        return ""
    others = [entry for entry in entries if entry.state == "done" and entry.stamp is not None]
    same = [entry.night for entry in others if f"{entry.stamp:%Y-%m-%d}" == drafted.night and "T" in entry.night]
    if not same:
        return ""
    return (
        f"made under the name of its date, beside the one that is done as {same[-1]}: to look at that one, ask for it "
        f"with --as-of {same[-1]}"
    )
