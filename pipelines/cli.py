"""The command line: ``fints …``."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pipelines.data import data
from pipelines.doctor_command import doctor
from pipelines.harmless import harmless_log
from pipelines.model_command import model
from pipelines.nightly_command import nightly
from pipelines.options import BudgetName, Config, JsonFile, Overrides, nightly_settings, screen, write_json
from pipelines.outcome import Exit, reported
from pipelines.relocate import relocate
from pipelines.report_command import report
from pipelines.schedule_command import schedule
from pipelines.streams import emptied, opened, told
from pipelines.tune_command import tune
from pipelines.ui import ui

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(data, name="data")
app.add_typer(model, name="model")


class PeriodClock(StrEnum):
    """Where cycles are looked for."""

    both = "both"
    session = "session"
    calendar = "calendar"


def _version(asked: bool) -> None:
    if asked:
        from fints import __version__

        typer.echo(f"fints {__version__}")
        raise typer.Exit


@app.callback()
def fints(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Forecast market series with a transformer whose attention knows the market's cycles."""


app.command()(nightly)


@app.command()
def backtest(
    config: Config = None,
    overrides: Overrides = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", help="Date, or instant with zone, that the data end at; else the newest bar."),
    ] = None,
    budget: Annotated[
        BudgetName | None,
        typer.Option(
            "--budget", help="quick: minutes; full: several seeds; else as configured, and quick without --config."
        ),
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Compare models and encodings on rolling origins, and say whether their differences mean anything.

    One that was stopped goes on where it was when it is asked for again.
    """
    with reported():
        from fints.settings import BacktestSettings, read_settings
        from fints.settings.backtest import BRIEF
        from pipelines.asof import parse_as_of
        from pipelines.backtest import run_backtest
        from pipelines.backtest_runs import experiment_name
        from pipelines.home import Home
        from pipelines.progress import stages
        from pipelines.publication import publish
        from pipelines.scoreboard import show_backtest

        brief = BRIEF if config is None and budget is None else ()
        settings, console = read_settings(BacktestSettings, config, [*brief, *(overrides or ())]), screen()
        settings = settings if budget is None else settings.within(budget.value)
        home, asked = Home.from_environment(), parse_as_of(as_of)
        with stages(screen(stderr=True)) as shown:
            done = run_backtest(settings, home, shown, asked)
        show_backtest(done, console)
        write_json(json_file, done.to_json())  # before MLflow, whose server may be slow or away
        with stages(screen(stderr=True)) as shown:
            told, (done, page) = len(done.warnings), publish(done, home, shown)
        for warning in done.warnings[told:]:
            console.print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
        if page is not None:
            console.print(f"report: {page}", highlight=False, markup=False, soft_wrap=True)
        if done.run_id is not None:
            _lead_to_runs(experiment_name(settings.dataset))
        write_json(json_file, done.to_json())
        raise SystemExit(Exit.DONE if done.complete else Exit.PARTLY)


@app.command()
def leakcheck(config: Config = None, overrides: Overrides = None, json_file: JsonFile = None) -> None:
    """Change everything after a cutoff and see that no forecast and no fitted state moves; exit code 1 if one does.

    The models of a backtest are checked on the latest bars, on two windows and with hardly any training.
    """
    with reported():
        from fints.settings import BacktestSettings, read_settings
        from pipelines.home import Home
        from pipelines.leakcheck import SMALL, leak_tables, run_leakcheck
        from pipelines.progress import stages

        small = SMALL if config is None else ()
        settings = read_settings(BacktestSettings, config, [*small, *(overrides or ())])
        with stages(screen(stderr=True)) as shown:
            found = run_leakcheck(settings, Home.from_environment(), shown)
        screen().print(leak_tables(found))
        write_json(json_file, found.to_json())
        raise SystemExit(Exit.FAILED if found.leaks else Exit.DONE if found.complete else Exit.PARTLY)


@app.command()
def ingest(
    config: Config = None,
    overrides: Overrides = None,
    source: Annotated[
        str | None,
        typer.Option("--source", help="Kind of source: sample, files, folder, http, chain, synthetic, yahoo."),
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Fetch new bars, check them and commit them to the store."""
    with reported():
        import pandas as pd

        from fints.bars.finding import in_sentences
        from fints.bars.sources import make_source
        from fints.bars.store import BarStore
        from pipelines.home import Home
        from pipelines.ingest import update
        from pipelines.progress import stages
        from pipelines.terminal import plain_table

        chosen = [f"source.kind={source}"] if source else []
        settings, home = nightly_settings(config, [*chosen, *(overrides or [])]), Home.from_environment()
        with home.locked(), stages(screen(stderr=True)) as shown:
            store = BarStore(home.store)
            report = update(make_source(settings.source), store, settings, shown, pd.Timestamp.now("UTC"))
        frame = report.to_frame()
        screen().print(plain_table(frame, f"version {report.version} of the bars in {home.store}"))
        misplaced = report.misplaced()
        for doubt in misplaced:
            screen().print(f"warning: {doubt}", style="yellow", highlight=False, markup=False)
        found = in_sentences(report.findings)
        for sentence in (*report.remarks(), *found):
            screen().print(sentence, highlight=False, markup=False)
        symbols = json.loads(frame.to_json(orient="records"))
        told = {"warnings": misplaced, "remarks": report.remarks(), "findings": found}
        write_json(json_file, {"version": report.version, "symbols": symbols, **told})
        ended = Exit.FAILED if len(report.failed) == len(frame) else Exit.PARTLY
        raise SystemExit(ended if report.failed or misplaced else Exit.DONE)


@app.command()
def periods(  # noqa: PLR0913, PLR0917 — options of a command
    symbols: Annotated[list[str] | None, typer.Argument(help="Series; all of the settings without any.")] = None,
    target: Annotated[str, typer.Option("--target", help="What of them: log_volume, log_range, …")] = "log_volume",
    clock: Annotated[
        PeriodClock, typer.Option("--clock", help="Trading sessions, calendar days, or both.")
    ] = PeriodClock.both,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Date, or instant with zone, up to which bars are known.")
    ] = None,
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """Find the cycles of series, say how sure they are, and draw them."""
    with reported():
        from fints.report import periods_table
        from pipelines.asof import parse_as_of
        from pipelines.home import Home
        from pipelines.periods import Asked, find_periods
        from pipelines.progress import stages

        settings, console = nightly_settings(config, overrides), screen()
        asked = Asked(tuple(symbols or ()), target, clock.value, parse_as_of(as_of))
        with stages(screen(stderr=True)) as shown:
            outcome = find_periods(asked, settings, Home.from_environment(), shown)
        console.print(periods_table(outcome.found, outcome.title))
        for note in outcome.notes:
            console.print(note, style="yellow", highlight=False, markup=False)
        for problem in outcome.problems:
            console.print(str(problem), style="red" if problem.left_out else "dim", highlight=False, markup=False)
        console.print(f"figures: {outcome.page}", highlight=False, markup=False, soft_wrap=True)
        write_json(json_file, outcome.to_json())
        raise SystemExit(Exit.PARTLY if any(problem.left_out for problem in outcome.problems) else Exit.DONE)


@app.command()
def explain(
    symbol: Annotated[
        str, typer.Argument(metavar="SYMBOL", help="Series whose forecast is explained; one of the settings.")
    ],
    target: Annotated[str, typer.Option("--target", help="What of it: log_volume, log_range, …")] = "log_volume",
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Date, or instant with zone, of the forecast; else the newest bar.")
    ] = None,
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """Say which cycles moved a forecast and what each is worth, and draw where attention looks."""
    with reported():
        from fints.report.explain import explanation_table
        from pipelines.asof import parse_as_of
        from pipelines.explain import Asked, run_explain
        from pipelines.home import Home
        from pipelines.progress import stages

        settings, console = nightly_settings(config, overrides), screen()
        with stages(screen(stderr=True)) as shown:
            explained = run_explain(Asked(symbol, target, parse_as_of(as_of)), settings, Home.from_environment(), shown)
        console.print(explanation_table(explained.report))
        console.print(f"figures: {explained.page}", highlight=False, markup=False, soft_wrap=True)
        write_json(json_file, explained.to_json())


@app.command()
def study(  # noqa: PLR0913, PLR0917 — an argument is an option of the command
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Of the study; see --list.")] = None,
    show: Annotated[bool, typer.Option("--list", help="Name the studies and leave.")] = False,
    budget: Annotated[
        BudgetName, typer.Option(help="quick: minutes; full: hours, and it goes on where it was stopped.")
    ] = BudgetName.QUICK,
    seeds: Annotated[
        int | None, typer.Option(help="So many instead of those of the budget; what is done already is kept.", min=1)
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes at a time; one per processor.", min=1)] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the report; by default FINTS_HOME/reports/studies/quick or …/full, and in a checkout its "
            "reports/studies for full ones. A quick run never replaces the page of a full one.",
            file_okay=False,
        ),
    ] = None,
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """Run a reproducible study and write its report; exit code 1 if what it asserts does not hold."""
    with reported():
        from pipelines.home import Home
        from pipelines.progress import stages
        from pipelines.study import list_studies, logged, plan_job, run_study, tracking_settings

        if show:
            for line in list_studies():
                screen().print(line, highlight=False, markup=False)
            return
        if name is None:
            raise typer.BadParameter("name a study, or list them with --list", param_hint="NAME")
        tracking, home = tracking_settings(config, overrides or ()), Home.from_environment()
        job = plan_job(name, budget.value, workers, out, home, seeds)
        with stages(screen(stderr=True)) as shown, shown.stage(job.command) as stage:
            outcome = run_study(job, home, stage)
        for sentence in outcome.findings.verdicts:
            screen().print(f"- {sentence}", highlight=False, markup=False, soft_wrap=True)
        screen().print(f"report: {job.page}", highlight=False, markup=False, soft_wrap=True)
        write_json(json_file, outcome.to_json())
        outcome = logged(outcome, home, tracking)
        for warning in outcome.warnings:
            screen().print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
        write_json(json_file, outcome.to_json())
        raise SystemExit(Exit.DONE if outcome.findings.passed else Exit.FAILED)


def _lead_to_runs(experiment: str) -> None:
    screen().print(f"MLflow: run `fints ui` and open its link to {experiment}", highlight=False, markup=False)


app.command()(tune)
app.command()(report)
app.command()(ui)
app.command()(relocate)
app.command()(schedule)
app.command()(doctor)


def main() -> None:
    """Run the command line."""
    # Threads that spin long while they wait slow training tenfold on a busy machine; torch reads this when it loads.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    # Processes of ours begin with `python -m` or `python -c`, which import from the folder that one stands in: a
    # joblib.py that lies there would be run.
    os.environ["PYTHONSAFEPATH"] = "1"
    opened()
    harmless_log()
    try:
        _stand_somewhere()
        app()
    finally:
        emptied()


def _stand_somewhere() -> None:
    """Refuse a working folder that is gone: libraries that look into it end Python in words of their own."""
    try:
        Path.cwd()
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        told(f"fints: the working folder cannot be found ({said}); change to one that is there")
        raise SystemExit(Exit.USAGE) from error
