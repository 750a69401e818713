"""A past night made again from what was known then, and held against what it stored.

What was known at an instant is read off the ledger where it is the instant at which the night was made: that night
recorded the versions of bars and actions that it read, which were committed a moment after the instant it was made at.
At any other instant it is the last version that had been committed, with all before it (see `fints.bars.snapshot`).
Rows that were released from quarantine count from the version on that the release made.

Nothing is written. Models are taken from a copy of the shelf, and fitted anew in that copy where they are gone: fits
are reproducible, so that the forecasts are the same bit for bit on the same processor and with the same `threads`.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.snapshot import Snapshot
from fints.bars.sources import make_source
from fints.bars.store import BarStore
from fints.champion import BASELINE
from fints.errors import DataError, DateError
from pipelines.difference import first_difference
from pipelines.gathered import PATIENCE, Reading
from pipelines.ingest import wanted_symbols
from pipelines.night_identity import Identity
from pipelines.night_ledger import NightLedger, instant_of, newest_done, spelled
from pipelines.night_standing import forecasts_of, result_of, unread
from pipelines.outcome import Exit
from pipelines.publish import forecast_records, forecast_rows
from pipelines.replay_models import ReplayModels
from pipelines.targets import NightInputs, forecast_targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fints.bars.nights import NightEntry
    from fints.settings import NightlySettings
    from pipelines.asof import AsOf
    from pipelines.home import Home
    from pipelines.progress import Stages


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """What a replay found.

    Parameters
    ----------
    as_of : AsOf
    known_at : pandas.Timestamp
        Instant up to which anything counted as known.
    reading : Reading
    rows : pandas.DataFrame
        Forecasts, as rows of their table.
    entry : NightEntry, optional
        The night that they are compared with.
    difference : str
        The first one, in words; empty where there is none, or nothing to compare with.
    notes : tuple of str
        What may explain a difference.
    """

    as_of: AsOf
    known_at: pd.Timestamp
    reading: Reading
    rows: pd.DataFrame
    entry: NightEntry | None
    difference: str
    notes: tuple[str, ...]

    @property
    def equal(self) -> bool | None:
        """Whether the forecasts are the stored ones; None where none are stored."""
        return None if self.entry is None else not self.difference

    @property
    def exit_code(self) -> int:
        """1 if there is a difference."""
        return int(Exit.FAILED if self.equal is False else Exit.DONE)

    def sentences(self) -> tuple[str, ...]:
        """Say how it ended."""
        night = spelled(self.as_of.known_at) if self.entry is None else self.entry.night
        read = (
            f"Replayed as of {night}, known at {self.known_at.isoformat()}: version "
            f"{self.reading.version} of the bars and {self.reading.actions_version} of the actions."
        )
        if self.entry is None:
            return read, "No night of this as-of had been made by then: there is nothing to compare with.", *self.notes
        which = f"those of the night of {self.entry.night}, made at {self.entry.made_at.isoformat()}"
        if self.difference:
            return read, f"The forecasts differ from {which}: {self.difference}.", *self.notes
        return read, f"All {len(self.rows)} forecasts equal {which}, bit for bit.", *self.notes

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "as_of": self.as_of.stamp.isoformat(),
            "known_at": self.known_at.isoformat(),
            "data_version": self.reading.version,
            "actions_version": self.reading.actions_version,
            "equal": self.equal,
            "difference": self.difference,
            "night": None if self.entry is None else self.entry.to_json(),
            "notes": list(self.notes),
            "forecasts": forecast_records(self.rows),
        }


def run_replay(
    settings: NightlySettings, home: Home, asked: pd.Timestamp, known_at: pd.Timestamp, stages: Stages
) -> Replay:
    """Make a past night again and compare it.

    Parameters
    ----------
    settings : NightlySettings
        Those of the night.
    home : Home
    asked : pandas.Timestamp
        As-of: the name of the night, or the date of its bars.
    known_at : pandas.Timestamp
        Instant up to which anything counts as known; a date stands for the midnight after it.
    stages : Stages

    Raises
    ------
    DateError
        If the as-of lies after the instant, or nothing was stored by then.
    DataError
        If no symbol had bars.
    """
    moment = instant_of(known_at)
    if (asked if asked.tz else asked.tz_localize("UTC")) > moment:
        raise DateError(f"the as-of {spelled(asked)} lies after {moment.isoformat()}, at which it was to be known")
    with home.locked(PATIENCE), tempfile.TemporaryDirectory(prefix="fints-replay-") as folder:
        entries = NightLedger.under(home, settings).entries()
        entry = _night(entries, asked, moment)
        reading = _reading(settings, home, asked, moment, entry)
        bars, as_of = reading.bars()
        models = Path(folder) / "models"
        done = [one for one in entries if one.state == "done" and one.made_at <= moment]
        taken = ReplayModels(
            settings, models, done, lambda one: _reading(settings, home, asked, one.made_at, one), stages
        )
        taken.take(home.models, moment, as_of.stamp, () if entry is None else _unread(entry, home))
        newest = None if entry is None else newest_done(entries, entry.config, moment)
        inputs = NightInputs(settings, models, reading, decided_by=moment, newest=newest)
        targets, problems = forecast_targets(inputs, stages)
        rows = pd.concat([forecast_rows(target) for target in targets], ignore_index=True)
        notes = [f"{row.unique_id}, {row.target}: {row.reason}" for row in problems.itertuples() if row.left_out]
        difference = ""
        if entry is not None:
            stored = forecasts_of(entry, BarStore(home.store), entry.forecasts_version)
            if entry.remade:  # it stored these alone; those of other series are an earlier run's
                rows = rows[rows["unique_id"].isin({*entry.remade, *stored["unique_id"]})].reset_index(drop=True)
            difference = first_difference(rows, stored)
            if difference:
                identity = Identity.of(settings, reading.symbols, set(bars["exchange"]), as_of)
                notes += [*_explained(entry, reading, identity), *_stood_in(rows, stored)]
    return Replay(as_of, moment, reading, rows, entry, difference, tuple(notes))


def _night(entries: Sequence[NightEntry], asked: pd.Timestamp, moment: pd.Timestamp) -> NightEntry | None:
    """Find the night of a name, or of the date of its bars: the one made at an instant, else the last one before it."""

    def meant(entry: NightEntry) -> bool:
        dated = asked.tz is None and entry.stamp is not None and entry.stamp.normalize() == asked
        return entry.night == spelled(asked) or dated

    done = [entry for entry in entries if entry.state == "done" and entry.made_at <= moment and meant(entry)]
    exactly = [entry for entry in done if entry.made_at == moment]
    return next(reversed(exactly or done), None)


def _reading(
    settings: NightlySettings, home: Home, asked: pd.Timestamp, moment: pd.Timestamp, entry: NightEntry | None
) -> Reading:
    source = make_source(settings.source)
    if entry is not None and entry.made_at == moment:
        store = Snapshot(home.store, entry.data_version, entry.actions_version)
    else:
        store = Snapshot.known_at(home.store, moment)
    held = {settings.present_name(symbol) for symbol in store.symbols(settings.interval)}
    wanted = wanted_symbols(source, settings) if entry is None else entry.symbols
    symbols = tuple(symbol for symbol in wanted if symbol in held)
    if not symbols:
        raise DataError(f"none of {', '.join(wanted)} had bars of {settings.interval} at {moment.isoformat()}")
    return Reading(
        folder=home.store,
        symbols=symbols,
        aliases=settings.aliases,
        interval=settings.interval,
        version=store.bars_version,
        settle=pd.Timedelta(minutes=settings.settle),
        live=source.live,
        asked=asked if entry is None else _asked(entry, live=source.live),
        now=moment,
        actions_version=store.actions_version,
        strict=False,
    )


def _asked(entry: NightEntry, *, live: bool) -> pd.Timestamp | None:
    """Return the as-of that gives a night the same bars again; None took all that an archive held."""
    if entry.asked:
        return pd.Timestamp(entry.asked)
    return pd.Timestamp(entry.known_at) if live else None


def _explained(entry: NightEntry, reading: Reading, identity: Identity) -> list[str]:
    """Say in what the replay differs from the night, data and settings alike."""
    notes = []
    if (entry.data_version, entry.actions_version) != (reading.version, reading.actions_version):
        notes.append(
            f"That night read version {entry.data_version} of the bars and {entry.actions_version} of the actions; "
            f"replay what it knew with --known-at {entry.made_at.isoformat()}."
        )
    if entry.config != identity.config:
        notes.append(
            f"That night had another configuration ({entry.config}, by fints {entry.fints}) than this replay "
            f"({identity.config}): other settings, other symbols or another version of fints."
        )
    elif entry.calendar != identity.calendar:  # of other settings the horizon may be another one
        notes.append("That night knew other sessions to come: the calendars have been corrected or upgraded since.")
    return notes


def _unread(entry: NightEntry, home: Home) -> tuple[str, ...]:
    """Return the targets whose decisions the night could not read; none where its result is gone."""
    return unread(result_of(entry, home.root / entry.page) or {})


def _stood_in(now: pd.DataFrame, stored: pd.DataFrame) -> list[str]:
    """Say of which targets the baseline was stored, and another model has forecast them now."""
    models = {name: rows.groupby("target")["model"].unique() for name, rows in (("now", now), ("stored", stored))}
    common = [target for target in models["stored"].index if target in models["now"].index]
    return [
        f"{target}: {BASELINE} forecast it that night, and {', '.join(models['now'][target])} does now. {BASELINE} "
        "stands in where the book of decisions, or the model in use, cannot be read; one of them can be now, or the "
        "decisions were changed since."
        for target in common
        if set(models["stored"][target]) == {BASELINE} and BASELINE not in models["now"][target]
    ]
