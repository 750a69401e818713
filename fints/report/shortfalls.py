"""What a night lacks, in words: symbols that were not delivered, series behind, bars that have not come."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fints.report.tables import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fints.report.nightly import NightlyReport

MOST_NAMED = 5
"""Symbols that are named one by one; of more the number is said."""

_NOT_COME = "stale"


def not_delivered(report: NightlyReport) -> Table:
    """List the symbols that the source did not deliver, and why."""
    rows = tuple((Cell(symbol, strong=True), Cell(cause)) for symbol, cause in report.failed.items())
    return Table(("Symbol", "Reason"), rows, "Symbols that the source did not deliver")


def misplaced(report: NightlyReport) -> Table:
    """List the symbols that are held at an exchange which was shut on days of their bars."""
    rows = tuple((Cell(symbol, strong=True), Cell(why)) for symbol, why in report.misplaced.items())
    return Table(("Symbol", "Reason"), rows, "Symbols whose exchange is in doubt")


def behind_in_words(report: NightlyReport) -> str:
    """Say which series are behind; empty where none is."""
    names = report.behind()
    return f"not up to date: {named(names)}" if names else ""


def findings_in_words(findings: pd.DataFrame) -> str:
    """Say in one line what the data checks found: which bars have not come, by symbol, and counts of the rest.

    Parameters
    ----------
    findings : pandas.DataFrame
        As `fints.bars.finding.findings_frame` gives.
    """
    if findings.empty:
        return "data: no findings"
    late = findings["kind"] == _NOT_COME
    said = _not_come(findings[late])
    counts = findings.loc[~late, "severity"].value_counts().sort_index()
    said += [f"{count} {_counted(str(severity), int(count))}" for severity, count in counts.items()]
    return f"data: {'; '.join(said)} (listed in the report)"


def named(names: Sequence[str]) -> str:
    """Name a handful; of more, the first ones and how many others there are."""
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"


def _not_come(late: pd.DataFrame) -> list[str]:
    """Take together the symbols that lack the same sessions, the newest first."""
    by: dict[tuple[str, str], list[str]] = {}
    for symbol, values in zip(late["symbol"], late["values"], strict=True):
        told = json.loads(values)
        by.setdefault((str(told["first"]), str(told["last"])), []).append(str(symbol))
    return [
        f"no bar yet of {first if first == last else f'{first} to {last}'}: {named(sorted(symbols))}"
        for (first, last), symbols in sorted(by.items(), reverse=True)
    ]


def _counted(severity: str, count: int) -> str:
    """Put a severity in the plural where it is a noun."""
    nouns = {"gap": "gaps", "suspect": "suspects", "quarantine": "in quarantine"}
    return nouns.get(severity, severity) if count > 1 or severity == "quarantine" else severity
