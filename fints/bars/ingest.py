"""The ingest: plan → fetch → check → commit, in one transaction of the bars.

One symbol that fails does not stop the others, and what is stored of it stays. A symbol of which no bar can have closed
since the last one stored is not asked for at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.actions import empty_actions
from fints.bars.fetches import PlannedFetch, plan_fetches
from fints.bars.finding import Finding
from fints.bars.merge import Commit
from fints.bars.quality import check_bars
from fints.bars.restatement import hold_against
from fints.bars.schema import empty_bars
from fints.bars.sources.base import BarRequest
from fints.errors import ConfigError, DataError, DateError, FintsError, RateLimitedError, UnknownNameError, UsageError
from fints.sessions.calendars import get_calendar
from fints.sessions.grid import parse_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fints.bars.sources.base import BarSource, Delivery
    from fints.bars.store import BarStore

    Progress = Callable[[int, int, str], None]


_MISPLACED = 0.01
"""Share of bars on closed days above which the exchange is doubted."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did.

    Attributes
    ----------
    commit : Commit
        Version of the bars after it, and rows inserted, revised and unchanged per symbol.
    fetched : mapping from symbol to int
        Rows delivered, before the checks.
    current : tuple of str
        Symbols that needed no request: no bar has closed since their last one.
    findings : tuple of Finding
        What the checks saw.
    failed : mapping from symbol to str
        Symbols without new bars, with the cause.
    """

    commit: Commit
    fetched: Mapping[str, int] = field(default_factory=dict, hash=False)
    current: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def version(self) -> int:
        """Version of the bars after the ingest."""
        return self.commit.version

    def misplaced(self) -> list[str]:
        """Say of which symbols so many bars fall on closed days that their exchange is probably another one."""
        shut = pd.Series([f.symbol for f in self.findings if f.kind == "non_session"], dtype="str").value_counts()
        return [
            f"{symbol}: {count} of {self.fetched[symbol]} bars fall on days when its exchange was shut and were set "
            "aside; is the exchange right? Set `exchange:`"
            for symbol, count in sorted((str(name), int(n)) for name, n in shut.items())
            if count > _MISPLACED * self.fetched.get(symbol, 0) > 0
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per symbol: ``symbol, fetched, inserted, revised, unchanged, findings, failed``."""
        symbols = sorted({*self.fetched, *self.current, *self.failed})
        found = pd.Series([f.symbol for f in self.findings], dtype="str").value_counts()
        counts = {
            "fetched": self.fetched,
            "inserted": self.commit.inserted,
            "revised": self.commit.revised,
            "unchanged": self.commit.unchanged,
            "findings": {str(symbol): int(count) for symbol, count in found.items()},
        }
        columns = {name: [by.get(symbol, 0) for symbol in symbols] for name, by in counts.items()}
        return pd.DataFrame({"symbol": symbols, **columns, "failed": [self.failed.get(s, "") for s in symbols]})


def ingest(  # noqa: PLR0913 - two ends and what to carry between them
    source: BarSource,
    store: BarStore,
    *,
    symbols: Iterable[str] | None,
    interval: str = "1d",
    exchange: str | None = None,
    now: pd.Timestamp | None = None,
    refetch: int = 5,
    progress: Progress | None = None,
) -> IngestReport:
    """Bring the store up to date from a source.

    Parameters
    ----------
    source : BarSource
        Where bars come from.
    store : BarStore
        Where they go.
    symbols : iterable of str or None
        Symbols wanted; None takes all that the source lists.
    interval : str
        Bar interval.
    exchange : str, optional
        Exchange of symbols that neither the store nor the source can place.
    now : pandas.Timestamp, optional
        Instant of the ingest, with a time zone; the clock's by default. Bars that had not settled then are not
        final and go to quarantine; ``fetched_at`` of every row is this instant.
    refetch : int
        Trailing sessions fetched again each time, because live sources revise them. Of a source that is not live
        (files, the sample) everything is read each time: a file may be corrected anywhere.
    progress : callable, optional
        Called with ``done, total, symbol`` after each symbol.

    Returns
    -------
    IngestReport
        Counts, findings and failures; symbols that failed are listed, not raised.

    Raises
    ------
    UnknownNameError
        A symbol that the source does not list, or an exchange or interval that does not exist.
    ConfigError
        A symbol is not text; or nothing could be fetched, because the source's options are wrong.
    DateError
        ``now`` has no time zone.
    StoreError
        The store cannot be written; nothing was fetched then.
    """
    if now is not None and now.tz is None:
        raise DateError(f"now = {now} has no time zone; give an instant, as in pd.Timestamp({str(now)!r}, tz='UTC')")
    moment = pd.Timestamp.now("UTC") if now is None else now.tz_convert("UTC")
    parse_interval(interval)
    wanted = _wanted(source, symbols)
    store.prepare()
    template = BarRequest(
        "", interval.strip().lower(), exchange=None if exchange is None else get_calendar(exchange).mic
    )
    plans = list(plan_fetches(store, wanted, template, now=moment, refetch=refetch if source.live else None))
    fetched, failed = _fetch_all(source, plans, progress)
    kept, findings = _check_all({symbol: delivery.bars for symbol, delivery in fetched.items()}, moment, failed)
    if source.live:
        findings += _stale(kept)
    actions = _actions(fetched, moment)
    held = hold_against(store, kept, actions)
    findings += held.findings
    commit = store.commit(held.bars, findings) if len(held.bars) or findings else Commit(store.version())
    return IngestReport(
        commit=commit,
        fetched={symbol: len(delivery.bars) for symbol, delivery in fetched.items()},
        current=tuple(plan.symbol for plan in plans if plan.request is None and plan.failure is None),
        findings=tuple(findings),
        failed=failed,
    )


