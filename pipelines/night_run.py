"""One night of a run: entered in the ledger, forecast, stored, shown, and entered as done."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from fints.tracking.redaction import redacted, traced
from pipelines import clock
from pipelines.files import write_text
from pipelines.made_up import MadeUp, made_again
from pipelines.night_begun import Doing, begin
from pipelines.night_identity import Identity
from pipelines.night_ledger import newest_done, stored_result
from pipelines.night_standing import StandingNight, digest_of, first_made, left_standing, told_before
from pipelines.nightly_runs import track
from pipelines.outcome import Exit
from pipelines.patience import SEND, in_time
from pipelines.plans import PlanBook
from pipelines.publish import Night, machine_readable, nightly_report, page_name, write_page
from pipelines.rebased import rebased
from pipelines.restated import restated_since
from pipelines.targets import NightInputs, forecast_targets
from pipelines.undelivered import Undelivered, lacks_something, undelivered
from pipelines.verification import verify
from pipelines.verification_book import keep_promises

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from fints.bars.nights import NightEntry
    from fints.bars.store import BarStore
    from fints.report import NightlyReport
    from fints.settings import NightlySettings
    from pipelines.asof import AsOf
    from pipelines.gathered import Arrived
    from pipelines.home import Home
    from pipelines.night_begun import Begun
    from pipelines.night_ledger import NightLedger, Turn
    from pipelines.progress import Stages
    from pipelines.unshown import UnshownNight

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class NightlyOutcome:
    """What a night left behind.

    Parameters
    ----------
    night : Night
    report : NightlyReport
    page : Path
    run_id : str, optional
        Of the MLflow run.
    warnings : tuple of str
        What went wrong without stopping the night.
    entry : NightEntry
        Of the ledger.
    """

    night: Night
    report: NightlyReport
    page: Path
    run_id: str | None
    warnings: tuple[str, ...]
    entry: NightEntry

    @property
    def exit_code(self) -> int:
        """The code that it ended with."""
        return int(self.entry.exit_code or 0)

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return _result(self.night, self.page, self.run_id, self.warnings)


@dataclass(frozen=True, slots=True, eq=False)
class NightRun:
    """What the nights of one run have in common.

    Parameters
    ----------
    settings : NightlySettings
    home : Home
        Held by the caller.
    store : BarStore
    gathered : Arrived
        Bars up to now; tonight's as-of.
    ledger : NightLedger
    stages : Stages
    """

    settings: NightlySettings
    home: Home
    store: BarStore
    gathered: Arrived
    ledger: NightLedger
    stages: Stages

    def tonight(self, turn: Turn, *, again: bool, remarks: tuple[str, ...] = ()) -> NightlyOutcome | StandingNight:
        """Run the night that the bars were gathered for; one that is done and stands is returned as it is.

        Parameters
        ----------
        turn : Turn
        again : bool
            Whether one that is done is run again.
        remarks : tuple of str
            What this run did besides.

        Raises
        ------
        Exception
            Whatever it fails of; that it did is entered first.
        """
        doing = Doing(turn, self.gathered.reading, self.gathered.as_of, remarks, own=True)
        begun = begin(self, doing, again=again)
        if isinstance(begun, StandingNight):
            return begun
        try:
            return self._finish(doing, begun)
        except Exception as error:
            self.ledger.fail(begun.entry, error)
            raise

    def earlier(self, turn: Turn) -> MadeUp:
        """Run an earlier night at its own as-of; return what is entered last, also where it fails of anything."""
        entry = self.owed(turn)
        try:
            reading = replace(self.gathered.reading, asked=turn.known_at, strict=False)
            _, as_of = reading.bars()
            doing = Doing(turn, reading, as_of, self._said_of(turn))
            begun = begin(self, doing, again=False)
            if isinstance(begun, StandingNight):
                return MadeUp(begun.entry, Undelivered.told(begun.result).failed)
            entry = begun.entry
            done = self._finish(doing, begun)
            return MadeUp(done.entry, done.night.failed)
        except Exception as error:  # the later ones go on, and the ledger has the reason
            LOG.debug("the night of %s failed", turn.night, exc_info=True)
            return MadeUp(self.ledger.fail(entry, error))

    def owed(self, turn: Turn) -> NightEntry:
        """Return an entry of a night that is due, not yet entered."""
        return self.ledger.draft(turn, self.gathered.reading, Identity(), "due")

    def _said_of(self, turn: Turn) -> tuple[str, ...]:
        newest = page_name(self.settings, self.gathered.as_of)
        return (
            f"This is an earlier night, {turn.reason}; it was run at {self.gathered.reading.now:%Y-%m-%d %H:%M} UTC.",
            f"What became of earlier forecasts stands in the report of the newest night, {newest}, beside this one.",
        )

    def _finish(self, doing: Doing, begun: Begun) -> NightlyOutcome:
        """Store first, then look back and show: a night whose page or tracking fails still has its forecasts."""
        night, entry = self._forecast(doing, begun), begun.entry
        if begun.unshown is None:
            night = self._with_left(self._made_before(night, entry), entry)
            with self.stages.stage("store"):
                said = keep_promises(night, self.home)  # before the forecasts: without, they are never looked back on
                night = replace(night, remarks=(*night.remarks, *said))
                version = self.store.write_forecasts(night.forecasts())
                for target in night.targets:
                    PlanBook.under(self.home, night.settings).keep(target.target, night.as_of, target.plan)
            entry = replace(entry, stamp=night.as_of.stamp, forecasts_version=version)
        else:
            night = begun.unshown.shown(night)
        night = rebased(night, self.home)
        if doing.own:
            with self.stages.stage("earlier forecasts"):
                found = verify(self.settings, self.store, doing.reading, doing.reading.now, night.alerts)
            night = replace(night, verification=found)
        return self._publish(night, entry, begun.unshown)

    def _forecast(self, doing: Doing, begun: Begun) -> Night:
        settings, as_of, report, entry = self.settings, doing.as_of, self.gathered.report, begun.entry
        decided_by = None if begun.unshown is None else entry.made_at  # what is written again decides nothing
        newest = newest_done(self.ledger.entries(), entry.config, entry.made_at)
        inputs = NightInputs(settings, self.home.models, doing.reading, decided_by, newest)
        targets, problems = forecast_targets(inputs, self.stages)
        plans = PlanBook.under(self.home, settings)
        why = (f"This night was {entry.reason}.",) if doing.own and entry.reason else ()
        # what this run's ingest met is no matter of a night that was made before, and says what its own met
        own = doing.own and (begun.unshown is None or not begun.unshown.result)
        met = report.remarks(self._restated(doing, entry)) if own else ()
        told = told_before(entry, self.ledger.entries(), self.home) if entry.remade else None
        lacks = undelivered(doing, report, targets, told)
        return Night(
            settings=settings,
            as_of=as_of,
            targets=targets,
            data_version=doing.reading.version,
            findings=_findings(self.store, doing.reading.symbols, settings, as_of),
            problems=problems,
            created_at=entry.made_at,
            failed=dict(lacks.failed),
            misplaced=dict(lacks.misplaced),
            remarks=(*why, *doing.remarks, *met),
            changes={t.target: plans.changes(t.target, as_of, t.plan) for t in targets},
        )

    def _restated(self, doing: Doing, begun: NightEntry) -> pd.DataFrame:
        entries, latest = self.ledger.entries(), self.gathered.report.restated
        return restated_since(entries, begun, self.store, doing.reading, latest)

    def _made_before(self, night: Night, begun: NightEntry) -> Night:
        """Say which forecasts this night is held to, where it was made before."""
        first = first_made(begun, self.store, night.as_of.stamp)
        if first is None:
            return night
        said = (
            f"Forecasts of this date were made before, at {first:%Y-%m-%d %H:%M} UTC. They are kept: the night is held "
            "to the newest ones that were made before any of their bars was over."
        )
        return replace(night, remarks=(*night.remarks, said))

    def _with_left(self, night: Night, begun: NightEntry) -> Night:
        """Leave the forecasts of series that lacked nothing as they were first made: they were made in time."""
        left = left_standing(begun, self.ledger.entries(), self.store, night.as_of.stamp)
        if left.empty:
            return night
        made = {str(name) for target in night.targets for name in target.panel["unique_id"].unique()}
        said = made_again(begun.remade, made, set(left["unique_id"]))
        return replace(night, left=left, remarks=(*night.remarks, said))

    def _publish(self, night: Night, begun: NightEntry, unshown: UnshownNight | None) -> NightlyOutcome:
        doubts = [f"{symbol}: {why}" for symbol, why in night.misplaced.items()]
        warnings = [*doubts, *(() if night.verification is None else night.verification.warnings)]
        with self.stages.stage("report"):
            report = nightly_report(night)
            page = write_page(night, report, self.home)
        run_id = None if unshown is None else unshown.result.get("mlflow_run")
        if night.settings.tracking.enabled and unshown is None:
            with self.stages.stage("MLflow run"):
                try:
                    run_id = in_time(partial(track, night, page, self.home), SEND, night.settings.tracking)
                except Exception as error:  # noqa: BLE001 — whatever MLflow or its server raises, the night is made
                    LOG.debug("the run could not be logged: %s", traced(error))
                    warnings.append(f"the run could not be logged to MLflow: {redacted(error)}")
        result = _result(night, page, run_id, warnings)
        write_text(stored_result(page), json.dumps({**result, "forecasts": []}, allow_nan=False, default=str))
        partly = lacks_something(night, self.gathered.report.inactive)
        if unshown is not None:
            partly = unshown.partly(found=partly)
        done = replace(
            begun,
            state="done",
            exit_code=int(_exit(night, partly=partly)),
            page=str(page.relative_to(self.home.root)),
            ended_at=clock.now(),
        )
        return NightlyOutcome(night, report, page, run_id, tuple(warnings), self.ledger.enter(done)[0])


def _result(night: Night, page: Path, run_id: str | None, warnings: list[str] | tuple[str, ...]) -> dict[str, object]:
    return machine_readable(night, page, run_id) | {
        "warnings": list(warnings),
        "remarks": list(night.remarks),
        "report_sha256": digest_of(page),
        "made_at": night.created_at.isoformat(),
    }


def _exit(night: Night, *, partly: bool) -> Exit:
    """Give the code of a night that has forecasts: whether data lacked, and promises hold."""
    if partly:
        return Exit.PARTLY
    alerts = (*night.alerts, *(() if night.verification is None else night.verification.alerts))
    return Exit.ALERT if alerts else Exit.DONE


def _findings(store: BarStore, symbols: tuple[str, ...], settings: NightlySettings, as_of: AsOf) -> pd.DataFrame:
    found = store.findings(symbols)
    return found[(found["interval"] == settings.interval) & ~(found["session"] > as_of.stamp)].reset_index(drop=True)
