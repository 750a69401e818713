"""Which model is in use, and why: for the page and for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.report.tables import Cell, Table

if TYPE_CHECKING:
    from fints.champion import Ruling

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

WHO = {"night": "the night", "hand": "a person", "registry": "a person, in the registry"}


def in_one_line(ruling: Ruling) -> str:
    """Say which model is in use, since when, and on what grounds."""
    grounds = "provisionally, chosen on the hold-out alone" if ruling.provisional else "confirmed"
    if ruling.recent and not ruling.provisional:
        kinds = [one.kind for one in ruling.recent if one.seat.version == ruling.version]
        if kinds and kinds[0] == "fall_back":
            grounds = "standing in for a champion that fell"
        elif kinds and ruling.recent[0].by != "night":
            grounds = "by hand"
    events = [f"{one.seat.model} {WORDS[one.kind]}" for one in ruling.events if one.kind not in {"keep", "wait"}]
    tonight = f"; decided tonight: {', '.join(events)}" if events else ""
    return f"Model in use: {ruling.in_use} ({ruling.version}) since {ruling.since:%Y-%m-%d}, {grounds}{tonight}."


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
