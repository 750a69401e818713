"""A finding: something the quality checks saw in the bars, with its reason and its place."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Severity = Literal["quarantine", "suspect", "gap"]

#: Every kind of finding, with what it means.
KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing_price": "open, high, low or close is not a number",
        "non_positive_price": "a price is zero or negative",
        "high_below_low": "the high is below the low",
        "open_outside_range": "the open lies outside low … high",
        "close_outside_range": "the close lies outside low … high",
        "negative_volume": "the volume is negative",
        "duplicate": "another row has the same key; the newest fetch was kept",
        "non_session": "the exchange was shut on that date",
        "off_grid": "the bar does not start and end where a bar of its session does",
        "not_final": "the bar had not closed and settled when it was checked",
        "unconfirmed_jump": "the newest bar jumps by a split ratio and nothing follows yet to confirm it",
        "price_excursion": "the price jumps by a split ratio and back within a few bars",
        "currency_conflict": "the bar is in another currency than the stored bars of its series",
        "unit_change": "the price stands at a hundred times, or a hundredth of, what is stored",
        "partial_split": "the source restated some bars by a split ratio and their neighbours not",
        "rescaled": "stored bars that the source no longer delivers were brought to its new basis",
        "mixed_basis": "the source restated bars by a doubtful factor: older bars are on another basis",
        "value_kept": "a value is missing in the delivery, and the stored one stays",
        "sources_differ": "a second source has another close, or a volume of another size",
        "zero_volume": "the volume is zero: the price is kept, the volume is not to be believed",
        "missing_volume": "the volume is missing in a series that has volume",
        "close_only": "the series has a close only: open, high and low repeat it and there is no volume",
        "split_jump": "the price moves to another level by a split ratio and stays there",
        "recycled_symbol": "after a long hole the price goes on at another level: maybe another instrument",
        "missing_sessions": "sessions of the exchange without a bar",
        "missing_bars": "bars of the sessions' grid that are not there",
        "long_hole": "no bar for more than a quarter of a year",
        "stale": "the source has no bar yet for the sessions that closed last",
    }
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One observation of the quality checks.

    Attributes
    ----------
    symbol, interval : str
        The series.
    session : pandas.Timestamp or None
        Session of the row, or the first session of a gap.
    end : pandas.Timestamp or None
        Close of the bar, UTC; of a gap, the close expected of its first missing bar.
    severity : {"quarantine", "suspect", "gap"}
        A quarantined row is kept out of the bars and held in the table ``quarantine``; a suspect stays in the bars;
        a gap has no row.
    kind : str
        Key of ``KINDS``.
    reason : str
        What was seen, with the numbers.
    values : mapping
        Of a quarantined row every column; of a gap ``first``, ``last`` and ``count``.
    row : int or None
        Position in the frame that was checked.
    """

    symbol: str
    interval: str
    session: pd.Timestamp | None
    end: pd.Timestamp | None
    severity: Severity
    kind: str
    reason: str
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    row: int | None = None

    @classmethod
    def at(
        cls, bar: pd.Series, *, severity: Severity, kind: str, reason: str, values: Mapping[str, Any] | None = None
    ) -> Finding:
        """Return a finding about one bar of a bars frame."""
        key = {name: bar[name] for name in ("symbol", "interval", "session", "end")}
        return cls(**key, severity=severity, kind=kind, reason=reason, values=values or {})


def findings_frame(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return findings as a frame: the fields of :class:`Finding` but the row, the values as JSON text."""
    listed = list(findings)
    frame = pd.DataFrame(
        {
            "symbol": _texts(f.symbol for f in listed),
            "interval": _texts(f.interval for f in listed),
            "session": pd.Series([f.session for f in listed], dtype="datetime64[ns]"),
            "end": pd.Series([f.end for f in listed], dtype="datetime64[ns, UTC]"),
            "severity": _texts(f.severity for f in listed),
            "kind": _texts(f.kind for f in listed),
            "reason": _texts(f.reason for f in listed),
            "values": _texts(_json(f.values) for f in listed),
        }
    )
    return frame.sort_values(["symbol", "interval", "session", "end", "kind"], kind="stable", ignore_index=True)


def in_sentences(findings: Iterable[Finding]) -> list[str]:
    """Say what was found, one sentence for each symbol, interval and kind, those set aside first.

    Rows in quarantine come with the command that lists them.
    """
    grouped: dict[tuple[bool, str, str, str], list[Finding]] = {}
    for finding in findings:
        key = (finding.severity != "quarantine", finding.symbol, finding.interval, finding.kind)
        grouped.setdefault(key, []).append(finding)
    said = []
    for (stays, symbol, interval, kind), found in sorted(grouped.items()):
        first = min(found, key=lambda each: (each.session is None, each.session or pd.Timestamp(0)))
        when = "" if first.session is None else f"{first.session:%Y-%m-%d}, "
        others = f"; and {len(found) - 1} more like it" if len(found) > 1 else ""
        rows = "1 row" if len(found) == 1 else f"{len(found)} rows"
        what = found[0].severity if stays else f"{rows} set aside (fints data quarantine list --kind {kind})"
        said.append(f"{symbol} ({interval}): {what}, {kind}: {when}{first.reason}{others}")
    return said


def _texts(values: Iterable[str]) -> pd.Series:
    return pd.Series(list(values), dtype="str")


def _json(values: Mapping[str, Any]) -> str:
    """Spell values as JSON: a missing number is null, an instant its ISO text."""
    plain = {name: None if pd.isna(value) else value for name, value in values.items()}
    return json.dumps(plain, default=str, sort_keys=True)
