"""What people decide about rows in quarantine: released into the bars after all, or dismissed for good.

The table of quarantine is never changed; decisions stand beside it, each with its reason and its instant, and the last
one about a row holds. A released row is a bar from the version on that the release made: its ``fetched_at`` is the
instant of the release, for nobody could have reckoned with it before. When the source delivers the same values again
they are not set aside again, whatever the checks say of them; other values for the same key are judged anew.

Some rows can be no bar, whoever confirms them: a price is missing or not positive, the high is below the low, the
volume is negative. And a row takes the place of a stored bar with other values only where that is said expressly.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from fints.bars.keys import compare_bars
from fints.bars.layout import quarantine_schema, to_arrow
from fints.bars.merge import Commit, merge_bars
from fints.bars.rivals import Rivals
from fints.bars.rules import ROW_RULES
from fints.bars.schema import BAR_COLUMNS, conform_bars, empty_bars, sort_bars, validate_bars
from fints.bars.table import StoreTable
from fints.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pyarrow as pa

    from fints.bars.finding import Finding
    from fints.bars.ledger import Ledger

STATES: Final = ("open", "released", "dropped")
_ID_LENGTH: Final = 10  # hex digits: two rows of a million share one with a chance of 1 in 2
_LEAST_LENGTH: Final = 4
_VALUES: Final = tuple(name for name in BAR_COLUMNS if name not in {"source", "fetched_at"})
# a row is set aside by the first rule that it breaks, and may break others: each of these is asked of its values
_NEVER_TRUE: Final = {
    "missing_price": "a price is missing",
    "non_positive_price": "a price is not positive",
    "high_below_low": "its high is below its low",
    "negative_volume": "its volume is negative",
}
_NO_BAR: Final = {
    "non_session": "its exchange has no session on that date; add the session to the calendar's overrides instead",
    "off_grid": "no bar of its session has these hours",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """What a release or a dismissal did.

    Attributes
    ----------
    rows : pandas.DataFrame
        The rows concerned, as :meth:`Releases.judged` returns them.
    again : tuple of str
        Ids that had been decided so before; nothing was done about them.
    commit : Commit or None
        Of a release: the version of the bars after it, rows inserted, and rows revised because a bar of the same key
        was stored.
    """

    rows: pd.DataFrame
    again: tuple[str, ...] = ()
    commit: Commit | None = field(default=None)


@dataclass(frozen=True, slots=True)
class Releases:
    """The table ``releases``: ``id, action, reason, decided_at``, only ever appended to."""

    table: StoreTable

    @classmethod
    def under(cls, root: Path) -> Releases:
        """Return the decisions of the store at ``root``."""
        return cls(StoreTable(root / "releases", releases_schema()))

    def judged(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Add to rows in quarantine what was decided about them.

        Returns
        -------
        pandas.DataFrame
            With ``id``, ``state`` (of ``STATES``), and of decided rows ``decision`` (the reason given) and
            ``decided_at``.
        """
        decided = self._decided().rename(columns={"reason": "decision"})
        ids = pd.Series(row_ids(rows), index=rows.index, dtype="str")  # text also where there are none
        told = rows.assign(id=ids).merge(decided, on="id", how="left")
        return told.assign(state=told["state"].fillna("open").astype("str"))

    def reinstate(
        self, bars: list[pd.DataFrame], findings: list[Finding], ledger: Ledger
    ) -> tuple[list[pd.DataFrame], list[Finding]]:
        """Let released rows that a delivery brings again count as bars.

        Parameters
        ----------
        bars : list of pandas.DataFrame
            Validated bars that the checks kept, at least one frame; no symbol is in two.
        findings : list of Finding
            What they found; rows set aside are among them with their values.
        ledger : Ledger
            With the rows in quarantine.

        Returns
        -------
        bars : list of pandas.DataFrame
            With the released rows, which go before other rows of the same key. Those of a symbol that is in no frame
            are in the last one.
        findings : list of Finding
            Without those that set them aside, or that miss them.
        """
        aside = [finding for finding in findings if finding.severity == "quarantine"]
        if not aside or not self.table.version():
            return bars, findings
        decided = self._decided()
        released = set(decided.loc[decided["state"] == "released", "id"])
        known = ledger.read_quarantine({finding.symbol for finding in aside})
        texts = set(_texts(known[[row in released for row in row_ids(known)]], _VALUES))
        rows = conform_bars(pd.DataFrame([dict(finding.values) for finding in aside]))
        back = np.array([text in texts for text in _texts(rows, _VALUES)], dtype=bool)
        if not back.any():
            return bars, findings
        returned = {id(finding) for finding, settled in zip(aside, back, strict=True) if settled}
        mine = _distinct(rows[back].reset_index(drop=True))
        days = {(row.symbol, row.interval, f"{row.session:%Y-%m-%d}") for row in mine.itertuples()}
        kept = [f for f in findings if id(f) not in returned and not (f.severity == "gap" and _of_day(f) in days)]
        return _put_back(bars, mine), kept

    def release(
        self, ids: Sequence[str], reason: str, ledger: Ledger, bars: StoreTable, *, force: bool = False
    ) -> Decision:
        """Put rows into the bars; see :meth:`fints.bars.store.BarStore.release`.

        The decision is written before the bars: a process killed in between has decided, and the same command, or the
        next delivery of the row, completes it.
        """
        rows = self._chosen(ids, reason, ledger)
        for row, why in zip(rows.itertuples(), _faults(rows), strict=True):
            if why:
                raise UsageError(f"row {row.id} ({row.symbol} {row.session:%Y-%m-%d}) cannot be a bar: {why}")
        now = pd.Timestamp.now("UTC")
        released = conform_bars(rows.assign(fetched_at=now))
        repeated = sort_bars(released)[1]
        if repeated.any():
            raise UsageError("two of these rows are the same bar; release the one that is right, and drop the other")
        if not force:
            Rivals.of(rows, bars).refuse_to_replace()
        again = rows["state"] == "released"
        self._decide(rows[~again], "release", reason, now)
        ledger.forget(rows)
        return Decision(rows, tuple(rows.loc[again, "id"]), merge_bars(bars, [released], empty_bars()))

    def drop(self, ids: Sequence[str], reason: str, ledger: Ledger) -> Decision:
        """Dismiss rows; see :meth:`fints.bars.store.BarStore.drop`."""
        rows = self._chosen(ids, reason, ledger)
        stored = rows[rows["state"] == "released"]
        if len(stored):
            raise UsageError(f"row {stored['id'].iloc[0]} was released and is among the bars; it cannot be dropped")
        again = rows["state"] == "dropped"
        self._decide(rows[~again], "drop", reason, pd.Timestamp.now("UTC"))
        return Decision(rows, tuple(rows.loc[again, "id"]))

    def _chosen(self, ids: Sequence[str], reason: str, ledger: Ledger) -> pd.DataFrame:
        if not reason.strip():
            raise UsageError("say why: the reason is kept with the decision")
        rows = self.judged(ledger.read_quarantine())
        chosen = []
        for wanted in dict.fromkeys(ids):
            matching = rows[rows["id"].str.startswith(wanted)] if len(wanted) >= _LEAST_LENGTH else rows.iloc[:0]
            if matching.empty:
                raise UnknownNameError("row in quarantine", wanted, rows.loc[rows["state"] == "open", "id"])
            if len(matching) > 1:
                raise UsageError(f"{len(matching)} rows in quarantine begin with {wanted!r}; give more of the id")
            chosen.append(matching)
        if not chosen:
            raise UsageError("name at least one row in quarantine by its id")
        return pd.concat(chosen).drop_duplicates("id").reset_index(drop=True)

    def _decide(self, rows: pd.DataFrame, action: str, reason: str, now: pd.Timestamp) -> None:
        if len(rows):
            decided = rows[["id"]].assign(action=action, reason=reason.strip(), decided_at=now)
            self.table.append(to_arrow(decided, self.table.schema))

    def _decided(self) -> pd.DataFrame:
        """Return the decision that holds about each row: ``id, state, reason, decided_at``."""
        frame: pd.DataFrame = self.table.rows().to_pandas()
        frame = frame.astype({"decided_at": "datetime64[ns, UTC]"}).sort_values("decided_at", kind="stable")
        held = frame.drop_duplicates("id", keep="last")
        return held.assign(state=held["action"].map({"release": "released", "drop": "dropped"})).drop(columns="action")


