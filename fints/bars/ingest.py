"""The ingest: plan → fetch → check → commit, in one transaction of the bars.

One symbol that fails does not stop the others, and what is stored of it stays. A symbol of which no bar can have closed
since the last one stored is not asked for at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.absences import Night
from fints.bars.admission import Gate
from fints.bars.fetches import PlannedFetch, plan_fetches
from fints.bars.ingest_report import IngestReport
from fints.bars.merge import Commit
from fints.bars.rounds import Rounds, patience_of
from fints.bars.sources.base import BarRequest, canonical_exchange, read_in_full
from fints.errors import ConfigError, DataError, DateError, FintsError, UnknownNameError, UnknownSymbolError, UsageError
from fints.sessions.calendars import SETTLE, get_calendar
from fints.sessions.grid import parse_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from fints.bars.absences import Absence
    from fints.bars.sources.base import BarSource, Delivery
    from fints.bars.store import BarStore

    Progress = Callable[[int, int, str], None]

__all__ = ["IngestPolicy", "IngestReport", "ingest"]


@dataclass(frozen=True, slots=True)
class IngestPolicy:
    """What an ingest takes for granted.

    Attributes
    ----------
    refetch : int
        Trailing sessions fetched again each time, because live sources revise them. Of a source that is not live
        (files, the sample) everything is read each time: a file may be corrected anywhere.
    settle : pandas.Timedelta
        A bar is final this long after its close: late prints arrive until then.
    inactive_after : int
        Nights in a row on which the source has to say that a symbol does not exist before it is no longer asked for;
        0 asks for ever.
    """

    refetch: int = 5
    settle: pd.Timedelta = SETTLE
    inactive_after: int = 5


_STANDARD = IngestPolicy()


def ingest(  # noqa: PLR0913 - two ends and what to carry between them
    source: BarSource,
    store: BarStore,
    *,
    symbols: Iterable[str] | None,
    interval: str = "1d",
    exchange: str | None = None,
    now: pd.Timestamp | None = None,
    policy: IngestPolicy = _STANDARD,
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
    policy : IngestPolicy
        What is fetched again, when a bar is final, when a symbol is given up.
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
    refetch = None if read_in_full(source) else policy.refetch
    plans = list(plan_fetches(store, wanted, template, now=moment, refetch=refetch, settle=policy.settle))
    nights = {plan.symbol: _night(plan.request, moment, policy.settle) for plan in plans if plan.request is not None}
    resting = _resting(plans, store.absences(source.name), nights, policy.inactive_after)
    fetched, errors = _fetch_all(source, [plan for plan in plans if plan.symbol not in resting], progress)
    delivered = {symbol: len(delivery.bars) for symbol, delivery in fetched.items()}
    notes = {symbol: delivery.notes for symbol, delivery in fetched.items() if delivery.notes}
    remarks = dict.fromkeys(remark for delivery in fetched.values() for remark in delivery.remarks)
    gate = Gate(store, moment, policy.settle, source.live, {plan.symbol: plan.ends for plan in plans})
    admitted = gate.admit(fetched)
    held = [plan.symbol for plan in plans if plan.symbol in errors and plan.request is not None and plan.ends.size]
    admitted.findings += gate.behind(template.interval, held)
    commit = Commit(store.version())
    if admitted.bars or admitted.findings or len(admitted.actions):
        commit = store.commit(admitted.bars, admitted.findings, admitted.actions)
    gone = {s: Night(nights[s], str(e)) for s, e in errors.items() if isinstance(e, UnknownSymbolError) and s in nights}
    absences = store.count_absences(source.name, gone, delivered)
    inactive = _inactive(plans, absences, policy.inactive_after)
    failed = {symbol: str(error) for symbol, error in errors.items()} | admitted.failed
    return IngestReport(
        commit=commit,
        fetched=delivered,
        current=tuple(plan.symbol for plan in plans if plan.request is None and plan.failure is None),
        findings=tuple(admitted.findings),
        failed={symbol: cause for symbol, cause in failed.items() if symbol not in inactive},
        inactive={plan.symbol: str(absences[plan.symbol]) for plan in plans if plan.symbol in inactive},
        notes=notes,
        # what is the reason that a symbol failed is said there
        about_source=tuple(r for r in remarks if not any(r in cause for cause in failed.values())),
        restated=admitted.restated,
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
        if listed and not source.live and symbol not in listed:  # a live one may bring it later
            raise UnknownNameError("symbol", symbol, listed)
    return wanted


def _night(request: BarRequest, now: pd.Timestamp, settle: pd.Timedelta) -> pd.Timestamp:
    """Return the session after which a symbol is asked for: its exchange's, where it is known."""
    if request.end is not None:
        return request.end
    return get_calendar(canonical_exchange(request.exchange)).last_known_session(now, settle)


