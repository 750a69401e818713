"""Bars as they arrive: checked together, one by one where that cannot be done, and held against what is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.bars.finding import Finding
from fints.bars.quality import check_bars
from fints.bars.schema import empty_bars, utc_stamps
from fints.errors import FintsError
from fints.sessions.calendars import get_calendar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def check_arrivals(
    fetched: Mapping[str, pd.DataFrame], now: pd.Timestamp, settle: pd.Timedelta, failed: dict[str, str]
) -> tuple[pd.DataFrame, list[Finding]]:
    """Check all symbols at once; where that cannot be done, one by one, so that one bad symbol fails alone.

    Parameters
    ----------
    fetched : mapping from symbol to DataFrame
        Bars frames.
    now : pandas.Timestamp
        Instant of the ingest; ``fetched_at`` of every row.
    settle : pandas.Timedelta
        A bar is final this long after its close.
    failed : dict from symbol to str
        Takes up the symbols of which nothing is left, with the cause.

    Returns
    -------
    kept : pandas.DataFrame
        Validated bars frame of the rows that stay.
    findings : list of Finding
        What the checks saw.
    """
    if not fetched:
        return empty_bars(), []
    delivered = pd.concat(list(fetched.values()), ignore_index=True).assign(fetched_at=now)
    try:
        kept, findings = check_bars(delivered, now=now, settle=settle)
    except FintsError as error:
        if len(fetched) > 1:
            return _check_each(fetched, now, settle, failed)
        failed |= dict.fromkeys(fetched, str(error))
        return empty_bars(), []
    first = {finding.symbol: finding for finding in reversed(findings)}
    left = set(kept["symbol"].unique())
    for symbol in (symbol for symbol in fetched if symbol not in left):
        failed[symbol] = f"every row was set aside; the first because {first[symbol].reason}"
    return kept, findings


def _check_each(
    fetched: Mapping[str, pd.DataFrame], now: pd.Timestamp, settle: pd.Timedelta, failed: dict[str, str]
) -> tuple[pd.DataFrame, list[Finding]]:
    checked = [check_arrivals({symbol: bars}, now, settle, failed) for symbol, bars in fetched.items()]
    kept = [bars for bars, _ in checked if len(bars)]
    findings = [finding for _, found in checked for finding in found]
    return (pd.concat(kept, ignore_index=True) if kept else empty_bars()), findings


def find_refused(
    kept: pd.DataFrame, standing: pd.DataFrame, findings: list[Finding], ends: Mapping[str, NDArray[np.datetime64]]
) -> dict[str, str]:
    """Return the symbols all of whose new rows contradict what is stored, each with the reason of the first.

    Parameters
    ----------
    kept : pandas.DataFrame
        Bars that passed the checks.
    standing : pandas.DataFrame
        What is left of them, held against the store.
    findings : list of Finding
        What that found.
    ends : mapping from symbol to datetime64[ns] array
        Closes of the newest stored bars, UTC, oldest first; what is later is new. Where nothing is new, all rows count.
    """
    reasons: dict[str, str] = {}
    for finding in findings:
        if finding.severity == "quarantine":
            reasons.setdefault(finding.symbol, finding.reason)
    refused = {}
    for symbol, reason in reasons.items():
        rows, left = (utc_stamps(bars.loc[bars["symbol"] == symbol, "end"]) for bars in (kept, standing))
        known = ends.get(symbol, rows[:0])
        new = rows[rows > known[-1]] if len(known) else rows
        if not np.isin(new if len(new) else rows, left).any():
            refused[symbol] = f"every new row was set aside; the first because {reason}"
    return refused


def find_stale(kept: pd.DataFrame, settle: pd.Timedelta) -> list[Finding]:
    """Report the sessions at the end that a live source has not delivered yet.

    Parameters
    ----------
    kept : pandas.DataFrame
        Bars that passed the checks and do not contradict the store, sorted.
    settle : pandas.Timedelta
        A session is due this long after its close.
    """
    findings = []
    newest = kept.drop_duplicates(["symbol", "interval"], keep="last")
    for _, late in newest.groupby(["exchange", "session"]):
        calendar, session = get_calendar(late["exchange"].iloc[0]), late["session"].iloc[0]
        until = calendar.last_known_session(late["fetched_at"].iloc[0], settle)
        missing = calendar.sessions(session, max(session, until))[1:]
        if missing.empty:
            continue
        bounds = [f"{missing[0]:%Y-%m-%d}", f"{until:%Y-%m-%d}"]
        span = bounds[0] if len(missing) == 1 else f"{bounds[0]} to {bounds[1]} ({len(missing)} sessions)"
        findings += [
            Finding(
                symbol=str(symbol),
                interval=str(interval),
                session=missing[0],
                end=calendar.schedule(missing[0], missing[0])["close"].iloc[0],
                severity="gap",
                kind="stale",
                reason=f"no bar yet for {span}",
                values={"first": bounds[0], "last": bounds[1], "count": len(missing)},
            )
            for symbol, interval in zip(late["symbol"], late["interval"], strict=True)
        ]
    return findings
