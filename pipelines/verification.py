"""Earlier forecasts held against what happened since, and against what was promised when they were made."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.basis import adjust
from fints.bars.forecasts import ForecastTable
from fints.bars.instruments import read_instruments
from fints.bars.nights import NightTable
from fints.bars.snapshot import Snapshot
from fints.errors import FintsError, StoreError
from fints.sessions import get_calendar
from fints.verification import (
    Alert,
    Happened,
    Scorecard,
    TargetVerification,
    Verification,
    absent,
    broken,
    missed,
    outcomes,
    unpromised,
)
from pipelines.alerting import tell
from pipelines.asof import observe
from pipelines.home import Home
from pipelines.terminal import counted
from pipelines.verification_book import PROMISES_CURE, PromiseBook

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fints.bars.nights import NightEntry
    from fints.bars.store import BarStore
    from fints.sessions import ExchangeCalendar
    from fints.settings import NightlySettings
    from fints.verification import Promise
    from pipelines.asof import AsOf
    from pipelines.gathered import Reading

LOG = logging.getLogger(__name__)

MOST_NIGHTS = 250
"""Nights that are looked back on at most."""

MOST_ROWS = 600_000
"""Forecasts of one target that are looked back on at most: large datasets reach back less far."""

LEAST_NIGHTS = 60

_NAMED = 3  # files that are named where many cannot be read

_NOT_POSSIBLE = "earlier forecasts could not be held against what happened"
_MARGIN = pd.Timedelta(days=60)
"""Bars read before the first night: of these, some serve to see its basis."""


@dataclass(frozen=True, slots=True, eq=False)
class _Lookback:
    """What a night looks back on."""

    settings: NightlySettings
    as_of: AsOf
    happened: Happened
    nights: list[pd.Timestamp]
    promises: Mapping[str, dict[tuple[pd.Timestamp, pd.Timestamp], Promise]]
    unreadable: Mapping[pd.Timestamp, str]

    @property
    def place(self) -> tuple[str, str]:
        """Dataset and interval."""
        return self.settings.dataset, self.settings.interval


def verify(
    settings: NightlySettings,
    store: BarStore,
    reading: Reading,
    now: pd.Timestamp,
    others: tuple[Alert, ...] = (),
) -> Verification:
    """Say what became of earlier forecasts, and tell of promises that are broken.

    Only forecasts of earlier nights of this dataset are looked at, and only bars that the night itself knew: a replay
    of an old night looks back as that night would have. Alerts are raised by the newest night alone.

    Parameters
    ----------
    settings : NightlySettings
    store : BarStore
    reading : Reading
        Of the night, whose forecasts are stored.
    now : pandas.Timestamp
        The clock, UTC.
    others : tuple of Alert
        About the night itself, which are told together with those found here.

    Returns
    -------
    Verification
        Whatever goes wrong is a warning in it: a night has its forecasts, whatever becomes of this. What is known to be
        wrong with the night is told all the same.
    """
    try:
        return _verify(settings, store, reading, others)
    except Exception as error:  # whatever it is, silence would end all alerts
        LOG.debug(_NOT_POSSIBLE, exc_info=True)
        said = f"{_NOT_POSSIBLE}: {type(error).__name__}: {error}"
        alone = isinstance(error, (FintsError, OSError))
        alerts = others if alone else (*others, Alert("failed", "looking back", said))
        stamp = pd.Timestamp(now).tz_convert("UTC").tz_localize(None)
        found = Verification(stamp, alerts=alerts, warnings=(said,))
        return _told(found, Home(store.root.parent), settings, whole=False)


def _verify(settings: NightlySettings, store: BarStore, reading: Reading, others: tuple[Alert, ...]) -> Verification:
    home = Home(store.root.parent)
    book = PromiseBook.under(home, settings)
    recorded = book.nights()
    look = _look_back(settings, store, reading, book)
    table = ForecastTable.under(store.root)
    cards = [_card(table, target, look) for target in settings.targets]
    others = (*others, *_unreadable(look))
    found = Verification(look.as_of.stamp, tuple(TargetVerification.of(card) for card in cards), others)
    if recorded and look.as_of.stamp < recorded[-1]:
        return found
    rules = settings.alerts.rules
    alerts = [*others, *broken(cards, rules)]
    alerts += absent(_absences(table, cards, look, reading.symbols), rules.absent)
    if reading.live:
        alerts += missed(_without_a_night(NightTable.under(store.root), look, reading.now), rules.missed)
    return _told(replace(found, alerts=tuple(alerts)), home, settings)


def _told(found: Verification, home: Home, settings: NightlySettings, *, whole: bool = True) -> Verification:
    for alert in found.alerts:
        LOG.error("alert %s: %s", alert.rule, alert.sentence)
    try:
        resolved, warnings = tell(found, home, settings, whole=whole)
    except OSError as error:  # the alerts stand, whether or not they can be remembered
        return replace(found, warnings=(*found.warnings, f"which alerts were told could not be kept: {error}"))
    return replace(found, resolved=resolved, warnings=(*found.warnings, *warnings))


def _look_back(settings: NightlySettings, store: BarStore, reading: Reading, book: PromiseBook) -> _Lookback:
    """Read the nights before this one, as many as are looked back on, and what happened since the first of them."""
    per_night = max(1, len(reading.symbols) * settings.h)
    most = min(MOST_NIGHTS, max(LEAST_NIGHTS, MOST_ROWS // per_night))
    ledger = NightTable.under(store.root).read(settings.dataset, settings.interval)
    done = {entry.stamp for entry in ledger if entry.state == "done" and entry.stamp is not None}
    recorded = sorted({*book.nights(), *done})
    bars, as_of = _bars(store, reading, recorded[-most:][0] if recorded else None)
    nights = [night for night in recorded if night < as_of.stamp][-most:]
    promises: dict[str, dict[tuple[pd.Timestamp, pd.Timestamp], Promise]] = {target: {} for target in settings.targets}
    unreadable: dict[pd.Timestamp, str] = {}
    for night in nights:
        try:
            kept = book.read(night)
        except StoreError as error:
            unreadable[night] = str(error)
            continue
        for promise in kept:
            promises.setdefault(promise.target, {})[night, promise.made_at] = promise
    happened = Happened(bars, as_of.known_at, as_of.settle)
    return _Lookback(settings, as_of, happened, nights, promises, unreadable)


def _unreadable(look: _Lookback) -> tuple[Alert, ...]:
    """Return the alert that promises cannot be read: without them nobody is told that one is broken."""
    if not look.unreadable:
        return ()
    listed = list(look.unreadable.values())
    more = f" and {counted(len(listed) - _NAMED, 'other')} beside it" if len(listed) > _NAMED else ""
    said = (
        f"What {counted(len(listed), 'earlier night')} promised cannot be read, so that the forecasts of "
        f"{'it' if len(listed) == 1 else 'them'} are not looked back on: {', '.join(listed[:_NAMED])}{more}. "
        f"{PROMISES_CURE}."
    )
    return (Alert("promises", "unreadable", said),)


def _bars(store: BarStore, reading: Reading, first: pd.Timestamp | None) -> tuple[pd.DataFrame, AsOf]:
    """Read what the night knew, since some time before the first night that is looked back on."""
    start = None if first is None else first.normalize() - _MARGIN
    then = Snapshot(store.root, reading.version, reading.actions_version)
    bars = read_instruments(then, reading.symbols, reading.interval, aliases=reading.aliases, start=start)
    how = {"live": reading.live, "strict": reading.strict}
    bars, as_of = observe(bars, reading.asked, now=reading.now, settle=reading.settle, **how)
    return adjust(bars, then.actions(reading.symbols)), as_of


def _card(table: ForecastTable, target: str, look: _Lookback) -> Scorecard:
    promises = look.promises.get(target, {})
    if not look.nights:
        return Scorecard(target, outcomes(_nothing(table), target, look.happened, {}))
    rows = table.since(look.nights[0], target, look.place)
    rows = rows[rows["as_of"] < look.as_of.stamp]
    lost = unpromised(rows, look.happened, promises)["as_of"].isin(list(look.unreadable))
    counts = {"unreadable": int(lost.sum()), "unpromised": int((~lost).sum())}
    return Scorecard(target, outcomes(rows, target, look.happened, promises), counts)


def _nothing(table: ForecastTable) -> pd.DataFrame:
    frame: pd.DataFrame = table.since(pd.Timestamp("2200-01-01"), "", ("", ""))
    return frame


def _absences(
    table: ForecastTable, cards: Sequence[Scorecard], look: _Lookback, symbols: Sequence[str]
) -> dict[str, int]:
    """Count the newest nights in a row in which a symbol that had forecasts before has none."""
    tonight = {
        name
        for target in look.settings.targets
        for name in table.since(look.as_of.stamp, target, look.place)
        .query("as_of == @look.as_of.stamp")["unique_id"]
        .unique()
    }
    seen = pd.concat([card.rows[["as_of", "unique_id"]] for card in cards]).drop_duplicates()
    last = seen.groupby("unique_id", observed=True)["as_of"].max().to_dict()
    gone = {name for name in symbols if name not in tonight}
    last |= {name: at for name in gone - set(last) if (at := _last(table, name, look)) is not None}
    return {name: 1 + sum(night > last[name] for night in look.nights) for name in symbols if name in gone & set(last)}


def _last(table: ForecastTable, name: str, look: _Lookback) -> pd.Timestamp | None:
    """Return the last night with forecasts of a symbol that has none among those looked back on."""
    dataset, interval = look.place
    nights = table.read(unique_id=name, dataset=dataset, interval=interval)["as_of"]
    nights = nights[nights < look.as_of.stamp]
    return None if nights.empty else pd.Timestamp(nights.max())


def _without_a_night(nights: NightTable, look: _Lookback, now: pd.Timestamp) -> list[pd.Timestamp]:
    """Return the sessions between the last night that was done in time and this one.

    In time is a night that was done for the first time before the next session after it was over: one that was made
    again since for bars that came late was done in time, one that was caught up with was not.
    """
    exchanges = look.happened.bars["exchange"]
    calendar = get_calendar(str(exchanges.value_counts().index[0])).as_known(look.as_of.known_at)
    tonight, first = look.as_of.stamp.normalize(), _first_done(nights.read(*look.place), now)
    for before in sorted((date for date in first if date < tonight), reverse=True):
        if first[before] < _over(calendar, before):
            return [session for session in calendar.sessions(before, tonight) if before < session < tonight]
    return []


def _first_done(entries: Iterable[NightEntry], now: pd.Timestamp) -> dict[pd.Timestamp, pd.Timestamp]:
    """Return when the forecasts of each date were first made; a clock that was ahead once made none."""
    first: dict[pd.Timestamp, pd.Timestamp] = {}
    for entry in entries:
        if entry.state == "done" and entry.stamp is not None and entry.made_at <= now:
            date = entry.stamp.normalize()
            first[date] = min(entry.made_at, first.get(date, entry.made_at))
    return first


def _over(calendar: ExchangeCalendar, date: pd.Timestamp) -> pd.Timestamp:
    """Return when the next session after a date is over."""
    (session,) = calendar.next_sessions(date, 1)
    return pd.Timestamp(calendar.schedule(session, session)["close"].iloc[0])
