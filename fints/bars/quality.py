"""Quality checks: which rows are bars, which are set aside, which are to be doubted, and what is missing.

Nothing is repaired and nothing is dropped in silence. A row that cannot be true (or not yet) goes to quarantine with
its reason; a doubtful one stays, with a finding; a gap is named by its dates and never filled. The kinds are listed in
``fints.bars.finding.KINDS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.bars.continuity import Expected, expected_bars, find_gaps, off_grid
from fints.bars.finding import KINDS, Finding, Severity, findings_frame
from fints.bars.jumps import find_jumps
from fints.bars.rules import (
    CLOSE_ONLY,
    DUPLICATE,
    MISSING_VOLUME,
    NO_VOLUME,
    NON_SESSION,
    NOT_FINAL,
    OFF_GRID,
    ROW_RULES,
    Rule,
)
from fints.bars.schema import conform_bars, utc_stamps
from fints.bars.verdict import Verdict
from fints.sessions.calendars import SETTLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KINDS", "Finding", "check_bars", "findings_frame"]


def check_bars(
    frame: pd.DataFrame, *, now: pd.Timestamp | None = None, settle: pd.Timedelta = SETTLE
) -> tuple[pd.DataFrame, list[Finding]]:
    """Check bars as a source delivered them.

    Parameters
    ----------
    frame : pandas.DataFrame
        Bars frame in any row order, keys may repeat.
    now : pandas.Timestamp, optional
        Instant against which a bar counts as final; the clock's by default.
    settle : pandas.Timedelta
        A bar is final this long after its close.

    Returns
    -------
    kept : pandas.DataFrame
        Validated bars frame of the rows that stay.
    findings : list of Finding
        In no particular order; :func:`~fints.bars.finding.findings_frame` sorts them.

    Raises
    ------
    SchemaError
        The frame is not a bars frame.
    UnknownNameError
        An exchange or an interval that does not exist.
    """
    verdict = Verdict.of(conform_bars(frame))
    limit = (pd.Timestamp.now("UTC") if now is None else now) - settle
    grids = _check_calendar(verdict, limit)
    for rule in ROW_RULES:
        verdict.flag(rule.fails(verdict.bars), rule)
    _check_duplicates(verdict)
    _check_jumps(verdict)
    _check_volumes(verdict)
    for rows, grid in grids:
        kept_rows = rows[~verdict.aside[rows]]
        verdict.findings.extend(find_gaps(verdict.bars.iloc[kept_rows], verdict.series[kept_rows], grid))
    return verdict.kept(), verdict.findings


def _check_calendar(verdict: Verdict, limit: pd.Timestamp) -> list[tuple[NDArray[np.int64], Expected]]:
    """Set aside what the calendar rules out; return the rows of each group with the bars expected of them."""
    bars = verdict.bars
    shut, astray = (np.zeros(len(bars), dtype=bool) for _ in range(2))
    # all daily series of an exchange share a grid; each intraday series may follow its own
    own = np.where(bars["interval"] == "1d", -1, verdict.series)
    group_of = (own + 1) * max(len(bars), 1) + pd.factorize(bars["exchange"])[0]
    groups = []
    for number in np.unique(group_of):
        rows = np.flatnonzero(group_of == number)
        group = bars.iloc[rows]
        grid = expected_bars(str(group["exchange"].iloc[0]), str(group["interval"].iloc[0]), group)
        shut[rows], astray[rows] = off_grid(group, grid)
        groups.append((rows, grid))
    verdict.flag(shut, NON_SESSION)
    verdict.flag(astray, OFF_GRID)
    verdict.flag((bars["end"] > limit).to_numpy(dtype=bool), NOT_FINAL)
    return groups


def _check_duplicates(verdict: Verdict) -> None:
    """Of rows with equal keys keep the last: they are sorted so that it is the newest."""
    rows = np.flatnonzero(~verdict.aside)
    series, ends = verdict.series[rows], utc_stamps(verdict.bars["end"])[rows]
    older = (np.diff(series) == 0) & (ends[1:] == ends[:-1])
    verdict.flag_rows(rows[:-1][older], DUPLICATE)


def _check_jumps(verdict: Verdict) -> None:
    rows = np.flatnonzero(~verdict.aside)
    for jump in find_jumps(verdict.bars.iloc[rows], verdict.series[rows]):
        known = "; the adjusted close knows of it" if jump.explained else ""
        severity: Severity = "suspect" if jump.kind == "split_jump" else "quarantine"
        reason = f"the open is {jump.ratio:.4g} times the close before: {KINDS[jump.kind]}{known}"
        verdict.flag_rows(rows[jump.rows.start : jump.rows.stop], Rule(jump.kind, severity, reason))


def _check_volumes(verdict: Verdict) -> None:
    """Report missing volumes row by row where a series has volumes, and once per series where it has none."""
    rows = np.flatnonzero(~verdict.aside)
    bars = verdict.bars.iloc[rows]
    missing = bars["volume"].isna().to_numpy(dtype=bool)
    if not missing.any():
        return
    flat = (bars["high"] == bars["low"]).to_numpy(dtype=bool)
    void = pd.DataFrame({"missing": missing, "flat": flat}, index=bars.index)
    whole = void.groupby([bars["symbol"], bars["interval"]]).transform("all")
    last = ~bars.duplicated(["symbol", "interval"], keep="last").to_numpy(dtype=bool)
    closes = (whole["missing"] & whole["flat"]).to_numpy(dtype=bool)
    none = whole["missing"].to_numpy(dtype=bool) & ~closes
    verdict.flag_rows(rows[missing & ~closes & ~none], MISSING_VOLUME)
    verdict.flag_rows(rows[none & last], NO_VOLUME)
    verdict.flag_rows(rows[closes & last], CLOSE_ONLY)
