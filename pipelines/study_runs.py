"""A study in MLflow: a run, with runs of its own below it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fints import __version__
from fints.tracking import Tracking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fints.settings import TrackingSettings
    from fints.tracking import Run
    from pipelines.home import Home
    from pipelines.study import StudyOutcome

EXPERIMENT = "fints/studies"


@dataclass(slots=True, eq=False)
class Record:
    """What a study reports, kept until it is logged; implements `fints.studies.StudyTracker`.

    A study may run for hours: a tracking server that is away must neither end it nor hold it up.
    """

    name: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    params: dict[str, object] = field(default_factory=dict)
    curves: dict[str, dict[int, float]] = field(default_factory=dict)
    below: list[Record] = field(default_factory=list)

    def log_params(self, params: Mapping[str, object]) -> None:
        """Keep flat settings."""
        self.params.update(params)

    def log_metrics(self, metrics: Mapping[str, float], step: int = 0) -> None:
        """Keep figures at a step."""
        self.log_curves({key: {step: value} for key, value in metrics.items()})

    def log_curves(self, curves: Mapping[str, Mapping[int, float]]) -> None:
        """Keep whole curves, value by step."""
        for key, curve in curves.items():
            self.curves.setdefault(key, {}).update(curve)

    @contextmanager
    def child(self, name: str, tags: Mapping[str, str]) -> Iterator[Record]:
        """Open a record below this one."""
        made = Record(name, dict(tags))
        self.below.append(made)
        yield made


def track(outcome: StudyOutcome, home: Home, settings: TrackingSettings) -> str:
    """Log a study and what it reported; return the id of the run."""
    job, record = outcome.job, outcome.record
    tracking = Tracking(home.root, settings.uri)
    tracking.sweep(EXPERIMENT)
    tags = {"fints.kind": "study", "fints.study": job.study.name}
    tags |= {"fints.budget": job.budget, "fints.version": __version__}
    with tracking.run(EXPERIMENT, f"{job.study.name} ({job.budget})", tags) as run:
        run.describe("\n\n".join(outcome.findings.verdicts))
        run.log_metrics({"headline/passed": float(outcome.findings.passed)})
        for name, text in outcome.files.items():
            run.log_text(text, f"report/{name}")
        _write(record, run, tracking, tags)
        return run.run_id


def _write(record: Record, run: Run, tracking: Tracking, tags: Mapping[str, str]) -> None:
    run.log_params(record.params)
    run.log_curves(record.curves)
    for one in record.below:
        with tracking.run(EXPERIMENT, one.name, {**tags, **one.tags, "mlflow.parentRunId": run.run_id}) as child:
            _write(one, child, tracking, tags)
