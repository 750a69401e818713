"""A search on disk: its page, its tables, and the settings that it ended in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd

from fints.errors import BundleError, StoreError
from fints.report import render_tuning, tuning_markdown
from pipelines.files import write_text
from pipelines.tune_report import BEST, best_yaml, plain_tuning, tuning_report

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.home import Home
    from pipelines.tune import Tuning

RESULT, PAGE, TEXT, TRIALS, MODEL = "result.json", "index.html", "report.md", "trials.csv", "model"


def tuning_folder(name: str, home: Home) -> Path:
    """Return where a search is kept: one folder for every study."""
    return home.reports / "tuning" / name


def keep_tuning(done: Tuning, home: Home) -> Path:
    """Write a search to disk; an earlier state of the same study is replaced.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    StoreError
        If the folder cannot be written.
    """
    folder, best = tuning_folder(done.result.name, home), best_yaml(done)
    report = tuning_report(done, best)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / BEST, best)
        write_text(folder / TRIALS, done.result.trials.to_csv(index=False))
        write_text(folder / TEXT, tuning_markdown(report))
        write_text(folder / PAGE, render_tuning(report))
        write_kept(done, home)
        if done.result.model is not None:
            done.result.model.save(folder / MODEL)
    except (BundleError, OSError, ValueError) as error:
        raise StoreError(
            f"the search cannot be kept in {folder}: {error}; if there is no room, free space or set FINTS_HOME"
        ) from error
    return folder / PAGE


def write_kept(done: Tuning, home: Home) -> None:
    """Write the plain values of a search, its MLflow run among them.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    made, wanted = pd.Timestamp.now("UTC").isoformat(), done.settings.tracking.enabled
    plain = json.dumps({"made": made, "tracked": wanted, **plain_tuning(done)}, indent=1, allow_nan=False, default=str)
    write_text(tuning_folder(done.result.name, home) / RESULT, f"{plain}\n")