def _wanted(source: BarSource, symbols: Iterable[str] | None) -> list[str]:
    listed = source.symbols()
    if symbols is None:
        if not listed:
            raise ConfigError(f"the source {source.name!r} cannot list its symbols; name those wanted under `symbols`")
        return listed
    wanted = list(dict.fromkeys(symbols))
    for symbol in wanted:
        if not isinstance(symbol, str):
            raise ConfigError(
                f"the symbol {symbol!r} is a {type(symbol).__name__}, not text; quote it in the configuration "
                "(YAML reads unquoted NO, TRUE and 1E5 as something else)"
            )
        if listed and symbol not in listed:
            raise UnknownNameError("symbol", symbol, listed)
    return wanted


def _fetch_all(
    source: BarSource, plans: list[PlannedFetch], progress: Progress | None
) -> tuple[dict[str, Delivery], dict[str, str]]:
    """Fetch symbol by symbol; after a rate limit nothing more is asked, and the rest fails with that cause."""
    fetched: dict[str, Delivery] = {}
    errors: dict[str, FintsError] = {plan.symbol: plan.failure for plan in plans if plan.failure is not None}
    limited = ""
    for done, plan in enumerate(plans, start=1):
        if plan.request is not None:
            try:
                fetched[plan.symbol] = _fetch(source, plan, plan.request, limited)
            except FintsError as error:
                errors[plan.symbol] = error
                limited = limited or (str(error) if isinstance(error, RateLimitedError) else "")
        if progress is not None:
            progress(done, len(plans), plan.symbol)
    if not fetched:
        # where nothing could be fetched at all and the request itself is at fault, the caller has to change it
        for cause in errors.values():
            if isinstance(cause, UsageError):
                raise cause
    return fetched, {symbol: str(error) for symbol, error in errors.items()}


def _fetch(source: BarSource, plan: PlannedFetch, request: BarRequest, limited: str) -> Delivery:
    if limited:
        raise RateLimitedError(f"not asked for, because the source was rate limited before: {limited}")
    delivery = source.fetch(request)
    if plan.rebased(delivery.bars):
        delivery = source.fetch(BarRequest(request.symbol, request.interval, None, request.end, request.exchange))
    if delivery.bars.empty:
        raise DataError(
            f"{source.name} delivered no bar of {request.symbol!r} ({request.interval}) from "
            f"{_date(request.start)} to {_date(request.end)}; what is stored stays"
        )
    return delivery


def _actions(fetched: Mapping[str, Delivery], now: pd.Timestamp) -> pd.DataFrame:
    told = [delivery.actions for delivery in fetched.values() if len(delivery.actions)]
    return pd.concat(told, ignore_index=True).assign(fetched_at=now) if told else empty_actions()


def _check_all(
    fetched: Mapping[str, pd.DataFrame], now: pd.Timestamp, failed: dict[str, str]
) -> tuple[pd.DataFrame, list[Finding]]:
    """Check all symbols at once; where that cannot be done, one by one, so that one bad symbol fails alone."""
    if not fetched:
        return empty_bars(), []
    delivered = pd.concat(list(fetched.values()), ignore_index=True).assign(fetched_at=now)
    try:
        kept, findings = check_bars(delivered, now=now)
    except FintsError as error:
        if len(fetched) > 1:
            return _check_each(fetched, now, failed)
        failed |= dict.fromkeys(fetched, str(error))
        return empty_bars(), []
    for symbol in fetched.keys() - set(kept["symbol"].unique()):
        first = next(finding for finding in findings if finding.symbol == symbol)
        failed[symbol] = f"every row was set aside; the first because {first.reason}"
    return kept, findings


def _check_each(
    fetched: Mapping[str, pd.DataFrame], now: pd.Timestamp, failed: dict[str, str]
) -> tuple[pd.DataFrame, list[Finding]]:
    checked = [_check_all({symbol: bars}, now, failed) for symbol, bars in fetched.items()]
    kept = [bars for bars, _ in checked if len(bars)]
    findings = [finding for _, found in checked for finding in found]
    return (pd.concat(kept, ignore_index=True) if kept else empty_bars()), findings


def _stale(kept: pd.DataFrame) -> list[Finding]:
    """Report the sessions at the end that a live source has not delivered yet."""
    findings = []
    newest = kept.drop_duplicates(["symbol", "interval"], keep="last")
    for _, late in newest.groupby(["exchange", "session"]):
        calendar, session = get_calendar(late["exchange"].iloc[0]), late["session"].iloc[0]
        until = calendar.last_closed_session(late["fetched_at"].iloc[0])
        missing = calendar.sessions(session, max(session, until))[1:]
        if missing.empty:
            continue
        bounds = [f"{missing[0]:%Y-%m-%d}", f"{until:%Y-%m-%d}"]
        findings += [
            Finding(
                symbol=str(symbol),
                interval=str(interval),
                session=missing[0],
                end=calendar.schedule(missing[0], missing[0])["close"].iloc[0],
                severity="gap",
                kind="stale",
                reason=f"no bar yet for {bounds[0]} to {bounds[1]} ({len(missing)} sessions)",
                values={"first": bounds[0], "last": bounds[1], "count": len(missing)},
            )
            for symbol, interval in zip(late["symbol"], late["interval"], strict=True)
        ]
    return findings


def _date(session: pd.Timestamp | None) -> str:
    return "the first there is" if session is None else f"{session:%Y-%m-%d}"
