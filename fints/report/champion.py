"""Which model is in use, and why: for the page and for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.report.tables import Cell, Table

if TYPE_CHECKING:
    from fints.champion import Ruling, Seat

WORDS = {
    "install": "installed",
    "challenge": "on trial",
    "wait": "judged, nothing settled",
    "promote": "promoted",
    "withdraw": "trial ended",
    "confirm": "confirmed",
    "keep": "looked at, kept",
    "fall_back": "fallen back on",
    "recover": "recovered",
    "rollback": "gone back to",
}
"""What a decision did to the model beside it."""

_SEATING = frozenset({"install", "promote", "fall_back", "recover", "rollback"})
"""What puts the model beside it in use; the others leave it where it is."""

_LOOKS = frozenset({"keep", "wait"})

WHO = {"night": "the night", "hand": "a person", "registry": "a person, in the registry"}


def in_one_line(ruling: Ruling) -> str:
    """Say which model is in use, since when, and on what grounds."""
    grounds = "provisionally, chosen on the hold-out alone" if ruling.provisional else _grounds(ruling)
    untold = _LOOKS if stood_in_for(ruling) is None else _LOOKS | _SEATING
    events = [f"{one.seat.model} {WORDS[one.kind]}" for one in ruling.events if one.kind not in untold]
    tonight = f"; decided tonight: {', '.join(events)}" if events else ""
    return f"Model in use: {ruling.in_use} ({ruling.version}) since {ruling.since:%Y-%m-%d}, {grounds}{tonight}."


def why_in_use(ruling: Ruling) -> tuple[str, ...]:
    """Say why this model is in use, and how its challenger stands or when the next fit is due."""
    seated = next((one for one in ruling.recent if one.kind in _SEATING), None)
    if ruling.damage or seated is None or seated.seat.version != ruling.version:
        return ruling.sentences
    return (seated.why, *ruling.sentences[1:])


def stood_in_for(ruling: Ruling) -> Seat | None:
    """Return the model that was decided on, where another one had to be shipped; None where it was shipped itself."""
    seated = next((one for one in ruling.recent if one.kind in _SEATING), None)
    return None if seated is None or seated.seat.version == ruling.version else seated.seat


def _grounds(ruling: Ruling) -> str:
    """Say what put the model in use; later decisions are about others, or leave it where it is."""
    if ruling.damage:
        return "standing in, for the book of decisions cannot be read"
    lost = stood_in_for(ruling)
    if lost is not None:
        return f"standing in for {lost}, whose files cannot be had"
    own = [one for one in ruling.recent if one.seat.version == ruling.version]
    seated = next((one for one in own if one.kind in _SEATING), None)
    if seated is not None and seated.kind == "fall_back":
        return "standing in for a champion that fell"
    if seated is not None and seated.by != "night":
        return "by hand"
    return "confirmed" if any(one.kind in {*_SEATING, "confirm"} for one in own) else "as decided then"


def decisions_table(ruling: Ruling) -> Table:
    """List the last decisions, the newest first."""
    rows = tuple(
        (
            Cell(f"{one.as_of:%Y-%m-%d}", strong=True),
            Cell(WORDS[one.kind]),
            Cell(str(one.seat)),
            Cell(WHO[one.by]),
            Cell(one.why),
        )
        for one in ruling.recent
    )
    return Table(("Night", "What", "Model", "By", "Why"), rows, "Last decisions")
