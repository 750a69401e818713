"""A night that is done already, and that need not be run again."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fints.errors import DamagedBookError
from pipelines.night_changes import STOPPED
from pipelines.night_ledger import newest, stored_result
from pipelines.publish import forecast_records
from pipelines.succession import Succession
from pipelines.unshown import UnshownNight

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from fints.bars.nights import NightEntry
    from fints.bars.store import BarStore
    from pipelines.home import Home


@dataclass(frozen=True, slots=True, eq=False)
class StandingNight:
    """What an earlier run left, whole.

    Parameters
    ----------
    entry : NightEntry
    page : Path
    result : dict
        As for machines.
    warnings : tuple of str
        What is not in order beside it.
    """

    entry: NightEntry
    page: Path
    result: dict[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """The code that the run ended with."""
        return int(self.entry.exit_code or 0)

    def to_json(self) -> dict[str, object]:
        """Return what the run returned, and what is not in order now."""
        if not self.warnings:
            return self.result
        return {**self.result, "warnings": [*(self.result.get("warnings") or ()), *self.warnings]}

    def __str__(self) -> str:
        return (
            f"the night of {self.entry.night} is done, and nothing was to do: it was made at "
            f"{self.entry.made_at:%Y-%m-%d %H:%M} UTC from version {self.entry.data_version} of the bars with the same "
            "configuration; --again runs it anew"
        )


def standing(
    drafted: NightEntry, entries: Sequence[NightEntry], store: BarStore, home: Home, targets: Sequence[str]
) -> tuple[StandingNight | UnshownNight | None, str]:
    """Look whether a night is done, would come out the same, and all that it left is there.

    Parameters
    ----------
    drafted : NightEntry
        The night as it would be entered.
    entries : sequence of NightEntry
        Of its ledger.
    store : BarStore
    home : Home
    targets : sequence of str
        That it forecasts.

    Returns
    -------
    night : StandingNight, UnshownNight or None
    reason : str
        Why a night that is done, or its report alone, is made again; empty where it is not done so, or stands.
    """
    last = newest(entries).get(drafted.night)
    done = [entry for entry in entries if entry.state == "done" and _key(entry) == _key(drafted)]
    if not done or last is None or (last.owed and last.made_at != done[-1].made_at):
        return None, STOPPED if done else ""
    entry, page = done[-1], home.root / done[-1].page
    if _decided_since(entry, home, targets):
        return None, "made again because a person has put another model in use since"
    rows = whole_forecasts(entry, store)
    if rows.empty:
        said = "made again because its forecasts are gone, or another night of the same date took their place"
        replaced = last.state == "done" and last.made_at != entry.made_at  # by another run of it, which says more
        return None, "" if replaced else said
    result = result_of(entry, page)
    if result is not None and _mended(result, entry, home, targets):
        return None, "made again because the decisions about its model can be read again"
    wrong = _wrong(page, result)
    if wrong or result is None:
        return UnshownNight(entry, rows, result or {}), f"shown anew, because {wrong}"
    return StandingNight(entry, page, {**result, "forecasts": forecast_records(rows), "report": str(page)}), ""


def fault_of_report(entry: NightEntry, home: Home) -> str:
    """Say what is wrong with the report of a night that is done; empty where it is whole."""
    page = home.root / entry.page
    return _wrong(page, result_of(entry, page))


def result_of(entry: NightEntry, page: Path) -> dict[str, Any] | None:
    """Return the stored result of a run of a night; None where it is gone or damaged, or another run's."""
    try:
        result = json.loads(stored_result(page).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) and result.get("made_at") == entry.made_at.isoformat() else None


def told_before(begun: NightEntry, entries: Sequence[NightEntry], home: Home) -> dict[str, Any] | None:
    """Return the stored result of the last run of a night that left one; None where it is gone or damaged.

    That may be of a run that was killed before it was entered as done.
    """
    runs = [entry for entry in reversed(entries) if entry.night == begun.night]
    page = next((home.root / entry.page for entry in runs if entry.page), None)
    found = (result_of(entry, page) for entry in runs) if page is not None else iter(())
    return next((result for result in found if result is not None), None)


def unread(result: dict[str, Any]) -> tuple[str, ...]:
    """Return the targets whose decisions a night could not read, so that the baseline stood in."""
    models = dict(result.get("models") or {})
    return tuple(str(target) for target, ruling in models.items() if dict(ruling or {}).get("damage"))