def releases_schema() -> pa.Schema:
    """Return the columns of the table ``releases`` on disk."""
    import pyarrow as pa

    texts = [pa.field(name, pa.string()) for name in ("id", "action", "reason")]
    return pa.schema([*texts, pa.field("decided_at", pa.timestamp("us", tz="UTC"))])


def row_ids(rows: pd.DataFrame) -> list[str]:
    """Return a short id of each row in quarantine, made of its values and of why it was set aside."""
    texts = _texts(rows, (*_VALUES, "kind"))
    return [hashlib.sha256(text.encode()).hexdigest()[:_ID_LENGTH] for text in texts]


def _texts(rows: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """Spell the values of each row, the same in a frame as read back from the store."""
    import pyarrow as pa

    schema = pa.schema([quarantine_schema().field(name) for name in names])
    return ["\x1f".join(map(_text, row.values())) for row in to_arrow(rows, schema).to_pylist()]


def _text(value: Any) -> str:  # noqa: ANN401 - whatever a column holds
    if value is None or value != value:  # noqa: PLR0124 - NaN differs from itself
        return ""
    return value.isoformat() if hasattr(value, "isoformat") else repr(value)


def _faults(rows: pd.DataFrame) -> list[str]:
    """Say of each row why it can be no bar, whoever confirms it; empty where nothing forbids it."""
    told = [_NO_BAR.get(str(kind), "") for kind in rows["kind"]]
    bars = conform_bars(rows)
    for rule in ROW_RULES:
        fails = rule.fails(bars) if rule.kind in _NEVER_TRUE else np.zeros(len(rows), dtype=bool)
        told = [said or (_NEVER_TRUE[rule.kind] if fault else "") for said, fault in zip(told, fails, strict=True)]
    return told


def _distinct(rows: pd.DataFrame) -> pd.DataFrame:
    ordered, repeated = sort_bars(rows)
    return ordered[~repeated].reset_index(drop=True)


def _put_back(bars: list[pd.DataFrame], rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Put rows into the frames of their symbols, in the place of rows of the same key; the others into the last."""
    put = []
    for number, frame in enumerate(bars, start=1):
        here = rows["symbol"].isin(frame["symbol"].unique()).to_numpy(dtype=bool) | (number == len(bars))
        mine, rows = rows[here], rows[~here]
        others = frame[compare_bars(mine, frame).gone]
        put.append(validate_bars(pd.concat([others, mine], ignore_index=True)) if len(mine) else frame)
    return put


def _of_day(finding: Finding) -> tuple[str, str, str]:
    """Name the session that a gap of one session misses; a longer one misses others too."""
    single = finding.values.get("first") == finding.values.get("last")
    return finding.symbol, finding.interval, str(finding.values.get("first")) if single else ""
