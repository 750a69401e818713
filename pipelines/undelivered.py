"""Symbols that were not delivered, and exchanges that are doubted, as far as they concern a night.

Tonight's night was gathered for, and says all that its ingest met. An earlier night that is made now for the first time
lacks what this run's ingest did not deliver, unless its own bars are there: those of a symbol that failed only today
were delivered before. One that is made again for single series was made from another delivery: what that did not
deliver it lacks still, but for what has come since.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fints.bars.aliases import followed
from pipelines.behind import newest_over

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from fints.bars.ingest import IngestReport
    from pipelines.asof import AsOf
    from pipelines.night_begun import Doing
    from pipelines.publish import Night
    from pipelines.target import TargetNight


@dataclass(frozen=True, slots=True)
class Undelivered:
    """What a night has to say of its delivery.

    Parameters
    ----------
    failed : mapping of str to str
        Symbols that the source did not deliver, with the cause.
    misplaced : mapping of str to str
        Symbols whose exchange is doubted, with the reason.
    """

    failed: Mapping[str, str] = field(default_factory=dict)
    misplaced: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def told(cls, result: Mapping[str, Any]) -> Undelivered:
        """Return what the stored result of a night says."""
        found = [dict(result.get(name) or {}) for name in ("failed", "misplaced")]
        return cls(*({str(symbol): str(why) for symbol, why in one.items()} for one in found))

    def again(self, now: Undelivered, remade: Collection[str]) -> Undelivered:
        """Return it as it is told by the same night made again for some series, whose exchanges are seen anew."""
        before = {symbol: why for symbol, why in self.misplaced.items() if symbol not in remade}
        anew = {symbol: why for symbol, why in now.misplaced.items() if symbol in remade}
        return Undelivered(self.failed, before | anew)

    def lacking(self, up_to_date: Collection[str], aliases: Mapping[str, str]) -> Undelivered:
        """Leave out the symbols whose bars are there, under their present name, too."""
        present = followed(aliases)
        failed = {name: why for name, why in self.failed.items() if present.get(name, name) not in up_to_date}
        return Undelivered(failed, self.misplaced)


def undelivered(
    doing: Doing, report: IngestReport, targets: Iterable[TargetNight], told: Mapping[str, Any] | None
) -> Undelivered:
    """Say what a night lacks of a delivery.

    Parameters
    ----------
    doing : Doing
    report : IngestReport
        Of this run.
    targets : iterable of TargetNight
        Its forecasts.
    told : mapping, optional
        What was stored of an earlier run of it, where it is made again for single series; None where that is gone.
    """
    now = Undelivered(dict(report.failed), report.doubted())
    if doing.own:
        return now
    found = now if told is None else Undelivered.told(told).again(now, doing.turn.remade)
    return found.lacking(up_to_date(targets, doing.as_of), doing.reading.aliases)


def lacks_something(night: Night, inactive: Collection[str]) -> bool:
    """Say whether a symbol lacks a forecast of a target, was not delivered, or is of a doubted exchange.

    That a series ends whose symbol has ceased to exist is said, and is no fault of every night from then on.
    """
    left_out = night.problems.loc[night.problems["left_out"].astype(bool), "unique_id"]
    return bool({*left_out, *night.failed} - set(inactive) or night.misplaced)


def up_to_date(targets: Iterable[TargetNight], as_of: AsOf) -> set[str]:
    """Return the series of which no bar is forecast, of one target at least, that was over at the as-of already."""
    found = set[str]()
    for target in targets:
        behind = newest_over(target.forecast.to_long(), target.panel, as_of)
        found |= {str(name) for name in target.panel["unique_id"].unique() if name not in behind}
    return found
