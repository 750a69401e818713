"""Earlier forecasts held against what happened since, and against what was promised when they were made."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.basis import adjust
from fints.bars.forecasts import ForecastTable
from fints.bars.instruments import read_instruments
from fints.bars.snapshot import Snapshot
from fints.sessions import get_calendar
from fints.verification import (
    Happened,
    Scorecard,
    TargetVerification,
    Verification,
    absent,
    broken,
    missed,
    outcomes,
)
from pipelines.alerting import tell
from pipelines.asof import observe
from pipelines.home import Home
from pipelines.verification_book import PromiseBook

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fints.bars.store import BarStore
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


def verify(settings: NightlySettings, store: BarStore, reading: Reading, now: pd.Timestamp) -> Verification:
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

    Returns
    -------
    Verification
        Whatever goes wrong is a warning in it: a night has its forecasts, whatever becomes of this.
    """
    stamp = pd.Timestamp(now).tz_convert("UTC").tz_localize(None)
    try:
        return _verify(settings, store, reading)
    except Exception as error:  # see above
        LOG.debug("earlier forecasts could not be held against what happened", exc_info=True)
        said = f"earlier forecasts could not be held against what happened: {type(error).__name__}: {error}"
        return Verification(stamp, warnings=(said,))


def _verify(settings: NightlySettings, store: BarStore, reading: Reading) -> Verification:
    home = Home(store.root.parent)
    book = PromiseBook.under(home, settings)
    recorded = book.nights()
    look = _look_back(settings, store, reading, book)
    table = ForecastTable.under(store.root)
    cards = [_card(table, target, look) for target in settings.targets]
    found = Verification(look.as_of.stamp, tuple(TargetVerification.of(card) for card in cards))
    if recorded and look.as_of.stamp < recorded[-1]:
        return found
    rules = settings.alerts.rules
    alerts = broken(cards, rules)
    alerts += absent(_absences(table, cards, look, reading.symbols), rules.absent)
    if reading.live:
        alerts += missed(_without_a_night(cards, look), rules.missed)
    return _told(replace(found, alerts=tuple(alerts)), home, settings)


def _told(found: Verification, home: Home, settings: NightlySettings) -> Verification:
    for alert in found.alerts:
        LOG.error("alert %s: %s", alert.rule, alert.sentence)
    try:
        resolved, warnings = tell(found, home, settings)
    except OSError as error:  # the alerts stand, whether or not they can be remembered
        return replace(found, warnings=(f"which alerts were told could not be kept: {error}",))
    return replace(found, resolved=resolved, warnings=warnings)


def _look_back(settings: NightlySettings, store: BarStore, reading: Reading, book: PromiseBook) -> _Lookback:
    """Read the nights before this one, as many as are looked back on, and what happened since the first of them."""
    per_night = max(1, len(reading.symbols) * settings.h)
    most = min(MOST_NIGHTS, max(LEAST_NIGHTS, MOST_ROWS // per_night))
    recorded = book.nights()
    bars, as_of = _bars(store, reading, recorded[-most:][0] if recorded else None)
    nights = [night for night in recorded if night < as_of.stamp][-most:]
    promises: dict[str, dict[tuple[pd.Timestamp, pd.Timestamp], Promise]] = {target: {} for target in settings.targets}
    for night in nights:
        for promise in book.read(night):
            promises.setdefault(promise.target, {})[night, promise.made_at] = promise
    return _Lookback(settings, as_of, Happened(bars, as_of.known_at, as_of.settle), nights, promises)


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
    if not look.nights or not promises:
        return Scorecard(target, outcomes(_nothing(table), target, look.happened, {}))
    rows = table.since(look.nights[0], target, look.settings.interval)
    rows = rows[rows["as_of"] < look.as_of.stamp]
    return Scorecard(target, outcomes(rows, target, look.happened, promises))


def _nothing(table: ForecastTable) -> pd.DataFrame:
    frame: pd.DataFrame = table.since(pd.Timestamp("2200-01-01"), "", "")
    return frame


def _absences(
    table: ForecastTable, cards: Sequence[Scorecard], look: _Lookback, symbols: Sequence[str]
) -> dict[str, int]:
    """Count the newest nights in a row in which a symbol that had forecasts before has none."""
    tonight = {
        name
        for target in look.settings.targets
        for name in table.since(look.as_of.stamp, target, look.settings.interval)
        .query("as_of == @look.as_of.stamp")["unique_id"]
        .unique()
    }
    seen = pd.concat([card.rows[["as_of", "unique_id"]] for card in cards]).drop_duplicates()
    last = seen.groupby("unique_id", observed=True)["as_of"].max().to_dict()
    later = {name: 1 + sum(night > last[name] for night in look.nights) for name in symbols if name in last}
    return {name: n for name, n in later.items() if name not in tonight}


def _without_a_night(cards: Sequence[Scorecard], look: _Lookback) -> list[pd.Timestamp]:
    """Return the sessions between the last live night and this one."""
    first = [card.rows[(card.rows["step"] == 1) & card.rows["live"].astype(bool)] for card in cards]
    live = pd.concat([rows["as_of"] for rows in first])
    if live.empty:
        return []
    exchanges = look.happened.bars["exchange"]
    calendar = get_calendar(str(exchanges.value_counts().index[0])).as_known(look.as_of.known_at)
    before, tonight = live.max().normalize(), look.as_of.stamp.normalize()
    between = calendar.sessions(before, tonight)
    return [session for session in between if before < session < tonight]