def digest_of(page: Path) -> str:
    """Return the hash by which a report is known to be what was written."""
    return sha256(page.read_bytes()).hexdigest()


def forecasts_of(entry: NightEntry, store: BarStore, version: int | None = None) -> pd.DataFrame:
    """Return the forecasts that a run of a night stored, of the newest version of their table by default."""
    rows = _of_date(entry, store, version)
    return rows[rows["created_at"] == entry.made_at].reset_index(drop=True)


def left_standing(
    begun: NightEntry, entries: Sequence[NightEntry], store: BarStore, stamp: pd.Timestamp
) -> pd.DataFrame:
    """Return the stored forecasts that a night leaves as they were first made, because it remakes others alone.

    Parameters
    ----------
    begun : NightEntry
    entries : sequence of NightEntry
        Of its ledger.
    store : BarStore
    stamp : pandas.Timestamp
        Of the night.
    """
    rows = _of_date(replace(begun, stamp=stamp), store)
    mine = {entry.made_at for entry in entries if entry.state == "done" and entry.night == begun.night}
    left = rows["created_at"].isin(mine) & ~rows["unique_id"].isin(begun.remade)
    return rows[left & bool(begun.remade)].reset_index(drop=True)


def first_made(begun: NightEntry, store: BarStore, stamp: pd.Timestamp) -> pd.Timestamp | None:
    """Return when the oldest stored forecasts of a night were made; None where there are none."""
    rows = _of_date(replace(begun, stamp=stamp), store)
    first: pd.Timestamp = rows["created_at"].min()
    return None if rows.empty else first


def another_night(begun: NightEntry, entries: Sequence[NightEntry], home: Home, targets: Sequence[str]) -> bool:
    """Say whether a night has other settings, sessions to come or models than when it was done last."""
    done = [entry for entry in entries if entry.state == "done" and entry.night == begun.night]
    if not done:
        return True
    same = (done[-1].config, done[-1].calendar) == (begun.config, begun.calendar)
    return not same or _decided_since(done[-1], home, targets)


def _of_date(entry: NightEntry, store: BarStore, version: int | None = None) -> pd.DataFrame:
    rows = store.read_forecasts(as_of=entry.stamp, dataset=entry.dataset, version=version)
    return rows[rows["interval"] == entry.interval]


def whole_forecasts(entry: NightEntry, store: BarStore) -> pd.DataFrame:
    """Return all forecasts of a night that is done; none where they are gone, or another night's took their place."""
    if not entry.remade:
        return forecasts_of(entry, store)
    rows = _of_date(entry, store)
    mine = rows["created_at"] <= entry.made_at
    return rows[mine & bool(mine.all())].reset_index(drop=True)


def _wrong(page: Path, result: dict[str, Any] | None) -> str:
    """Say what is wrong with the report of a night; empty where it is whole."""
    if not page.is_file():
        return "its report is gone"
    if result is None:
        return "its stored result is gone or damaged, or that of another night took its place"
    if not result.get("report_sha256"):
        return "no hash of its report is on record"
    return "" if digest_of(page) == result["report_sha256"] else "its report is damaged or cut short"


def _mended(result: dict[str, Any], entry: NightEntry, home: Home, targets: Sequence[str]) -> bool:
    """Say whether decisions that the night could not read can be read now, about whichever target."""
    return any(_readable(home, entry, target) for target in unread(result) if target in targets)


def _readable(home: Home, entry: NightEntry, target: str) -> bool:
    try:
        Succession.book_under(home.models, (entry.dataset, entry.interval, target)).read()
    except DamagedBookError:
        return False
    return True


def _decided_since(entry: NightEntry, home: Home, targets: Sequence[str]) -> bool:
    """Say whether a person decided about the model of a night after it was made: that holds from this night on."""
    read = [target for target in targets if _readable(home, entry, target)]  # of the others nothing can be said
    books = [Succession.book_under(home.models, (entry.dataset, entry.interval, target)) for target in read]
    return any(
        decision.made_at > entry.made_at
        and decision.by != "night"
        and decision.as_of <= (entry.stamp or decision.as_of)
        for book in books
        for decision in book.read()
    )


def _key(entry: NightEntry) -> tuple[str, int, str, str]:
    return entry.night, entry.data_version, entry.config, entry.calendar
