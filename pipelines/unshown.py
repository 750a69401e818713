"""A night that is done, and whose report alone is written again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from pipelines.difference import first_difference
from pipelines.outcome import Exit
from pipelines.publish import forecast_rows
from pipelines.undelivered import Undelivered

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
        differs = first_difference(*self._of_its_run(night))
        if differs:
            said += (
                f" Made from the same bars now, they would differ ({differs}): what is said of models here is of now."
            )
        told = Undelivered.told(self.result) if self.result else Undelivered(night.failed, night.misplaced)
        known_at = pd.Timestamp(self.entry.known_at) if self.entry.known_at else night.as_of.known_at
        return replace(
            night,
            as_of=replace(night.as_of, known_at=known_at),
            left=self.rows,
            shown_again=True,
            failed=dict(told.failed),
            misplaced=dict(told.misplaced),
            remarks=tuple(dict.fromkeys((*night.remarks, said, *map(str, self.result.get("remarks") or ())))),
        )

    def partly(self, *, found: bool) -> bool:
        """Say whether data lacked when the night was made; what this run found counts where its result is gone."""
        return self.entry.exit_code == Exit.PARTLY or (found and not self.result)

    def _of_its_run(self, night: Night) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return what is made now beside what the run stored: what it left was made from the bars of before."""
        made = pd.concat([forecast_rows(target) for target in night.targets], ignore_index=True)
        stored = self.rows[self.rows["created_at"] == self.entry.made_at].reset_index(drop=True)
        if self.entry.remade:
            made = made[made["unique_id"].isin(stored["unique_id"])].reset_index(drop=True)
        return made, stored
