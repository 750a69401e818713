"""The command line: ``fints …``."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.outcome import Exit, reported

if TYPE_CHECKING:
    from rich.console import Console

    from fints.settings import NightlySettings

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
data = typer.Typer(no_args_is_help=True, help="Look into the store of bars.")
app.add_typer(data, name="data")


def _in_a_folder(file: Path | None) -> Path | None:
    """Refuse a place that cannot be written before the work is done, not after."""
    if file is None:
        return file
    from pipelines.files import require_writable

    folder = file.absolute().parent
    if not folder.is_dir():
        raise typer.BadParameter(f"there is no folder {folder}")
    try:
        if not file.exists():
            require_writable(folder)
    except OSError as error:
        raise typer.BadParameter(f"the folder {folder} cannot be written: {error}") from error
    return file


Config = Annotated[
    Path | None, typer.Option("--config", "-c", help="YAML settings; the embedded sample without one.", dir_okay=False)
]
Overrides = Annotated[list[str] | None, typer.Option("--set", help="One setting: key=value, nested with dots.")]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", help="Write the result to a file, for machines.", dir_okay=False, callback=_in_a_folder),
]


class BudgetName(StrEnum):
    """What a study may cost."""

    QUICK = "quick"
    FULL = "full"


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


@app.command()
def nightly(
    config: Config = None,
    overrides: Overrides = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Date, or instant with zone, to forecast from; else the newest bar.")
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Ingest, forecast the next bars, compare with the baselines, and write a report."""
    with reported():
        from fints.report import nightly_table
        from pipelines.asof import parse_as_of
        from pipelines.home import Home
        from pipelines.nightly import run_nightly
        from pipelines.progress import stages
        from pipelines.publish import experiment_name as nightly_experiment

        settings, console = _settings(config, overrides), _console()
        asked = parse_as_of(as_of)
        with stages(_console(stderr=True)) as shown:
            outcome = run_nightly(settings, Home.from_environment(), asked, shown)
        console.print(nightly_table(outcome.report))
        for symbol, cause in outcome.night.failed.items():
            console.print(f"not delivered: {symbol}: {cause}", style="red", highlight=False, markup=False)
        for warning in outcome.warnings:
            console.print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
        console.print(outcome.findings_in_words(), style="dim", highlight=False, markup=False)
        console.print(f"report: {outcome.page}", highlight=False, markup=False, soft_wrap=True)
        if outcome.run_id is not None:
            _lead_to_runs(nightly_experiment(settings.dataset))
        _write_json(json_file, outcome.to_json())
        raise SystemExit(Exit.DONE if outcome.complete else Exit.PARTLY)


@app.command()
def backtest(config: Config = None, overrides: Overrides = None, json_file: JsonFile = None) -> None:
    """Compare models and encodings on rolling origins, and say whether their differences mean anything."""
    with reported():
        from fints.settings import BacktestSettings, read_settings
        from pipelines.backtest import logged, run_backtest
        from pipelines.backtest_runs import experiment_name
        from pipelines.home import Home
        from pipelines.progress import stages
        from pipelines.scoreboard import backtest_tables

        settings, console = read_settings(BacktestSettings, config, overrides or ()), _console()
        home = Home.from_environment()
        with stages(_console(stderr=True)) as shown:
            done = run_backtest(settings, home, shown)
        console.print(backtest_tables(done))
        _write_json(json_file, done.to_json())  # before MLflow, whose server may be slow or away
        with stages(_console(stderr=True)) as shown:
            done = logged(done, home, shown)
        for warning in done.warnings:
            console.print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
        if done.run_id is not None:
            _lead_to_runs(experiment_name(settings.dataset))
        _write_json(json_file, done.to_json())
        raise SystemExit(Exit.DONE if done.complete else Exit.PARTLY)


