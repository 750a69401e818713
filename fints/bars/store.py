"""The store of bars, findings and forecasts: versioned Delta Lake tables under one folder.

::

    <root>/fints-store.json     says that the folder is ours
    <root>/bars/                the bars, partitioned by interval and year (or month)
    <root>/quarantine/          rows set aside, with the reason; only ever appended to
    <root>/releases/            what people decided about them; only ever appended to
    <root>/findings/            what the checks last saw, per series and session
    <root>/actions/             splits and distributions, as sources state them
    <root>/absences/            symbols that a source says do not exist, counted by night
    <root>/forecasts/           forecasts of every night, partitioned by month
    <root>/superseded/          forecasts that others of the same night took the place of
    <root>/nights/              the ledger of nights; only ever appended to

A commit touches four tables, and Delta transactions are per table. They are written in the order quarantine,
findings, actions, bars. The bars are the truth, and they come last: a process killed in between leaves findings and
actions about bars that are not there yet; the next run, which sees the old bars, fetches the same rows again, writes
only the quarantined rows and the actions that are not there yet, and completes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.absences import AbsenceTable
from fints.bars.action_table import ActionTable
from fints.bars.diff import diff_actions, diff_bars, restated_between
from fints.bars.forecasts import ForecastTable
from fints.bars.layout import BAR_PARTITIONS, bars_schema
from fints.bars.ledger import Ledger
from fints.bars.lock import locked
from fints.bars.marker import MARKER, check_ours, mark
from fints.bars.merge import Commit, merge_bars, void_rows
from fints.bars.nights import NightTable
from fints.bars.reading import read_bars, read_contents, read_last
from fints.bars.releases import Decision, Releases
from fints.bars.rivals import Rivals
from fints.bars.schema import delivered_span, validate_each
from fints.bars.spans import read_spans
from fints.bars.table import StoreTable, told
from fints.bars.verify import verify_bars, verify_files
from fints.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from fints.bars.absences import Absence, Night
    from fints.bars.finding import Finding

    Frames = pd.DataFrame | Sequence[pd.DataFrame]


class BarStore:
    """Bars with all their versions.

    Parameters
    ----------
    root : path
        Folder of the store. It is created by the first write; nothing is written before.

    Raises
    ------
    StoreError
        The folder holds something else, or a store written by a newer fints.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        check_ours(self.root)
        self._bars = StoreTable(self.root / "bars", bars_schema(), BAR_PARTITIONS)
        self._ledger = Ledger.under(self.root)
        self._actions = ActionTable.under(self.root)
        self._absences = AbsenceTable.under(self.root)
        self._releases = Releases.under(self.root)
        self._forecasts = ForecastTable.under(self.root)
        self._tables = {
            "bars": self._bars,
            "quarantine": self._ledger.quarantine,
            "releases": self._releases.table,
            "findings": self._ledger.findings,
            "actions": self._actions.table,
            "absences": self._absences.table,
            "forecasts": self._forecasts.table,
            "superseded": self._forecasts.superseded,
            "nights": NightTable.under(self.root).table,
        }

    def prepare(self) -> None:
        """Create the folder, the marker and the tables that are missing; cheap where they exist.

        Raises
        ------
        StoreError
            The folder is not ours, cannot be written, or a table is damaged. Nothing is overwritten.
        """
        with told(f"prepare the store {self.root}"):
            self.root.mkdir(parents=True, exist_ok=True)
            check_ours(self.root)
            mark(self.root)
        for table in self._tables.values():
            table.create()

    def version(self, table: str = "bars") -> int:
        """Return the newest version of a table; 0 is the empty one.

        Raises
        ------
        UnknownNameError
            No such table.
        """
        if table not in self._tables:
            raise UnknownNameError("table", table, self._tables)
        return self._tables[table].version()

    def read(
        self,
        symbols: str | Iterable[str] | None = None,
        interval: str = "1d",
        start: str | pd.Timestamp | None = None,
        end: str | pd.Timestamp | None = None,
        version: int | None = None,
    ) -> pd.DataFrame:
        """Read bars.

        Parameters
        ----------
        symbols : str or iterable of str, optional
            All by default.
        interval : str
            Bar interval.
        start, end : date, optional
            First and last session, inclusive.
        version : int, optional
            Version of the table ``bars``; the newest by default.

        Returns
        -------
        pandas.DataFrame
            Bars frame, sorted by symbol and end.

        Raises
        ------
        UnknownNameError
            A symbol has no bars of this interval in this version.
        StoreError
            No such version, or the table cannot be read.
        """
        wanted = None if symbols is None else sorted({symbols} if isinstance(symbols, str) else set(symbols))
        bars = read_bars(self._bars, interval, wanted, (start, end), version)
        if wanted is not None:
            self._check_known(set(wanted) - set(bars["symbol"].unique()), interval, version)
        return bars

    def within(self, spans: pd.DataFrame) -> pd.DataFrame:
        """Return stored bars, at least those of each series within its own span, sorted.

        ``spans`` has the columns ``symbol, interval, first, last``: see :func:`fints.bars.spans.read_spans`.
        """
        return read_spans(self._bars, spans)

    def symbols(self, interval: str = "1d", version: int | None = None) -> list[str]:
        """Return the symbols that have bars of an interval, sorted."""
        import pyarrow.compute as pc

        rows = self._bars.rows(pc.field("interval") == interval, columns=["symbol"], version=version)
        return sorted(pc.unique(rows.column("symbol")).to_pylist())

    def last_bars(self, interval: str, symbols: Iterable[str], sessions: int = 1) -> pd.DataFrame:
        """Return the bars of the last sessions of each symbol: see :func:`fints.bars.reading.read_last`."""
        return read_last(self._bars, interval, symbols, sessions)

    def commit(self, bars: Frames, findings: Iterable[Finding] = (), actions: pd.DataFrame | None = None) -> Commit:
        """Merge bars by key in one transaction, and record what the checks found and which actions are stated.

        A row whose key is new is inserted; one with another value is revised; one that equals the stored bar changes
        nothing, not even its ``fetched_at``. A stored row that a finding now knows for an error of the source (a price
        that has come back since) is taken out, if its prices are those that are in error. Nothing new makes no version.

        Parameters
        ----------
        bars : pandas.DataFrame, or sequence of them
            Bars frame of distinct keys: what :func:`fints.bars.quality.check_bars` kept. Of several frames no symbol
            is in two.
        findings : iterable of Finding
            What it found. They take the place of earlier findings of the same series and sessions.
        actions : pandas.DataFrame, optional
            Actions frame. Within the sessions of the rows fetched last of each symbol, an action stored from the same
            source that is not among them is withdrawn, one with another value revised. None changes no action.

        Returns
        -------
        Commit
            The version of the bars after it, and the counts per symbol.

        Raises
        ------
        SchemaError
            A frame is not a bars frame, or a symbol is in two.
        StoreError
            The store cannot be written.
        LockHeldError
            Another process kept writing to it for a minute.
        """
        valid, listed = validate_each(bars), list(findings)
        with self._locked():
            valid, found = self._releases.reinstate(valid, listed, self._ledger)
            spans = pd.concat([delivered_span(frame) for frame in valid], ignore_index=True)
            self._ledger.record(found, spans)
            if actions is not None:
                self._actions.state(actions, spans)
            return merge_bars(self._bars, valid, void_rows(found))

    def reinstate(self, bars: pd.DataFrame, findings: list[Finding]) -> tuple[pd.DataFrame, list[Finding]]:
        """Let released rows that are delivered again be bars: see :meth:`fints.bars.releases.Releases.reinstate`."""
        (standing,), found = self._releases.reinstate([bars], findings, self._ledger)
        return standing, found

    def diff(self, a: int, b: int) -> pd.DataFrame:
        """Say by symbol what changed in the bars between two versions: see :func:`fints.bars.diff.diff_bars`."""
        return diff_bars(self._bars, a, b)

    def restated(self, a: int, b: int) -> pd.DataFrame:
        """Say what was revised between two versions of the bars: see :func:`fints.bars.diff.restated_between`."""
        return restated_between(self._bars, a, b)

    def diff_actions(self, a: int, b: int) -> pd.DataFrame:
        """Say what changed in the actions between two versions of the bars: see :func:`fints.bars.diff.diff_actions`.

        Actions are written before the bars of the same commit, so that those of a version of the bars are the newest
        that were there when it was committed; with the newest version go the newest actions.
        """
        newest = self._bars.version()
        versions = (
            self._actions.table.version() if v == newest else self._actions.version_at(self._bars.committed_at(v))
            for v in (a, b)
        )
        return diff_actions(self._actions, *versions)

    def verify(self) -> list[str]:
        """Read everything and return the problems found, as sentences; none means that the store is sound."""
        if not (self.root / MARKER).exists():
            empty = not self.root.exists() or not any(self.root.iterdir())
            return [] if empty else [f"{self.root}: the marker {MARKER} is missing"]
        problems = [problem for table in self._tables.values() for problem in verify_files(table)]
        return problems or verify_bars(self._bars)

    def status(self) -> pd.DataFrame:
        """Return what is stored.

        Returns
        -------
        pandas.DataFrame
            One row per series: ``symbol, interval, exchange, first, last, rows, source, fetched_at, findings``. A
            series of which only findings are stored has no rows.
        """
        held = read_contents(self._bars)
        seen = self.findings().groupby(["symbol", "interval"]).size().rename("findings")
        joined = held.join(seen, how="outer").reset_index()
        return joined.assign(**{name: joined[name].fillna(0).astype("int64") for name in ("rows", "findings")})

    def findings(self, symbols: Iterable[str] | None = None) -> pd.DataFrame:
        """Return the findings that stand: as :func:`~fints.bars.finding.findings_frame`, with ``found_at``."""
        return self._ledger.read_findings(symbols)

    def actions(self, symbols: Iterable[str] | None = None, version: int | None = None) -> pd.DataFrame:
        """Return the splits and distributions that sources state, as :mod:`fints.bars.actions` describes them."""
        return self._actions.read(symbols, version)

    def absences(self, source: str) -> dict[str, Absence]:
        """Return the symbols that a source has said do not exist since it last delivered them."""
        return self._absences.of(source)

    def count_absences(self, source: str, missing: Mapping[str, Night], delivered: Iterable[str]) -> dict[str, Absence]:
        """Take up a night: what a source said does not exist, and what it delivered; return its absences after it."""
        with self._locked():
            return self._absences.count(source, missing, delivered)

    def quarantine(self, symbols: Iterable[str] | None = None) -> pd.DataFrame:
        """Return every row ever set aside: the bar columns, ``kind, reason, quarantined_at``, and what was decided.

        The latter is ``id, state, decision, decided_at``: see :meth:`fints.bars.releases.Releases.judged`. In
        ``superseded`` stands whether nobody has decided, and a bar of the same key is stored.
        """
        rows = self._releases.judged(self._ledger.read_quarantine(symbols))
        return rows.assign(superseded=Rivals.of(rows, self._bars).there & (rows["state"] == "open"))

    def release(self, ids: Iterable[str], reason: str, *, force: bool = False) -> Decision:
        """Put rows in quarantine into the bars after all, as a new version: see :mod:`fints.bars.releases`.

        Parameters
        ----------
        ids : iterable of str
            Ids of rows of :meth:`quarantine`, or beginnings that name one row each.
        reason : str
            Why they are right.
        force : bool
            Whether a row may take the place of a stored bar with other values.

        Raises
        ------
        UnknownNameError
            An id that no row in quarantine has.
        UsageError
            An id is not unique, two rows share a key, a row is no bar, one would take the place of another bar, or the
            reason is empty.
        """
        with self._locked():
            return self._releases.release(list(ids), reason, self._ledger, self._bars, force=force)

    def drop(self, ids: Iterable[str], reason: str) -> Decision:
        """Dismiss rows in quarantine for good; they stay there, marked. Raises as :meth:`release` does."""
        with self._locked():
            return self._releases.drop(list(ids), reason, self._ledger)

    def write_forecasts(self, frame: pd.DataFrame) -> int:
        """Store forecasts; those of the same ``dataset, as_of, unique_id, target, interval`` are replaced.

        Returns the new version of the table ``forecasts``.
        """
        with self._locked():
            return self._forecasts.write(frame)

    def read_forecasts(
        self, as_of: str | pd.Timestamp | None = None, *, version: int | None = None, **named: str | None
    ) -> pd.DataFrame:
        """Read forecasts, of one ``dataset, unique_id, target, interval`` each or of any: see `ForecastTable.read`."""
        return self._forecasts.read(as_of=as_of, version=version, **named)

    def _locked(self) -> AbstractContextManager[None]:
        self.prepare()
        return locked(self.root)

    def _check_known(self, absent: set[str], interval: str, version: int | None) -> None:
        if absent:
            stored = self.symbols(interval, version)
            unknown = sorted(absent - set(stored))
            if unknown:
                raise UnknownNameError("symbol", unknown[0], stored)
