"""A search in MLflow: a parent run with the verdict, and one child for each trial."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fints.errors import BundleError
from fints.tracking import Chart, ChartSection, Dataset, Links, SavedView, Tracking, flat
from fints.tuning.study import load
from pipelines.backtest_records import DIGITS
from pipelines.backtest_view import REPORT, VERDICT
from pipelines.kept_tuning import MODEL, PAGE, tuning_folder
from pipelines.provenance import provenance
from pipelines.tune_plots import plots_of
from pipelines.tune_report import BEST, best_yaml, tuning_report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from fints.report import TuningReport
    from fints.tracking import Run
    from fints.tuning import TrialSummary
    from pipelines.home import Home
    from pipelines.tune import Tuning

Curves = dict[str, dict[int, float]]

MOST_CHILDREN = 100
"""Trials with a run of their own, the lowest errors first; the table has all."""

COLOURS = ("#d55e00", "#0072b2", "#2da596")
"""Of the best three, as in the figures."""

OTHERS = "#8a949e"

VIEW = "fints.view.trials"
RUNS = "mlflow_run_ids"
"""Attribute of a study: its runs by the numbers of their trials."""

STATUS: Mapping[str, Literal["FINISHED", "FAILED", "KILLED"]] = {
    "complete": "FINISHED",
    "pruned": "KILLED",
    "failed": "FAILED",
}
"""Of runs, by what became of their trial."""

_UNIVERSAL = ("trials", "timeout", "workers", "storage", "tracking", "name", "warm_start")
"""Settings that may differ from one run of a study to the next; MLflow keeps the first value of a param for ever."""

_COLUMNS = ("error", "seconds", "folds")


def experiment_name(dataset: str) -> str:
    """Name the MLflow experiment of a dataset's searches."""
    return f"fints/tuning/{dataset}"


def track(done: Tuning, home: Home) -> str:
    """Log a search; return the id of the parent run.

    A study has one parent, however often it is taken up again, and a trial one run.

    Parameters
    ----------
    done : Tuning
    home : Home
    """
    settings, name = done.settings, done.result.name
    tracking, experiment = Tracking(home.root, settings.tracking.uri), experiment_name(settings.dataset)
    tracking.sweep(experiment)
    tags = provenance(done.as_of, done.data_version, settings.digest)
    tags |= {"fints.study": name, "fints.target": settings.target, "fints.encoding": settings.encoding.kind}
    known = tracking.find(experiment, {"fints.study": name, "fints.kind": "tuning"})
    before = known[0] if known else None
    report = tuning_report(done, best_yaml(done))
    with tracking.run(
        experiment,
        f"{done.as_of} {name}",
        {**tags, "fints.kind": "tuning"},
        None if before is None else before.info.run_id,
    ) as parent:
        trials = Trials(done, tracking, experiment, tags, parent.run_id)
        trials.log()
        view = trials_view(parent.run_id, name, report)
        shown = tracking.save_view(parent.experiment_id, view)
        parent.log_files(_files(done, report, tuning_folder(name, home) / PAGE))
        parent.log_dataset(_dataset(done))
        params = flat(settings.model_dump(mode="json", exclude=set(_UNIVERSAL)))
        logged = {} if before is None else before.data.params
        parent.log(
            params={allowed(key): value for key, value in params.items() if allowed(key) not in logged},
            curves=_curves(done),
            tags={VERDICT: report.headlines()[0], **({VIEW: view.key} if shown else {})},
        )
        parent.describe(_description(report, _links(parent, view.key if shown else None)))
        _log_model(name, parent, tuning_folder(name, home) / MODEL)
        return parent.run_id


