"""What a night has to say of the model that it used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from fints.champion.decision import Decision


@dataclass(frozen=True, slots=True)
class Ruling:
    """Which model a night used, and why.

    Parameters
    ----------
    in_use : str
        Name of the forecaster that was shipped.
    version : str
    since : pandas.Timestamp
        As-of of the decision that put it there.
    provisional : bool
        Whether it was chosen on the hold-out alone.
    sentences : tuple of str
        Why this model, how its challenger stands, and what else has to be said.
    events : tuple of Decision
        What was decided for this night.
    recent : tuple of Decision
        The last decisions up to this night, the newest first.
    damage : str
        Why the decisions could not be read, where the baseline stands in for that; empty where they could.
    """

    in_use: str
    version: str
    since: pd.Timestamp
    provisional: bool = False
    sentences: tuple[str, ...] = ()
    events: tuple[Decision, ...] = ()
    recent: tuple[Decision, ...] = ()
    damage: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``--json``."""
        return {
            "in_use": self.in_use,
            "version": self.version,
            "since": self.since.isoformat(),
            "provisional": self.provisional,
            "sentences": list(self.sentences),
            "events": [decision.to_plain() for decision in self.events],
            "recent": [decision.to_plain() for decision in self.recent],
            "damage": self.damage,
        }
