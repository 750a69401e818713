"""A night that is done, and whose report alone is written again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from pipelines.difference import first_difference
from pipelines.outcome import Exit
from pipelines.publish import forecast_rows

if TYPE_CHECKING:
    from fints.bars.nights import NightEntry
    from pipelines.publish import Night

_AS_MADE = (
    *("made_at", "known_at", "asked", "remade", "stamp"),
    *("data_version", "actions_version", "forecasts_version"),
)


@dataclass(frozen=True, slots=True, eq=False)
class UnshownNight:
    """A night that is done and whose forecasts are whole, but whose report is not.

    Parameters
    ----------
    entry : NightEntry
    rows : pandas.DataFrame
        Its forecasts, as stored.
    result : dict
        As for machines; empty where it is gone.
    """

    entry: NightEntry
    rows: pd.DataFrame
    result: dict[str, Any]

    def resumed(self, begun: NightEntry) -> NightEntry:
        """Return the entry of a run that writes the report again, with what the forecasts were made from and when.

        By it the night is replayed later.
        """
        return replace(begun, **{name: getattr(self.entry, name) for name in _AS_MADE})

    def shown(self, night: Night) -> Night:
        """Put the stored forecasts into the night, with what was said of them and of the ingest at the time.

        What a later ingest had to say is no matter of theirs; it stands in where the result of the night is gone.
        """
        said = "The report alone was written again; the forecasts stand as they were made."
        made = pd.concat([forecast_rows(target) for target in night.targets], ignore_index=True)
        differs = first_difference(made, self.rows)
        if differs:
            said += (
                f" Made from the same bars now, they would differ ({differs}): what is said of models here is of now."
            )
        known_at = pd.Timestamp(self.entry.known_at) if self.entry.known_at else night.as_of.known_at
        return replace(
            night,
            as_of=replace(night.as_of, known_at=known_at),
            left=self.rows,
            shown_again=True,
            failed=self._told("failed") if self.result else night.failed,
            misplaced=self._told("misplaced") if self.result else night.misplaced,
            remarks=tuple(dict.fromkeys((*night.remarks, said, *map(str, self.result.get("remarks") or ())))),
        )

    def partly(self, *, found: bool) -> bool:
        """Say whether data lacked when the night was made; what this run found counts where its result is gone."""
        return self.entry.exit_code == Exit.PARTLY or (found and not self.result)

    def _told(self, name: str) -> dict[str, str]:
        return {str(symbol): str(why) for symbol, why in dict(self.result.get(name) or {}).items()}
