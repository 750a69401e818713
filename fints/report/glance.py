"""The first look at the forecasts of a night: one line for each series, under the dates that it is forecast for.

Series whose next bars are of different days (other exchanges, other holidays, bars that have not come) stand in tables
of their own, so that a number always stands under its date. A series that is behind has forecasts of bars that were
over at the as-of already; the first look shows those that are still to come, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.report.tables import Cell, Shown, Table, against_usual, band
from fints.report.units import unit_of

if TYPE_CHECKING:
    import pandas as pd

    from fints.report.nightly import NightlyReport, TargetReport
    from fints.report.units import Unit


@dataclass(frozen=True, slots=True)
class _Span:
    """What the series of one table have in common.

    Attributes
    ----------
    nearest, furthest : pandas.Timestamp
        First and last bar shown.
    over : int
        Bars forecast that were over at the as-of.
    whole : bool
        Whether all of them were; they are shown then.
    last : pandas.Timestamp or None
        Last bar of a series that is behind.
    """

    nearest: pd.Timestamp
    furthest: pd.Timestamp
    over: int = 0
    whole: bool = False
    last: pd.Timestamp | None = None

    @classmethod
    def of(cls, target: TargetReport, name: str) -> _Span:
        stamps = list(target.ahead(name)["ds"])
        over = sum(target.is_over(name, ds) for ds in stamps)
        if not over:
            return cls(stamps[0], stamps[-1])
        whole = over == len(stamps)
        last = target.past(name, 1)["ds"].iloc[0]
        return cls(stamps[0 if whole else over], stamps[-1], over, whole, last)

    @property
    def first(self) -> int:
        """Position of the first bar shown."""
        return 0 if self.whole else self.over


def glance(report: NightlyReport, target: TargetReport) -> tuple[Table, ...]:
    """Last value, next bar and furthest bar of every series of a target.

    Parameters
    ----------
    report : NightlyReport
    target : TargetReport

    Returns
    -------
    tuple of Table
        One for each pair of dates, those that are not behind first; otherwise in the order of the series.
    """
    spans = {name: _Span.of(target, name) for name in target.series}
    grouped: dict[_Span, list[str]] = {}
    for name in sorted(spans, key=lambda one: spans[one].over > 0):
        grouped.setdefault(spans[name], []).append(name)
    unit = unit_of(target.target)
    title = f"{unit.title}{f', {unit.unit}' if unit.unit else ''}"
    tables = []
    for span, names in grouped.items():
        ends = [_date(report, ds) + (" (over)" if span.whole else "") for ds in (span.nearest, span.furthest)]
        columns = ("Series", "Last", ends[0], "80 % band", "vs usual", ends[1], "80 % band")
        rows = tuple(_row(target, unit, name, span.first) for name in names)
        tables.append(Table(columns, rows, title + (_which(report, span) if len(grouped) > 1 or span.over else "")))
    return tuple(tables)


def _row(target: TargetReport, unit: Unit, name: str, first: int) -> tuple[Cell, ...]:
    shown = Shown.of(target, name)
    last = float(unit.natural(target.past(name, 1)["y"].to_numpy(float))[0])
    return (
        Cell(name, strong=True),
        Cell(unit.write(last), number=True),
        Cell(unit.write(shown.middle[first]), number=True, strong=True),
        Cell(band(unit, shown.low80[first], shown.high80[first]), number=True),
        Cell(against_usual(shown, first), number=True),
        Cell(unit.write(shown.middle[-1]), number=True),
        Cell(band(unit, shown.low80[-1], shown.high80[-1]), number=True),
    )


def _which(report: NightlyReport, span: _Span) -> str:
    """Say which series a table is of."""
    if span.last is None:
        return f", next {report.bar_word} {_date(report, span.nearest)}"
    gone = f"{span.over} {report.bar_word}{'' if span.over == 1 else 's'}"
    what = "all that is forecast is over" if span.whole else f"{gone} since then {_are(span.over)} over, not shown here"
    return f", behind: last bar {_date(report, span.last)}; {what}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _date(report: NightlyReport, ds: pd.Timestamp) -> str:
    return f"{ds:%a} {ds.day} {ds:%b}" + (f" {ds:%H:%M}" if report.intraday else "")
