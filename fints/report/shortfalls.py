"""What a night lacks, in words: symbols that were not delivered, series behind, bars that have not come."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.revision import is_restatement
from fints.report.tables import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.report.nightly import NightlyReport

MOST_NAMED = 5
"""Symbols that are named one by one; of more the number is said."""

MOST_TOLD = 3
"""Symbols that are named behind a count of findings, and bars set aside that are told with their reason."""

_NOT_COME = "stale"


def not_delivered(report: NightlyReport) -> Table:
    """List the symbols that the source did not deliver, and why."""
    rows = tuple((Cell(symbol, strong=True), Cell(cause)) for symbol, cause in report.failed.items())
    return Table(("Symbol", "Reason"), rows, "Symbols that the source did not deliver")


def misplaced(report: NightlyReport) -> Table:
    """List the symbols that are held at an exchange which was shut on days of their bars."""
    rows = tuple((Cell(symbol, strong=True), Cell(why)) for symbol, why in report.misplaced.items())
    return Table(("Symbol", "Reason"), rows, "Symbols whose exchange is in doubt")


def reasons(report: NightlyReport) -> tuple[str, ...]:
    """Say of the series that are left out which and why; of many the first few."""
    rows = report.problems
    gone = rows[rows["left_out"].astype(bool)] if "left_out" in rows.columns else rows
    said = [
        f"{row['unique_id']}{f', {target}' if isinstance(target := row.get('target'), str) and target else ''}: "
        f"{row['reason']}"
        for _, row in gone.iterrows()
    ]
    left = len(said) - MOST_NAMED
    return (*said[:MOST_NAMED], *([f"{left} more are listed below"] if left > 0 else []))


def restated(report: NightlyReport) -> tuple[str, ...]:
    """Return the notes that tell which bars were restated."""
    return tuple(note for note in report.notes if is_restatement(note))


def other_notes(report: NightlyReport) -> tuple[str, ...]:
    """Return the notes that tell of anything else."""
    return tuple(note for note in report.notes if not is_restatement(note))


def behind_in_words(report: NightlyReport) -> str:
    """Say which series are behind; empty where none is."""
    names = report.behind()
    return f"not up to date: {named(names)}" if names else ""


def findings_in_words(findings: pd.DataFrame) -> str:
    """Say in one line what the data checks found: which bars have not come or were set aside, and counts of the rest.

    A session that a symbol lacks because its bar came and is in quarantine is told as that, with the reason.

    Parameters
    ----------
    findings : pandas.DataFrame
        As `fints.bars.finding.findings_frame` gives.
    """
    if findings.empty:
        return "data: no findings"
    late = _spans(findings[findings["kind"] == _NOT_COME])
    aside = _set_aside(findings, late)
    told = aside[aside["first"] == aside["last"]]
    said = [*_in_quarantine(aside), *_not_come(late[~late.index.isin(told["lacking"])])]
    rest = findings.drop(index=[*late.index, *aside["place"]])
    for severity, found in rest.groupby("severity"):
        names = sorted(map(str, found["symbol"].unique()))
        said.append(f"{len(found)} {_counted(str(severity), len(found))}: {named(names, MOST_TOLD)}")
    return f"data: {'; '.join(said)} (listed in the report)"


def named(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Name a handful; of more, the first ones and how many others there are."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def _spans(late: pd.DataFrame) -> pd.DataFrame:
    """Give each finding of sessions that have not come the first and the last of them, as ISO dates."""
    told = [json.loads(values) for values in late["values"]]
    bounds = {name: pd.Series([str(one[name]) for one in told], late.index, dtype="str") for name in ("first", "last")}
    return late[["symbol", "interval"]].assign(**bounds)


def _set_aside(findings: pd.DataFrame, late: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in quarantine whose sessions their series lacks: where they and what lacks them are listed."""
    held = findings[(findings["severity"] == "quarantine") & findings["session"].notna()]
    held = held[["symbol", "interval", "reason"]].assign(
        place=held.index, day=held["session"].dt.strftime("%Y-%m-%d").astype("str")
    )
    both = held.merge(late.assign(lacking=late.index), on=["symbol", "interval"])
    return both[(both["first"] <= both["day"]) & (both["day"] <= both["last"])]


def _in_quarantine(aside: pd.DataFrame) -> list[str]:
    """Say which bars came and were set aside, and why; of many the first few."""
    rows = aside.drop_duplicates(["symbol", "interval", "day"])
    said = [
        f"{symbol}: its bar of {day} is in quarantine: {reason}"
        for symbol, day, reason in rows[["symbol", "day", "reason"]].head(MOST_TOLD).itertuples(index=False)
    ]
    left = len(rows) - len(said)
    return [*said, f"{left} more of such bars in quarantine"] if left else said


def _not_come(late: pd.DataFrame) -> list[str]:
    """Take together the symbols that lack the same sessions, the newest first."""
    by: dict[tuple[str, str], list[str]] = {}
    for symbol, first, last in late[["symbol", "first", "last"]].itertuples(index=False):
        by.setdefault((first, last), []).append(str(symbol))
    return [
        f"no bar yet of {first if first == last else f'{first} to {last}'}: {named(sorted(symbols))}"
        for (first, last), symbols in sorted(by.items(), reverse=True)
    ]


def _counted(severity: str, count: int) -> str:
    """Put a severity in the plural where it is a noun."""
    nouns = {"gap": "gaps", "suspect": "suspects", "quarantine": "in quarantine"}
    return nouns.get(severity, severity) if count > 1 or severity == "quarantine" else severity
