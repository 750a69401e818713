"""Where a search goes: to a terminal, to disk, then to MLflow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fints.errors import StoreError
from fints.report import tuning_markdown
from pipelines.kept_tuning import keep_tuning, write_kept
from pipelines.tune import logged
from pipelines.tune_report import best_yaml, tuning_report

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.home import Home
    from pipelines.progress import Stages
    from pipelines.tune import Tuning


def tuning_text(done: Tuning) -> str:
    """Return a search as Markdown."""
    return tuning_markdown(tuning_report(done, best_yaml(done)))


def publish_tuning(done: Tuning, home: Home, stages: Stages) -> tuple[Tuning, Path | None]:
    """Keep a search and log it; where one of the two fails, the outcome has a warning more.

    Returns
    -------
    Tuning
        With the run under which it was logged.
    Path or None
        Of its page; None where it could not be kept.
    """
    page = None
    try:
        with stages.stage("report"):
            page = keep_tuning(done, home)
    except StoreError as error:
        done = replace(done, warnings=(*done.warnings, str(error)))
    done = logged(done, home, stages)
    if page is not None and done.run_id is not None:
        try:
            write_kept(done, home)
        except (OSError, ValueError) as error:
            warning = f"that the runs were logged could not be written down in {page.parent}: {error}"
            done = replace(done, warnings=(*done.warnings, warning))
    return done, page
