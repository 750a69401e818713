"""Where a backtest goes: to disk first, then to MLflow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fints.errors import StoreError
from pipelines.backtest import logged
from pipelines.kept_backtest import keep, note_run

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.backtest import Backtest
    from pipelines.home import Home
    from pipelines.progress import Stages


def publish(done: Backtest, home: Home, stages: Stages) -> tuple[Backtest, Path | None]:
    """Keep a backtest and log it; where one of the two fails, the outcome has a warning more.

    Returns
    -------
    Backtest
        With the run under which it was logged.
    Path or None
        Of its page; None where it could not be kept.
    """
    try:
        with stages.stage("report"):
            page = keep(done, home)
    except StoreError as error:
        return logged(replace(done, warnings=(*done.warnings, str(error))), home, stages), None
    done = logged(done, home, stages, page)
    if done.run_id is not None:
        try:
            note_run(page.parent, done.run_id)
        except (OSError, StoreError) as error:
            warning = f"that the runs were logged could not be written down in {page.parent}: {error}"
            done = replace(done, warnings=(*done.warnings, warning))
    return done, page
