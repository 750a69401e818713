"""What the quality checks found, kept beside the bars: rows in quarantine, and the findings that stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fints.bars.finding import findings_frame
from fints.bars.layout import findings_schema, nullable_integers, quarantine_schema, to_arrow
from fints.bars.schema import BAR_COLUMNS
from fints.bars.table import StoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyarrow.compute import Expression

    from fints.bars.finding import Finding

_SERIES = ["symbol", "interval"]
_STATED = ["symbol", "interval", "session", "end", "severity", "kind", "reason", "values"]
# these speak of rows stored long ago, which were not checked again
_ABOUT_OLDER_ROWS = ("rescaled",)
# the same row, set aside again for the same cause, is the same entry
_ENTRY = [name for name in (*BAR_COLUMNS, "kind") if name not in {"source", "fetched_at"}]


@dataclass(frozen=True, slots=True)
class Ledger:
    """The tables ``quarantine`` (only ever appended to) and ``findings`` (the current state)."""

    quarantine: StoreTable
    findings: StoreTable

    @classmethod
    def under(cls, root: Path) -> Ledger:
        """Return the ledger of the store at ``root``."""
        return cls(
            StoreTable(root / "quarantine", quarantine_schema()), StoreTable(root / "findings", findings_schema())
        )

    def record(self, findings: list[Finding], spans: pd.DataFrame) -> None:
        """Write what a check of bars found; what is there already is not written again.

        Earlier findings of the same series are dropped where their session lies in the span that was checked now.

        Parameters
        ----------
        findings : list of Finding
            What was found.
        spans : pandas.DataFrame
            What was checked: see :func:`fints.bars.schema.delivered_span`.
        """
        now = pd.Timestamp.now("UTC")
        fetched = spans["fetched_at"].max() if len(spans) else now
        self._set_aside([f for f in findings if f.severity == "quarantine"], now)
        self._state(findings_frame(findings), spans, fetched)

    def forget(self, rows: pd.DataFrame) -> None:
        """Drop the findings that released rows were set aside by, and those that miss nothing but such a row.

        Parameters
        ----------
        rows : pandas.DataFrame
            ``symbol, interval, session, end, kind``.
        """
        stored = self.read_findings()
        single = (stored["severity"] == "gap") & stored["values"].str.contains('"count": 1,', regex=False)
        settled = np.zeros(len(stored), dtype=bool)
        for which, key in ((stored["severity"] == "quarantine", ["end", "kind"]), (single, ["end"])):
            names = [*_SERIES, *key]
            mine = pd.MultiIndex.from_frame(stored[names]).isin(pd.MultiIndex.from_frame(rows[names]))
            settled |= which.to_numpy(dtype=bool) & mine
        if settled.any():
            self.findings.replace(to_arrow(stored[~settled], self.findings.schema), [])

    def read_findings(self, symbols: Iterable[str] | None = None) -> pd.DataFrame:
        """Return the findings that stand, sorted by series and session."""
        frame: pd.DataFrame = self.findings.rows(_of(symbols)).to_pandas(date_as_object=False)
        frame = frame.astype({"session": "datetime64[ns]", "end": "datetime64[ns, UTC]"})
        return frame.sort_values([*_SERIES, "session", "end", "kind"], kind="stable", ignore_index=True)

    def read_quarantine(self, symbols: Iterable[str] | None = None) -> pd.DataFrame:
        """Return the rows set aside, sorted by series and close."""
        rows = self.quarantine.rows(_of(symbols))
        frame: pd.DataFrame = rows.to_pandas(date_as_object=False)
        frame["volume"] = nullable_integers(rows, "volume")
        frame = frame.astype(
            {"session": "datetime64[ns]", **dict.fromkeys(("start", "end", "fetched_at"), "datetime64[ns, UTC]")}
        )
        return frame.sort_values([*_SERIES, "end", "quarantined_at"], kind="stable", ignore_index=True)

    def _set_aside(self, findings: list[Finding], now: pd.Timestamp) -> None:
        if not findings:
            return
        rows = pd.DataFrame([{**f.values, "kind": f.kind, "reason": f.reason} for f in findings])
        rows = rows.assign(quarantined_at=now, volume=rows["volume"].astype("Int64"))
        fresh = to_arrow(rows, self.quarantine.schema)
        held = {_entry(row) for row in self.quarantine.rows(_of(rows["symbol"].unique()), columns=_ENTRY).to_pylist()}
        new = [_entry(row) not in held for row in fresh.select(_ENTRY).to_pylist()]
        if any(new):
            self.quarantine.append(fresh.filter(new))

    def _state(self, found: pd.DataFrame, spans: pd.DataFrame, now: pd.Timestamp) -> None:
        stored = self.read_findings()
        found_now = found[~found["kind"].isin(_ABOUT_OLDER_ROWS)]
        checked = pd.concat(
            [*(spans[[*_SERIES, name]].set_axis([*_SERIES, "session"], axis=1) for name in ("first", "last")),
             found_now[[*_SERIES, "session"]]]
        )  # fmt: skip
        span = checked.groupby(_SERIES)["session"].agg(["min", "max"])
        if span.empty:
            return
        joined = stored[_SERIES].join(span, on=_SERIES)
        superseded = (stored["session"] >= joined["min"]) & (stored["session"] <= joined["max"])
        standing = stored[~superseded.to_numpy()]
        fresh = _dated(found, stored, now)
        merged = pd.concat([part for part in (standing, fresh) if len(part)] or [fresh], ignore_index=True)
        merged = merged.sort_values([*_SERIES, "session", "end", "kind"], kind="stable", ignore_index=True)
        if not _same(merged, stored):
            self.findings.replace(to_arrow(merged, self.findings.schema), [])


def _dated(found: pd.DataFrame, stored: pd.DataFrame, now: pd.Timestamp) -> pd.DataFrame:
    """Add ``found_at``: of a finding that stood before, the instant at which it was first made."""
    if found.empty or stored.empty:
        return found.assign(found_at=now)
    before = dict(zip(_stated(stored), stored["found_at"], strict=True))
    return found.assign(found_at=[before.get(one, now) for one in _stated(found)])


def _stated(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    texts = frame[_STATED].astype("str").fillna("")
    return list(texts.itertuples(index=False, name=None))


def _same(left: pd.DataFrame, right: pd.DataFrame) -> bool:
    if len(left) != len(right):
        return False
    return _stated(left) == _stated(right)


def _entry(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(repr(row[name]) for name in _ENTRY)  # repr: a missing price (nan) equals itself


def _of(symbols: Iterable[str] | None) -> Expression | None:
    import pyarrow.compute as pc

    return None if symbols is None else pc.field("symbol").isin(list(symbols))
