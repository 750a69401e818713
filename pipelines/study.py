"""A study: run it and write its report."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fints.errors import ConfigError
from fints.report import INDEX_TITLE, StudyReport, render_index, render_study
from fints.settings import load_settings
from fints.studies import STUDIES, Bench, get_study
from fints.tracking.redaction import redacted, traced
from pipelines.files import require_writable, write_text
from pipelines.home import Home
from pipelines.study_runs import Record, track

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fints.report import StudyPage
    from fints.settings import TrackingSettings
    from fints.studies import Budget, Findings, Study

LOG = logging.getLogger(__name__)


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
    seeds : int, optional
        So many instead of those of the budget.
    """

    study: Study
    budget: Budget
    workers: int
    out: Path
    seeds: int | None = None

    @property
    def command(self) -> str:
        """That repeats it."""
        seeds = "" if self.seeds is None else f" --seeds {self.seeds}"
        return f"fints study {self.study.name} --budget {self.budget}{seeds}"

    @property
    def page(self) -> Path:
        """The report."""
        return self.out / f"{self.study.name}.md"

    @property
    def figures(self) -> Path:
        """Folder of its figures."""
        return self.out / self.study.name


@dataclass(frozen=True, slots=True, eq=False)
class StudyOutcome:
    """What a study left behind.

    Parameters
    ----------
    job : Job
    findings : Findings
    files : mapping of str to str
        The page and its figures as text, by path in the folder of the report.
    record : Record
        What the study reported about its work.
    run_id : str, optional
        Of the MLflow run, if there is one.
    warnings : tuple of str
        What went wrong without stopping the study.
    """

    job: Job
    findings: Findings
    files: Mapping[str, str]
    record: Record
    run_id: str | None = None
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``--json``."""
        return {
            "study": self.job.study.name,
            "budget": self.job.budget,
            "passed": self.findings.passed,
            "verdicts": list(self.findings.verdicts),
            "tables": [
                {"chapter": chapter.title, "caption": table.caption, "rows": table.frame.to_dict(orient="records")}
                for chapter in self.findings.chapters
                for table in chapter.tables
            ],
            "report": str(self.job.page),
            "mlflow_run": self.run_id,
            "warnings": list(self.warnings),
        }


def list_studies() -> list[str]:
    """Return a line for every study: its name, and what it asks."""
    studies = [get_study(name) for name in STUDIES]
    width = max(len(study.name) for study in studies)
    return [f"{study.name:<{width}}  {study.question}" for study in studies]


def plan_job(
    name: str, budget: Budget, workers: int | None, out: Path | None, home: Home, seeds: int | None = None
) -> Job:
    """Look a study up and settle where its report goes.

    Parameters
    ----------
    name : str
    budget : {"quick", "full"}
    workers : int, optional
        As many as there are processors by default.
    out : Path, optional
        By default a folder of the home, or of the full budget ``reports/studies`` of the checkout that is the current
        folder; with another number of seeds always one of the home.
    home : Home
    seeds : int, optional
        So many instead of those of the budget.

    Raises
    ------
    UnknownNameError
        If there is no such study.
    ConfigError
        If the folder of the report cannot be written, or holds a page of the full budget and this run is a quick one.
    """
    study = get_study(name)
    usual = _usual_folder(budget, home) if seeds is None else home.reports / "studies" / f"{budget}-{seeds}-seeds"
    job = Job(study, budget, workers or os.cpu_count() or 1, out or usual, seeds)
    if (budget != "full" or seeds is not None) and _is_full(job.page):
        raise ConfigError(
            f"{job.page} is of the full budget, which a smaller run does not replace; choose another --out"
        )
    _make(job.out)
    _make(job.figures)
    return job


def tracking_settings(config: Path | None, overrides: Sequence[str]) -> TrackingSettings:
    """Read where runs go, the only settings of a study.

    Raises
    ------
    ConfigError
        If an override is of something else.
    """
    foreign = [override for override in overrides if _section(override) != "tracking"]
    if foreign:
        raise ConfigError(
            "a study sets everything but its tracking itself; --set takes tracking.enabled and tracking.uri, "
            f"not {', '.join(foreign)}"
        )
    return load_settings(config, overrides).tracking


def run_study(job: Job, home: Home, progress: Callable[[int, int], None]) -> StudyOutcome:
    """Run a study and write its report.

    Parameters
    ----------
    job : Job
    home : Home
        Keeps what is finished, under ``studies/``, so that a study that was stopped goes on.
    progress : callable
        Called with the units of work done and their number.

    Raises
    ------
    LockHeldError
        If the same study runs already.
    """
    study, record = job.study, Record()
    folder = home.root / "studies" / study.name / job.budget
    _make(folder)
    with Home(folder).locked():
        findings = study.run(Bench(folder, job.budget, job.workers, record, progress, job.seeds))
        page = render_study(StudyReport(study.name, study.question, job.command, findings))
        _write(page, job)
    return StudyOutcome(job, findings, {job.page.name: page.markdown, **page.figures}, record)


def logged(outcome: StudyOutcome, home: Home, settings: TrackingSettings) -> StudyOutcome:
    """Log a study where that is wanted; where it fails, the outcome has a warning."""
    if not settings.enabled:
        return outcome
    try:
        return replace(outcome, run_id=track(outcome, home, settings))
    except Exception as error:  # noqa: BLE001 — whatever MLflow or its server raises, the study has its report
        LOG.debug("the study could not be logged: %s", traced(error))
        return replace(outcome, warnings=(f"the study could not be logged to MLflow: {redacted(error)}",))


def _write(page: StudyPage, job: Job) -> None:
    """Write the page and its figures, and remove figures of that name that it has no longer."""
    try:
        for name, text in page.figures.items():
            write_text(job.out / name, text)
        for old in job.figures.glob("*.svg"):
            if f"{job.study.name}/{old.name}" not in page.figures:
                old.unlink()
        write_text(job.page, page.markdown)
        if job.budget == "full":
            write_index(job.out)
    except OSError as error:
        raise ConfigError(f"the report cannot be written to {job.out}: {error}; choose another --out") from error


def write_index(folder: Path) -> None:
    """Write ``README.md`` of a folder of pages: question, first verdict and command of each.

    A ``README.md`` that is no such index stays as it is.
    """
    index = folder / "README.md"
    if index.exists() and not index.read_text(encoding="utf-8").startswith(INDEX_TITLE):
        return
    pages = {name: page for name in STUDIES if (page := folder / f"{name}.md").exists()}
    write_text(index, render_index({name: page.read_text(encoding="utf-8") for name, page in pages.items()}))


def _section(override: str) -> str:
    return override.partition("=")[0].partition(".")[0].strip()


def _usual_folder(budget: Budget, home: Home) -> Path:
    checkout = Path.cwd()
    if budget == "full" and _is_checkout(checkout):
        return checkout / "reports" / "studies"
    return home.reports / "studies" / budget


def _is_checkout(folder: Path) -> bool:
    """Tell whether a folder is the root of fints' own repository, where reports of studies are kept."""
    return (folder / "pyproject.toml").is_file() and (folder / "fints" / "studies").is_dir()


def _is_full(page: Path) -> bool:
    """Tell whether a page was made by a run of the full budget; it states its command."""
    try:
        return "--budget full" in page.read_text(encoding="utf-8")
    except OSError:
        return False


def _make(folder: Path) -> None:
    """Make a folder and find out, before the work is done, whether it can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        require_writable(folder)
    except OSError as error:
        raise ConfigError(f"the folder {folder} cannot be written: {error}; choose another") from error