def _inactive(plans: Sequence[PlannedFetch], absences: Mapping[str, Absence], after: int) -> set[str]:
    """Return the symbols that have bars and that the source has said long enough not to exist."""
    absent = {symbol for symbol, absence in absences.items() if after and absence.nights >= after}
    return {plan.symbol for plan in plans if plan.symbol in absent and plan.ends.size}


def _resting(
    plans: Sequence[PlannedFetch], absences: Mapping[str, Absence], nights: Mapping[str, pd.Timestamp], after: int
) -> set[str]:
    """Return the inactive symbols that are not asked for tonight."""
    inactive = _inactive(plans, absences, after)
    requests = {plan.symbol: plan.request for plan in plans if plan.request is not None and plan.symbol in inactive}
    return {
        symbol
        for symbol, request in requests.items()
        if absences[symbol].rests(canonical_exchange(request.exchange), nights[symbol])
    }


def _fetch_all(
    source: BarSource, plans: Sequence[PlannedFetch], progress: Progress | None
) -> tuple[dict[str, Delivery], Mapping[str, FintsError]]:
    """Fetch what is planned, in rounds; return deliveries and failures, both in the order of the plans."""
    asked = {plan.symbol: plan for plan in plans if plan.request is not None}
    failures = {plan.symbol: plan.failure for plan in plans if plan.failure is not None}
    done = 0

    def tell(symbol: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(plans), symbol)

    for plan in plans:
        if plan.request is None:
            tell(plan.symbol)
    rounds = Rounds(patience_of(source))
    rounds.run(list(asked), lambda symbol: _fetch(source, asked[symbol]), tell)
    errors = failures | rounds.failed
    if not rounds.fetched and all(plan.request is not None or plan.failure is not None for plan in plans):
        # where no symbol is current or could be fetched and the request itself is at fault, the caller has to change it
        for cause in errors.values():
            if isinstance(cause, UsageError):
                raise cause
    order = [plan.symbol for plan in plans]
    return (
        {symbol: rounds.fetched[symbol] for symbol in order if symbol in rounds.fetched},
        {symbol: errors[symbol] for symbol in order if symbol in errors},
    )


def _fetch(source: BarSource, plan: PlannedFetch) -> Delivery:
    request = plan.request
    assert request is not None
    try:
        delivery = source.fetch(request)
        if plan.rebased(delivery.bars):
            delivery = source.fetch(BarRequest(request.symbol, request.interval, None, request.end, request.exchange))
    except (pd.errors.OutOfBoundsDatetime, OverflowError) as error:  # of this symbol; the others go on
        raise DataError(
            f"{source.name} has a date of {request.symbol!r} ({request.interval}) that cannot be one of a bar: {error}"
            "; correct it where it was written"
        ) from error
    if delivery.bars.empty:
        raise DataError(
            f"{source.name} delivered no bar of {request.symbol!r} ({request.interval}) from "
            f"{_date(request.start)} to {_date(request.end)}; what is stored stays"
        )
    return replace(delivery, bars=plan.silenced(delivery.bars))


def _date(session: pd.Timestamp | None) -> str:
    return "the first there is" if session is None else f"{session:%Y-%m-%d}"
