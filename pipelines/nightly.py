"""A run of the night: what has come is gathered once, earlier nights are made up for, then tonight's is forecast."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pandas as pd

from fints.bars.nights import NO_BAR
from fints.bars.store import BarStore
from fints.errors import NoNewBarsError
from fints.series import get_target
from pipelines.catch_up import CatchUp
from pipelines.gathered import gather
from pipelines.made_up import MadeUp, causes
from pipelines.model import fitting_plan, make_model
from pipelines.night_calendar import NightCalendar
from pipelines.night_ledger import ATTEMPTS, NightLedger, Turn, newest, regular, spelled
from pipelines.night_run import NightlyOutcome, NightRun
from pipelines.nightly_runs import begin_tracking
from pipelines.outcome import Exit
from pipelines.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fints.bars.nights import NightEntry
    from fints.settings import NightlySettings
    from pipelines.gathered import Arrived
    from pipelines.home import Home
    from pipelines.night_standing import StandingNight
    from pipelines.progress import Stages

_NO_FAULT = " The source reported no fault; see its clock, and what fills it"
_SKEW = pd.Timedelta(minutes=1)  # by which a clock may be set right from one run to the next


@dataclass(frozen=True, slots=True, eq=False)
class Nights:
    """What one run did.

    Parameters
    ----------
    tonight : NightlyOutcome or StandingNight
        The night that it was started for; the latter if it had been done before.
    earlier : tuple of MadeUp
        Nights that it made up for, skipped or gave up, in order.
    warnings : tuple of str
        About the ledger and the clock.
    failed : mapping of str to str
        Symbols that the source did not deliver, with the cause.
    """

    tonight: NightlyOutcome | StandingNight
    earlier: tuple[MadeUp, ...] = ()
    warnings: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """That of tonight's night; 3 where only an earlier one failed, or was made without some symbols."""
        code = self.tonight.exit_code
        wanting = any(night.wanting for night in self.earlier)
        return int(Exit.PARTLY) if wanting and code in {Exit.DONE, Exit.ALERT} else code

    def sentences(self) -> tuple[str, ...]:
        """Say what became of earlier nights."""
        return tuple(map(str, self.earlier))

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``: those of tonight, and ``nights``, oldest first."""
        told = self.tonight.to_json()
        standing = not isinstance(self.tonight, NightlyOutcome)
        mine = {**self.tonight.entry.to_json(), "done_before": standing, "failed": told.get("failed") or {}}
        nights = [night.to_json() for night in self.earlier]
        return told | {"nights": [*nights, mine], "catch_up": list(self.sentences()), "ledger": list(self.warnings)}


def run_nightly(
    settings: NightlySettings, home: Home, asked: pd.Timestamp | None, stages: Stages, *, again: bool = False
) -> Nights:
    """Run a night under the lock of the home; of a live source, those first that are to be made up for.

    Parameters
    ----------
    settings : NightlySettings
    home : Home
    asked : pandas.Timestamp, optional
        As-of: a naive date or an instant; everything known now by default. With one, no other night is run.
    stages : Stages
    again : bool
        Whether a night that is done is run anew.

    Raises
    ------
    FintsError
        If nothing can be forecast tonight, or no bar has come since the last night; a failure of single symbols or
        targets, or of an earlier night, is reported instead.
    """
    for target in settings.targets:
        get_target(target)
    make_model(settings, fitting_plan(settings.periods.stated_plan(), settings)).design.network_for(0, 0)
    with home.locked():
        gathered = gather(settings, home, stages, asked).let_go()
        if settings.tracking.enabled:
            begin_tracking(settings, home)
        ledger = NightLedger.under(home, settings)
        run = NightRun(settings, home, BarStore(home.store), gathered, ledger, stages)
        if asked is not None or not gathered.reading.live:
            turn = Turn(gathered.as_of.known_at, gathered.as_of.known_at, "" if asked is None else spelled(asked))
            return Nights(run.tonight(turn, again=again), failed=gathered.report.failed)
        return _with_earlier(run, gathered, ledger, again=again)


def _with_earlier(run: NightRun, gathered: Arrived, ledger: NightLedger, *, again: bool) -> Nights:
    settings, reading = run.settings, gathered.reading
    calendar = NightCalendar.of(gathered.exchanges, reading.interval, reading.settle)
    tonight = Turn(calendar.as_of(reading.now), reading.now)
    entries = ledger.entries()
    agenda = CatchUp(ledger, calendar, settings.catch_up, gathered, entries).agenda(tonight)
    tonight = agenda.tonight
    ledger.enter(*(run.owed(turn) for turn in agenda.late))  # before any is begun: a run killed later owes them still
    told = [ledger.fail(entry, _given_up(entry)) for entry in agenda.given_up]
    told += ledger.enter(*(replace(run.owed(turn), state="skipped", reason=why) for turn, why in agenda.skipped))
    earlier = [*map(MadeUp, told), *(_make_up(run, turn) for turn in agenda.turns)]
    earlier.sort(key=lambda night: night.entry.as_of)
    left = (f"Left alone: {agenda.left}.",) if agenda.left else ()
    _require_news(run, tonight, ledger)
    done = run.tonight(tonight, again=again, remarks=(*map(str, earlier), *left))
    warnings = (*_clock_warnings(entries, reading.now), *left)
    return Nights(done, tuple(earlier), warnings, gathered.report.failed)


def _require_news(run: NightRun, tonight: Turn, ledger: NightLedger) -> None:
    """Refuse a night of which no bar has come: its forecasts would be those of the night before, in their place.

    It is entered as skipped, and made once its bars are there.

    Raises
    ------
    NoNewBarsError
    """
    held = regular(ledger.entries(), run.gathered.reading.now)
    before = [entry.as_of for entry in held if entry.state == "done" and entry.as_of < tonight.as_of]
    if not before or run.gathered.came(max(before), tonight.as_of):
        return
    last = newest(held).get(tonight.night)
    if last is None or last.state != "done":
        ledger.enter(replace(run.owed(tonight), state="skipped", reason=NO_BAR))
    over = tonight.as_of - run.gathered.reading.settle
    raise NoNewBarsError(
        f"no bar has come since the night of {max(before):%Y-%m-%d %H:%M} UTC, and a session is over since "
        f"{over:%Y-%m-%d %H:%M} UTC: nothing new can be forecast. The forecasts of that night stand, and this one is "
        f"made once its bars are there.{causes(run.gathered.report.failed) or _NO_FAULT}"
    )


def _make_up(run: NightRun, turn: Turn) -> MadeUp:
    """Run an earlier night, and say at once how it ended: tonight's may fail and end the run."""
    with run.stages.stage(f"night of {turn.night}"):
        night = run.earlier(turn)
    run.stages.console.print(str(night), highlight=False, markup=False)
    return night


def _given_up(entry: NightEntry) -> str:
    return (
        f"it was begun {ATTEMPTS} times and never ended: the process was killed, perhaps for want of memory. Run it by "
        f"hand with --as-of {entry.night}"
    )


def _clock_warnings(entries: Sequence[NightEntry], now: pd.Timestamp) -> list[str]:
    """Say that nights were made later than now: the clock was ahead then, or it is behind now."""
    ahead = [entry for entry in entries if entry.made_at > now + _SKEW]
    if not ahead:
        return []
    last = max(entry.made_at for entry in ahead)
    said = (
        f"it is {now:%Y-%m-%d %H:%M} UTC by the clock, but the ledger has {counted(len(ahead), 'line')} made up to "
        f"{last:%Y-%m-%d %H:%M} UTC: the clock was ahead then, or it is behind now. Set it right; nights that lie in "
        "the future are left out of account"
    )
    return [said]