@dataclass(frozen=True, slots=True)
class Trials:
    """Logs the trials of a search as runs below its own.

    Parameters
    ----------
    done : Tuning
    tracking : Tracking
    experiment : str
    tags : mapping of str to str
        Of every run.
    parent : str
        Id of the run of the search.
    """

    done: Tuning
    tracking: Tracking
    experiment: str
    tags: Mapping[str, str]
    parent: str

    def log(self) -> None:
        """Log every finished trial, the best first; those that are there already are brought up to date.

        Optuna lets nothing be added to a finished trial, so the study says which runs belong to its trials.
        """
        logged = self.tracking.find(self.experiment, {"mlflow.parentRunId": self.parent})
        known = {run.data.tags.get("optuna.number"): str(run.info.run_id) for run in logged}
        finished = sorted((one for one in self.done.result.summaries if _ended(one)), key=_rank)
        runs = {str(one.number): self._log(one, known.get(str(one.number))) for one in finished[:MOST_CHILDREN]}
        load(self.done.store).set_user_attr(RUNS, runs)

    def _log(self, one: TrialSummary, run_id: str | None) -> str:
        tags = {**self.tags, **self._tags(one)}
        with self.tracking.run(self.experiment, f"trial {one.number}", tags, run_id) as run:
            run.status = STATUS[one.state]
            run.log(params_of(one), curves_of(one))
            return run.run_id

    def _tags(self, one: TrialSummary) -> dict[str, str]:
        best = [top.number for top in self.done.result.top]
        place = best.index(one.number) if one.number in best else None
        said = {} if place is None else {"fints.best": str(place + 1)}
        return {
            "fints.kind": "trial",
            "fints.tuning_id": self.parent,
            "mlflow.parentRunId": self.parent,
            "mlflow.runColor": OTHERS if place is None else COLOURS[place % len(COLOURS)],
            "mlflow.note.content": describe_trial(one, place),
            "optuna.study": self.done.result.name,
            "optuna.number": str(one.number),
            "optuna.state": one.state,
            "optuna.origin": one.origin,
            "optuna.owner": one.owner,
            **said,
        }


def params_of(one: TrialSummary) -> dict[str, object]:
    """Return the parameters of a trial under names that MLflow takes."""
    return {allowed(name): value for name, value in one.params.items()}


def curves_of(one: TrialSummary) -> Curves:
    """Return the figures of a trial: its error, by fold too, and the periods that it began, moved and ended with."""
    headline = {"error": one.value, "seconds": one.seconds, "folds": float(len(one.folds))}
    curves: Curves = {
        f"headline/{name}": {0: float(f"{value:.{DIGITS}g}")} for name, value in headline.items() if value is not None
    }
    if one.folds:
        curves["by_fold/error"] = dict(enumerate(one.folds))
    for what, periods in (("start", one.start), ("end", one.end)):
        curves |= {allowed(f"period_{what}/{cycle}"): {0: value} for cycle, value in periods.items()}
    for cycle, points in one.trajectory.items():
        curves[allowed(f"theta/{cycle}")] = dict(points)
    return curves


def describe_trial(one: TrialSummary, place: int | None) -> str:
    """Say of a trial where it came from, and how it ended."""
    if one.failure:
        return f"**Failed:** {one.failure.replace('<', '&lt;')}"  # or MLflow takes it for an element of its page
    rank = "" if place is None else f"**Best {place + 1}.** "
    folds = f"{len(one.folds)} folds"
    ended = f"cut short after {folds}" if one.state == "pruned" else f"scored on {folds}"
    return f"{rank}{one.origin[:1].upper()}{one.origin[1:]}; {ended}."


def allowed(name: str) -> str:
    """Return a name with what MLflow takes in names of params and metrics.

    Examples
    --------
    >>> allowed("delta[20 sessions]")
    'delta.20 sessions'
    """
    return re.sub(r"[^\w\-. :/]", "", name.replace("[", ".").replace("]", ""))


def trials_view(parent: str, name: str, report: TuningReport) -> SavedView:
    """Lay out the trials of a search: a table by their error, and charts of folds and periods.

    Parameters
    ----------
    parent : str
        Id of the run of the search.
    name : str
    report : TuningReport
    """
    cycles = report.cycles()
    ends = [allowed(f"period_end/{cycle}") for cycle in cycles]
    sections = [
        ChartSection("Errors", (Chart("headline/error", "BAR"), Chart("by_fold/error")), 2),
        ChartSection("Periods while training", tuple(Chart(allowed(f"theta/{cycle}")) for cycle in cycles), 2),
    ]
    return SavedView(
        key=f"{parent[:12]}-trials",
        name=name,
        search=f"tags.`fints.tuning_id` = '{parent}'",
        order_by="headline/error",
        columns=(*(f"headline/{column}" for column in _COLUMNS), *ends),
        sections=tuple(section for section in sections if section.charts),
    )


