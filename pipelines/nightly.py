"""One night: ingest, forecast, publish."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.bars.store import BarStore
from fints.series import get_target
from pipelines.gathered import gather
from pipelines.model import fitting_plan, make_model
from pipelines.plans import PlanBook
from pipelines.publish import Night, begin_tracking, machine_readable, nightly_report, track, write_page
from pipelines.targets import NightInputs, forecast_targets

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from fints.report import NightlyReport
    from fints.settings import NightlySettings
    from pipelines.asof import AsOf
    from pipelines.home import Home
    from pipelines.progress import Stages


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
    """

    night: Night
    report: NightlyReport
    page: Path
    run_id: str | None
    warnings: tuple[str, ...]

    def findings_in_words(self) -> str:
        """Count the data findings; the page lists them."""
        count = self.night.findings["severity"].value_counts().to_dict()
        if not count:
            return "data: no findings"
        return "data: " + ", ".join(f"{n} {name}" for name, n in sorted(count.items())) + " (listed in the report)"

    @property
    def complete(self) -> bool:
        """Whether every symbol has a forecast of every target."""
        problems = self.night.problems["left_out"].any() or self.night.failed or self.night.misplaced
        return not problems

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return machine_readable(self.night, self.page, self.run_id) | {"warnings": list(self.warnings)}


def run_nightly(settings: NightlySettings, home: Home, asked: pd.Timestamp | None, stages: Stages) -> NightlyOutcome:
    """Run a night under the lock of the home.

    Parameters
    ----------
    settings : NightlySettings
    home : Home
    asked : pandas.Timestamp, optional
        As-of: a naive date or an instant; everything known now by default.
    stages : Stages

    Raises
    ------
    FintsError
        If nothing can be forecast; a failure of single symbols or targets is reported instead.
    """
    for target in settings.targets:
        get_target(target)
    make_model(settings, fitting_plan(settings.periods.stated_plan(), settings)).design.network_for(0, 0)
    with home.locked():
        gathered = gather(settings, home, stages, asked)
        as_of, report, reading = gathered.as_of, gathered.report, gathered.reading
        store = BarStore(home.store)
        if settings.tracking.enabled:
            begin_tracking(settings, home)
        targets, problems = forecast_targets(NightInputs(settings, home.models, reading), stages)
        plans = PlanBook.under(home, settings)
        night = Night(
            settings=settings,
            as_of=as_of,
            targets=targets,
            data_version=reading.version,
            findings=_findings(store, reading.symbols, settings, as_of),
            problems=problems,
            created_at=reading.now,
            failed=dict(report.failed),
            misplaced=tuple(report.misplaced()),
            remarks=tuple(report.remarks()),
            changes={t.target: plans.changes(t.target, as_of, t.plan) for t in targets},
        )
        return _publish(night, store, home, stages)


def _findings(store: BarStore, symbols: tuple[str, ...], settings: NightlySettings, as_of: AsOf) -> pd.DataFrame:
    found = store.findings(symbols)
    return found[(found["interval"] == settings.interval) & ~(found["session"] > as_of.stamp)].reset_index(drop=True)


def _publish(night: Night, store: BarStore, home: Home, stages: Stages) -> NightlyOutcome:
    """Store first, then show: a night whose page or tracking fails still has its forecasts."""
    with stages.stage("store and report"):
        store.write_forecasts(night.forecasts())
        for target in night.targets:
            PlanBook.under(home, night.settings).keep(target.target, night.as_of, target.plan)
        report = nightly_report(night)
        page = write_page(night, report, home)
    run_id, warnings = None, list(night.misplaced)
    if night.settings.tracking.enabled:
        with stages.stage("MLflow run"):
            try:
                run_id = track(night, page, home)
            except Exception as error:  # whatever MLflow or its server raises, the night has its forecasts
                LOG.debug("the run could not be logged", exc_info=True)
                warnings.append(f"the run could not be logged to MLflow: {error}")
    return NightlyOutcome(night, report, page, run_id, tuple(warnings))
