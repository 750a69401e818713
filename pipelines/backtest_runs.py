"""A backtest in MLflow: a parent run with the verdict, and one child for each model on each target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.errors import BundleError
from fints.settings.backtest import TransformerEntry, in_short
from fints.tracking import Dataset, Links, Tracking, flat
from pipelines.backtest_note import describe, describe_model
from pipelines.backtest_plots import plots_of
from pipelines.backtest_records import Scores, joined, settings_of
from pipelines.backtest_view import REPORT, VERDICT, VIEW, comparison_view, search_of
from pipelines.fitted import FittedModels, jobs_folder
from pipelines.provenance import provenance
from pipelines.report import backtest_report, model_looks
from pipelines.roster import make_entrants

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from fints.report import BacktestReport
    from fints.settings import BacktestSettings, Entry
    from fints.tracking import Run
    from pipelines.backtest import Backtest, TargetBacktest
    from pipelines.home import Home


def experiment_name(dataset: str) -> str:
    """Name the MLflow experiment of a dataset's backtests."""
    return f"fints/backtests/{dataset}"


def track(done: Backtest, home: Home, page: Path | None = None) -> str:
    """Log a backtest; return the id of the parent run.

    Parameters
    ----------
    done : Backtest
    home : Home
    page : Path, optional
        Its HTML report, to be kept with the run.
    """
    settings = done.settings
    tracking = Tracking(home.root, settings.tracking.uri)
    experiment, name = experiment_name(settings.dataset), f"{done.as_of} {settings.dataset}"
    tracking.sweep(experiment)
    tags = provenance(done.as_of, done.data_version, settings.digest)
    report = backtest_report(done)
    scores = {found.target: Scores.of(found) for found in report.targets}
    with tracking.run(experiment, name, {**tags, "fints.kind": "backtest"}) as parent:
        tags |= {"fints.kind": "model", "fints.backtest_id": parent.run_id, "mlflow.parentRunId": parent.run_id}
        views = {}
        for found in done.targets:
            logged: dict[str, None] = {}  # a set that keeps its order
            for entry in settings.models:
                title = entry.label if len(done.targets) == 1 else f"{entry.label} on {found.target}"
                with tracking.run(experiment, title, tags | _tags(entry, found, settings)) as child:
                    logged |= dict.fromkeys(_log_model(child, entry, done, found, scores[found.target], home))
            view = comparison_view(parent.run_id, name, found.target, logged, settings.h)
            views[found.target] = view.key if tracking.save_view(parent.experiment_id, view) else ""
        parent.log_files(_files(report, scores, page))
        parent.log_dataset(_dataset(done))
        parent.log(
            params=flat(settings.model_dump(mode="json", exclude={"models"})) | {"models": len(settings.models)},
            tags={f"{VIEW}{target}": key for target, key in views.items() if key}
            | {VERDICT: report.targets[0].headlines()[0]},
        )
        parent.describe(describe(scores, _links(parent, views, page)))
        return parent.run_id


def _tags(entry: Entry, found: TargetBacktest, settings: BacktestSettings) -> dict[str, str]:
    encoding = {"fints.encoding": in_short(entry.encoding)} if isinstance(entry, TransformerEntry) else {}
    return {
        "fints.target": found.target,
        "fints.model": entry.kind,
        "mlflow.runColor": model_looks(settings)[entry.label].colour,
        "mlflow.note.content": describe_model(found, entry.label),
        **encoding,
    }


def _log_model(run: Run, entry: Entry, done: Backtest, found: TargetBacktest, scores: Scores, home: Home) -> list[str]:
    """Log a model on a target; return the names of its metrics."""
    name, curves = entry.label, scores.curves(entry.label)
    if name in found.result.failures:
        run.status = "FAILED"
    run.log(settings_of(entry, done.settings), curves)
    if curves:
        run.log_files(
            {
                "tables/folds.json": scores.folds_of(name),
                "predictions.parquet": scores.predictions_of(name),
                **plots_of(scores, name),
            }
        )
    folder = fitted_model(entry, done, found, home)
    if folder is not None:
        try:
            run.log_model(name, folder)
        except BundleError as error:  # the figures stand without it
            run.log(tags={"fints.model_missing": str(error)})
    return list(curves)


def fitted_model(entry: Entry, done: Backtest, found: TargetBacktest, home: Home) -> Path | None:
    """Return where a transformer lies as its jobs fitted it last, with the first seed; None if it was not kept."""
    if found.panel is None or not isinstance(entry, TransformerEntry):
        return None
    kept = FittedModels.under(jobs_folder(home, done.settings.dataset, done.as_of) / found.target, found.panel)
    settings = done.settings.model_copy(update={"models": (entry,)})
    return kept.latest(make_entrants(settings, found.plan)[0].model)


def _files(report: BacktestReport, scores: Mapping[str, Scores], page: Path | None) -> dict[str, str | pd.DataFrame]:
    tables = {target: one.tables() for target, one in scores.items()}
    names = dict.fromkeys(name for one in tables.values() for name in one)
    shown = {
        f"tables/{name}.json": joined({t: one[name] for t, one in tables.items() if name in one}) for name in names
    }
    pages = {} if page is None else {REPORT: page.read_text("utf-8")}
    return {**pages, **shown, "config.yaml": report.settings}


def _dataset(done: Backtest) -> Dataset:
    settings, panels = done.settings, [found.panel for found in done.targets if found.panel is not None]
    return Dataset(
        name=settings.dataset,
        version="-".join([str(done.data_version), *(panel.digest[:8] for panel in panels[:1])]),
        source=f"{settings.source.kind} as of {done.as_of}, {settings.interval}",
        rows=sum(panel.rows for panel in panels),
        columns=tuple(found.target for found in done.targets),
    )


def _links(parent: Run, views: Mapping[str, str], page: Path | None) -> dict[str, str]:
    """Return where to look, by the words to click on."""
    links, place = Links(), parent.experiment_id
    several = len(views) > 1
    found = {} if page is None else {"Report": links.artifact(place, parent.run_id, REPORT)}
    for target, key in views.items():
        words = f"Curves of {target}" if several else "Curves"
        found[words] = links.view(place, key) if key else links.curves(place, search_of(parent.run_id, target))
    return {**found, "Table": links.artifact(place, parent.run_id, "tables/leaderboard.json")}