def _ended(one: TrialSummary) -> bool:
    """Tell whether a trial came to an end of its own; one that was stopped was tried again under another number."""
    return one.state in STATUS and (one.state != "failed" or bool(one.failure))


def _rank(one: TrialSummary) -> tuple[bool, float, int]:
    known = one.value is not None and math.isfinite(one.value)
    return one.state != "complete", one.value if known and one.value is not None else math.inf, one.number


def _curves(done: Tuning) -> Curves:
    result = done.result
    gain, test = result.confirmation.gain, result.test
    headline = {
        "accepted": float(result.confirmation.accepted),
        "gain": gain.value,
        "gain_low": gain.low,
        "gain_high": gain.high,
        "trials": float(len(result.summaries)),
        "seconds": float(sum(one.seconds or 0.0 for one in result.summaries)),
    }
    if test is not None:
        headline |= {"test_gain_rmse": test.rmse.value, "test_gain_crps": test.crps.value}
    curves: Curves = {f"headline/{name}": {0: value} for name, value in headline.items() if math.isfinite(value)}
    complete = [one for one in result.summaries if one.state == "complete" and one.value is not None]
    values = {one.number: float(one.value or 0.0) for one in sorted(complete, key=lambda one: one.number)}
    lowest = [float(value) for value in np.minimum.accumulate(list(values.values()))]
    curves["history/error"] = values
    curves["history/lowest"] = dict(zip(values, lowest, strict=True))
    return curves


def _files(done: Tuning, report: TuningReport, page: Path) -> dict[str, str | bytes | pd.DataFrame]:
    result = done.result
    tables = {"tables/trials.json": result.trials, "tables/confirmation.json": result.confirmation.rows}
    if result.test is not None:
        tables["tables/test.json"] = result.test.rows
    pages = {REPORT: page.read_text("utf-8")} if page.exists() else {}
    importance = {"importance.json": json.dumps(dict(result.importance), indent=1)}
    return {**pages, **tables, **plots_of(report), **importance, "config.yaml": report.settings, BEST: report.best}


def _dataset(done: Tuning) -> Dataset:
    settings = done.settings
    return Dataset(
        name=settings.dataset,
        version=f"{done.data_version}-{done.panel.digest[:8]}",
        source=f"{settings.source.kind} as of {done.as_of}, {settings.interval}",
        rows=done.panel.rows,
        columns=(settings.target,),
    )


def _links(parent: Run, view: str | None) -> dict[str, str]:
    links, place = Links(), parent.experiment_id
    search = f"tags.`fints.tuning_id` = '{parent.run_id}'"
    trials = links.view(place, view) if view is not None else links.curves(place, search)
    figures = links.artifact(place, parent.run_id, "plots/history.svg")
    return {
        "Report": links.artifact(place, parent.run_id, REPORT),
        "Trials": trials,
        "Figures": figures,
        "Table": links.artifact(place, parent.run_id, "tables/trials.json"),
    }


def _description(report: TuningReport, links: Mapping[str, str]) -> str:
    """Describe a search: in brief with the links, since MLflow veils what is below its second line, then in full."""
    where = " · ".join(f"[{words}]({address})" for words, address in links.items())
    told = "\n".join(f"- {sentence}" for sentence in report.result.diagnostics)
    return "\n\n".join(filter(None, [f"**{report.in_brief()}.** {where}", *report.headlines(), told, report.how]))


def _log_model(name: str, parent: Run, folder: Path) -> None:
    """Log the model that was fitted last."""
    if not folder.is_dir():
        return
    try:
        parent.log_model(name, folder)
    except BundleError as error:  # the figures stand without it
        parent.log(tags={"fints.model_missing": str(error)})
