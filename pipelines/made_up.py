"""Earlier nights that a run dealt with, in words and for machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.outcome import Exit
from pipelines.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from fints.bars.nights import NightEntry

_NAMED = 3  # symbols that are named where many fail


@dataclass(frozen=True, slots=True)
class MadeUp:
    """An earlier night that a run made up for, skipped or gave up.

    Parameters
    ----------
    entry : NightEntry
        As entered last.
    failed : mapping of str to str
        Symbols that it lacks because the source did not deliver them, with the cause.
    """

    entry: NightEntry
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def wanting(self) -> bool:
        """Whether it failed, or symbols are left out of it."""
        return self.entry.state == "failed" or (self.entry.state == "done" and self.entry.exit_code == Exit.PARTLY)

    def __str__(self) -> str:
        why = f": {self.entry.reason.rstrip('.')}" if self.entry.reason else ""
        lacking = f"{causes(self.failed).rstrip('.')}." if self.failed else ""
        return f"Night as of {self.entry.as_of:%a %Y-%m-%d %H:%M} UTC: {self.entry.state}{why}.{lacking}"

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {**self.entry.to_json(), "done_before": False, "failed": dict(self.failed)}


def causes(failed: Mapping[str, str]) -> str:
    """Say in a sentence that follows another what was not delivered, and why; empty where all was."""
    if not failed:
        return ""
    listed = "; ".join(f"{symbol}: {cause}" for symbol, cause in list(failed.items())[:_NAMED])
    more = f"; and {counted(len(failed) - _NAMED, 'other')}" if len(failed) > _NAMED else ""
    return f" Not delivered: {listed}{more}"


def made_again(late: Iterable[str], made: Collection[str], left: Collection[str]) -> str:
    """Say which forecasts a night that is made again has anew, for the first time, and from before.

    Parameters
    ----------
    late : iterable of str
        Series whose bars came late.
    made : collection of str
        Series that it forecasts now.
    left : collection of str
        Series whose forecasts it leaves.
    """
    anew = list(late)
    new = sorted(set(made) - set(left) - set(anew))
    first = f" For the first time, since they were not forecast before: {', '.join(new)}." if new else ""
    others = f"Those of {len(left)} other series stay as they were first made."
    return f"Made again: the forecasts of {', '.join(anew)}.{first} {others}"
