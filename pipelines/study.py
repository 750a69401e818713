"""A study: run it, write its report, log it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fints import __version__
from fints.errors import ConfigError
from fints.report import StudyReport, render_study
from fints.studies import STUDIES, Bench, Untracked, get_study
from fints.tracking import Tracking
from pipelines.files import write_text
from pipelines.home import Home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fints.report import StudyPage
    from fints.settings import TrackingSettings
    from fints.studies import Budget, Findings, Study, StudyTracker
    from fints.tracking import Run

EXPERIMENT = "fints/studies"


@dataclass(frozen=True, slots=True)
class Job:
    """A study as it was asked for.

    Parameters
    ----------
    study : Study
    budget : {"quick", "full"}
    workers : int
        Processes at a time.
    out : Path
        Folder of the report.
    """

    study: Study
    budget: Budget
    workers: int
    out: Path

    @property
    def command(self) -> str:
        """That repeats it."""
        return f"fints study {self.study.name} --budget {self.budget}"


@dataclass(frozen=True, slots=True, eq=False)
class StudyOutcome:
    """What a study left behind.

    Parameters
    ----------
    job : Job
    findings : Findings
    page : Path
    run_id : str, optional
        Of the MLflow run, if there is one.
    """

    job: Job
    findings: Findings
    page: Path
    run_id: str | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``--json``."""
        return {
            "study": self.job.study.name,
            "budget": self.job.budget,
            "passed": self.findings.passed,
            "verdicts": list(self.findings.verdicts),
            "tables": [
                {"caption": table.caption, "rows": table.frame.to_dict(orient="records")}
                for chapter in self.findings.chapters
                for table in chapter.tables
            ],
            "report": str(self.page),
            "mlflow_run": self.run_id,
        }


@dataclass(frozen=True, slots=True)
class StudyRun:
    """An MLflow run with runs below it; implements `fints.studies.StudyTracker`.

    Parameters
    ----------
    run : Run
    tracking : Tracking
    tags : mapping of str to str
        That the runs below share.
    """

    run: Run
    tracking: Tracking
    tags: Mapping[str, str]

    def log_params(self, params: dict[str, object]) -> None:
        """Record flat settings."""
        self.run.log_params(params)

    def log_metrics(self, metrics: dict[str, float], step: int = 0) -> None:
        """Record figures at a step."""
        self.run.log_metrics(metrics, step)

    def log_curves(self, curves: Mapping[str, Mapping[int, float]]) -> None:
        """Record whole curves, value by step."""
        self.run.log_curves(curves)

    @contextmanager
    def child(self, name: str, tags: Mapping[str, str]) -> Iterator[StudyTracker]:
        """Open a run below this one."""
        below = {**self.tags, **tags, "mlflow.parentRunId": self.run.run_id}
        with self.tracking.run(EXPERIMENT, name, below) as run:
            yield StudyRun(run, self.tracking, self.tags)


def list_studies() -> list[str]:
    """Return a line for every study: its name, and what it asks."""
    studies = [get_study(name) for name in STUDIES]
    width = max(len(study.name) for study in studies)
    return [f"{study.name:<{width}}  {study.question}" for study in studies]


def plan_job(name: str, budget: Budget, workers: int | None, out: Path | None, home: Home) -> Job:
    """Look a study up and settle where its report goes.

    Parameters
    ----------
    name : str
    budget : {"quick", "full"}
    workers : int, optional
        As many as there are processors by default.
    out : Path, optional
        ``reports/studies`` of the checkout that is the current folder by default, of the home elsewhere.
    home : Home

    Raises
    ------
    UnknownNameError
        If there is no such study.
    ConfigError
        If the folder of the report cannot be made.
    """
    study = get_study(name)
    folder = out or ((Path.cwd() if _in_checkout(Path.cwd()) else home.root) / "reports" / "studies")
    _make(folder)
    return Job(study, budget, workers or os.cpu_count() or 1, folder)


def run_study(job: Job, home: Home, tracking: TrackingSettings, progress: Callable[[int, int], None]) -> StudyOutcome:
    """Run a study, log it and write its report.

    Parameters
    ----------
    job : Job
    home : Home
        Keeps what is finished, under ``studies/``, so that a study that was stopped goes on.
    tracking : TrackingSettings
    progress : callable
        Called with the units of work done and their number.

    Raises
    ------
    LockHeldError
        If the same study runs already.
    """
    study = job.study
    folder = home.root / "studies" / study.name / job.budget
    _make(folder)
    with Home(folder).locked(), _opened(job, home, tracking) as opened:
        findings = study.run(Bench(folder, job.budget, job.workers, opened or Untracked(), progress))
        page = render_study(StudyReport(study.name, study.question, job.command, findings))
        path = _write(page, job)
        if opened is not None:
            opened.run.describe("\n\n".join(findings.verdicts))
            opened.run.log_metrics({"headline/passed": float(findings.passed)})
            for name, text in {path.name: page.markdown, **page.figures}.items():
                opened.run.log_text(text, f"report/{name}")
    return StudyOutcome(job, findings, path, opened.run.run_id if opened is not None else None)


@contextmanager
def _opened(job: Job, home: Home, settings: TrackingSettings) -> Iterator[StudyRun | None]:
    """Open the MLflow run of a study, if there shall be one."""
    if not settings.enabled:
        yield None
        return
    name = job.study.name
    tracking = Tracking(home.root, settings.uri)
    tags = {"fints.kind": "study", "fints.study": name, "fints.budget": job.budget, "fints.version": __version__}
    tracking.sweep(EXPERIMENT)
    with tracking.run(EXPERIMENT, f"{name} ({job.budget})", tags) as run:
        yield StudyRun(run, tracking, tags)


def _write(page: StudyPage, job: Job) -> Path:
    """Write the page and its figures, and remove figures of that name that it has no longer."""
    path, figures = job.out / f"{job.study.name}.md", job.out / job.study.name
    _make(figures)
    try:
        for name, text in page.figures.items():
            write_text(job.out / name, text)
        for old in figures.glob("*.svg"):
            if f"{job.study.name}/{old.name}" not in page.figures:
                old.unlink()
        write_text(path, page.markdown)
    except OSError as error:
        raise ConfigError(f"the report cannot be written to {job.out}: {error}; choose another --out") from error
    return path


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"the folder {folder} cannot be made: {error}; choose another") from error


def _in_checkout(folder: Path) -> bool:
    """Tell whether a folder is the root of fints' own repository, where reports of studies are kept."""
    return (folder / "pyproject.toml").is_file() and (folder / "fints" / "studies").is_dir()