@app.command()
def ingest(
    config: Config = None,
    overrides: Overrides = None,
    source: Annotated[
        str | None, typer.Option("--source", help="Kind of source: sample, files, synthetic, yahoo.")
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Fetch new bars, check them and commit them to the store."""
    with reported():
        import pandas as pd

        from fints.bars.sources import make_source
        from fints.bars.store import BarStore
        from pipelines.home import Home
        from pipelines.ingest import update
        from pipelines.progress import stages
        from pipelines.terminal import plain_table

        chosen = [f"source.kind={source}"] if source else []
        settings, home = _settings(config, [*chosen, *(overrides or [])]), Home.from_environment()
        with home.locked(), stages(_console(stderr=True)) as shown:
            store = BarStore(home.store)
            report = update(make_source(settings.source), store, settings, shown, pd.Timestamp.now("UTC"))
        frame = report.to_frame()
        _console().print(plain_table(frame, f"version {report.version} of the bars in {home.store}"))
        misplaced = report.misplaced()
        for doubt in misplaced:
            _console().print(f"warning: {doubt}", style="yellow", highlight=False, markup=False)
        symbols = json.loads(frame.to_json(orient="records"))
        _write_json(json_file, {"version": report.version, "symbols": symbols, "warnings": misplaced})
        ended = Exit.FAILED if len(report.failed) == len(frame) else Exit.PARTLY
        raise SystemExit(ended if report.failed or misplaced else Exit.DONE)


@data.command()
def status(config: Config = None, overrides: Overrides = None, json_file: JsonFile = None) -> None:
    """Show what is stored: series, span, rows, source, findings."""
    with reported():
        _settings(config, overrides)
        from fints.bars.store import BarStore
        from pipelines.home import Home
        from pipelines.terminal import plain_table

        store = BarStore(Home.from_environment().store)
        frame = store.status()
        _console().print(plain_table(frame, f"version {store.version()} of the bars in {store.root}"))
        _write_json(json_file, json.loads(frame.to_json(orient="records", date_format="iso")))


@data.command()
def verify(config: Config = None, overrides: Overrides = None, json_file: JsonFile = None) -> None:
    """Read everything and say whether the store is sound; exit code 1 if it is not."""
    with reported():
        _settings(config, overrides)
        from fints.bars.store import BarStore
        from pipelines.home import Home

        store = BarStore(Home.from_environment().store)
        problems = store.verify()
        for problem in problems:
            _console().print(problem, style="red", highlight=False, markup=False)
        if not problems:
            _console().print(f"the store in {store.root} is sound", highlight=False, markup=False, soft_wrap=True)
        _write_json(json_file, {"problems": problems})
        raise SystemExit(Exit.FAILED if problems else Exit.DONE)


@data.command()
def diff(
    older: Annotated[int, typer.Argument(help="A version of the bars.")],
    newer: Annotated[int, typer.Argument(help="A later version.")],
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """Say by symbol what changed between two versions of the bars."""
    with reported():
        _settings(config, overrides)
        from fints.bars.store import BarStore
        from pipelines.home import Home
        from pipelines.terminal import plain_table

        frame = BarStore(Home.from_environment().store).diff(older, newer)
        _console().print(plain_table(frame, f"from version {older} to {newer}"))
        _write_json(json_file, json.loads(frame.to_json(orient="records", date_format="iso")))


@app.command()
def study(  # noqa: PLR0913, PLR0917 — an argument is an option of the command
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Of the study; see --list.")] = None,
    show: Annotated[bool, typer.Option("--list", help="Name the studies and leave.")] = False,
    budget: Annotated[
        BudgetName, typer.Option(help="quick: minutes; full: hours, and it goes on where it was stopped.")
    ] = BudgetName.QUICK,
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
                _console().print(line, highlight=False, markup=False)
            return
        if name is None:
            raise typer.BadParameter("name a study, or list them with --list", param_hint="NAME")
        tracking, home = tracking_settings(config, overrides or ()), Home.from_environment()
        job = plan_job(name, budget.value, workers, out, home)
        with stages(_console(stderr=True)) as shown, shown.stage(job.command) as stage:
            outcome = run_study(job, home, stage)
        for sentence in outcome.findings.verdicts:
            _console().print(f"- {sentence}", highlight=False, markup=False, soft_wrap=True)
        _console().print(f"report: {job.page}", highlight=False, markup=False, soft_wrap=True)
        _write_json(json_file, outcome.to_json())
        outcome = logged(outcome, home, tracking)
        for warning in outcome.warnings:
            _console().print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
        _write_json(json_file, outcome.to_json())
        raise SystemExit(Exit.DONE if outcome.findings.passed else Exit.FAILED)


@app.command()
def ui(
    config: Config = None,
    overrides: Overrides = None,
    port: Annotated[int, typer.Option(help="Port on this machine.", min=1, max=65535)] = 5000,
    json_file: JsonFile = None,
) -> None:
    """Serve the MLflow runs on this machine and print the links to them."""
    with reported():
        import subprocess

        from fints.tracking import SERVER, Tracking, require_free
        from pipelines.home import Home

        settings = _settings(config, overrides)
        require_free(port)
        tracking = Tracking(Home.from_environment().root, settings.tracking.uri)
        command = tracking.server_command(port)
        home = f"http://127.0.0.1:{port}"
        links = tracking.links(port)
        _console().print(f"open {home}  (Ctrl-C stops the server)", highlight=False, markup=False, soft_wrap=True)
        for name, link in links.items():
            _console().print(f"{name}: {link}", highlight=False, markup=False, soft_wrap=True)
        _write_json(json_file, {"link": home, "links": links})
        server = subprocess.Popen(command, env={**os.environ, **SERVER}, start_new_session=True)
        try:
            raise SystemExit(server.wait())
        finally:
            with contextlib.suppress(ProcessLookupError):  # the server's own workers outlive it otherwise
                os.killpg(server.pid, signal.SIGTERM)


def _settings(config: Path | None, overrides: list[str] | None) -> NightlySettings:
    from fints.settings import load_settings

    return load_settings(config, overrides or ())


def _console(*, stderr: bool = False) -> Console:
    from pipelines.terminal import console

    return console(stderr=stderr)


def _lead_to_runs(experiment: str) -> None:
    _console().print(f"MLflow: run `fints ui` and open its link to {experiment}", highlight=False, markup=False)


def _write_json(file: Path | None, value: Any) -> None:  # noqa: ANN401
    if file is None:
        return
    from fints.errors import ConfigError

    try:
        file.write_text(json.dumps(value, indent=1, allow_nan=False, default=str) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"the result cannot be written to {file}: {error}; check --json") from error


def main() -> None:
    """Run the command line."""
    # Threads that spin long while they wait slow training tenfold on a busy machine; torch reads this when it loads.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    app()
