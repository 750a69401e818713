"""Checks of what nights leave and need again: decisions about models, fits, promises, the ledger, the last report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.champion import standing
from fints.errors import BOOK_CURE, DamagedBookError, FintsError, StoreError
from pipelines.doctor import Found
from pipelines.shelf import Shelf
from pipelines.succession import Succession
from pipelines.terminal import counted
from pipelines.verification_book import PROMISES_CURE, PromiseBook

if TYPE_CHECKING:
    from fints.bars.nights import NightEntry
    from fints.champion import Book, Standing
    from pipelines.doctor import Patient

UNKNOWN = Found("warning", "not known, for the ledger cannot be read", "See what the check of the ledger says")
"""Of what is read off the ledger, where that is damaged: its own check fails and has the cure."""

_NAMED = 3  # faults that are named where there are many
_LOOKED_BACK = 250  # nights


def books(patient: Patient) -> Found:
    """Find out whether the decisions about the model of each target can be read."""
    damaged, count = [], 0
    for target in patient.settings.targets:
        try:
            count += len(_book(patient, target).read())
        except DamagedBookError as error:
            where = f"line {error.line} of {error.file}" if error.line else str(error.file)
            damaged.append(f"{target}: {where} cannot be read ({error.cause})")
    if damaged:
        return Found("failed", f"{_listed(damaged)}; HAR stands in meanwhile", BOOK_CURE)
    return Found("ok", f"{counted(count, 'decision')} about {counted(len(patient.settings.targets), 'target')}")


def models(patient: Patient) -> Found:
    """Find out whether the fits under these settings are whole: description, weights under their hash, hold-out."""
    wrong, lost, count = [], False, 0
    for target in patient.settings.targets:
        shelf = Shelf.under(patient.home.models, patient.settings.dataset, target, patient.settings.digest)
        roles = _roles(_standing(patient, target, shelf))
        for key in dict.fromkeys([*roles, *shelf.keys()]):
            count += 1
            fault = shelf.fault(key)
            if fault:
                lost |= roles.get(key) == "champion"
                wrong.append(f"{target}: the {roles.get(key, 'fit')} {key} cannot be used: {fault}")
    if wrong:
        cure = (
            "Restore the folder from a backup, or leave it to the next night: it fits the model again from the same "
            "rows, or takes it from the registry, or HAR stands in for it, and it says which"
        )
        return Found("failed" if lost else "warning", _listed(wrong), cure)
    return Found("ok", f"{counted(count, 'fit')}, whole" if count else "no fit of these settings yet")


def promises(patient: Patient) -> Found:
    """Find out whether what earlier nights promised can be read."""
    book = PromiseBook.under(patient.home, patient.settings)
    nights, damaged = book.nights()[-_LOOKED_BACK:], []
    for night in nights:
        try:
            book.read(night)
        except StoreError as error:
            damaged.append(str(error))
    if damaged:
        return Found("failed", f"cannot be read: {_listed(damaged)}", PROMISES_CURE)
    return Found("ok", f"of {counted(len(nights), 'night')}" if nights else "of no night yet")


def ledger(patient: Patient) -> Found:
    """Find out whether the ledger of nights can be read, and no two programs wrote to it."""
    from pipelines.night_ledger import NightLedger

    if not patient.home.store.exists():
        return Found("ok", "no night yet")
    try:
        entries = NightLedger.under(patient.home, patient.settings).entries()
    except FintsError as error:
        cure = (
            f"Restore {patient.home.store / 'nights'} from a backup, or move it away: the nights that are done are not "
            "known any more then, and nothing that was missed is made up for"
        )
        return Found("failed", f"it cannot be read: {error}", cure)
    numbers = [entry.number for entry in entries]
    if len(set(numbers)) < len(numbers):
        cure = f"Restore {patient.home.store / 'nights'} from a backup: two programs wrote to it"
        return Found("failed", "lines of it have the same number", cure)
    done = len({entry.night for entry in entries if entry.state == "done"})
    return Found("ok", f"{counted(len(entries), 'line')}, {counted(done, 'night')} done")


def report(patient: Patient) -> Found:
    """Find out whether the forecasts and the report of the last night that is done are whole."""
    from fints.bars.store import BarStore
    from pipelines.night_standing import fault_of_report, whole_forecasts

    entries = entries_of(patient)
    last = _last_done(entries or ())
    if last is None:
        return UNKNOWN if entries is None else Found("ok", "no night is done yet")
    try:
        gone = whole_forecasts(last, BarStore(patient.home.store)).empty
    except StoreError:
        return Found("warning", "not known, for the forecasts cannot be read", "See what the check of the store says")
    if gone:
        told = f"the forecasts of the night of {last.night} are gone, or another night took their place"
        return Found("warning", told, f"Make that night again with `fints nightly --as-of {last.night}`")
    fault = fault_of_report(last, patient.home)
    if fault:
        told = f"the night of {last.night}: {fault} ({patient.home.root / last.page})"
        cure = (
            f"Run `fints nightly --as-of {last.night}`: the report alone is written again; where bars have come since, "
            "the whole night is made again, and what it said first still counts"
        )
        return Found("warning", told, cure)
    return Found("ok", f"forecasts and report of the night of {last.night} are whole")


def entries_of(patient: Patient) -> tuple[NightEntry, ...] | None:
    """Return the entries of the ledger; None where it cannot be read, which is told by its own check."""
    from pipelines.night_ledger import NightLedger

    if not patient.home.store.exists():
        return ()
    try:
        return NightLedger.under(patient.home, patient.settings).entries()
    except FintsError:
        return None


def _book(patient: Patient, target: str) -> Book:
    return Succession.book_under(patient.home.models, (patient.settings.dataset, patient.settings.interval, target))


def _standing(patient: Patient, target: str, shelf: Shelf) -> Standing | None:
    try:
        return standing(_book(patient, target).read(), shelf.folder.name)
    except DamagedBookError:  # told by the check of books
        return None


def _roles(state: Standing | None) -> dict[str, str]:
    """Say by the name of its rows what each fit is that may be asked for again."""
    if state is None:
        return {}
    named = {"champion": state.champion, "challenger": state.challenger, "fallen champion": state.fallen}
    roles = {seat.key: role for role, seat in reversed(named.items()) if seat is not None and not seat.is_baseline}
    return {**roles, **{seat.key: "earlier champion" for seat in state.before if seat.key not in roles and seat.until}}


def _last_done(entries: tuple[NightEntry, ...]) -> NightEntry | None:
    return next((entry for entry in reversed(entries) if entry.state == "done"), None)


def _listed(faults: list[str]) -> str:
    more = f"; and {len(faults) - _NAMED} more" if len(faults) > _NAMED else ""
    return "; ".join(faults[:_NAMED]) + more
