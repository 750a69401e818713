"""``fints tune``: search frequencies and encoding settings, and say whether it helped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.options import BudgetName, Config, JsonFile, Overrides, screen, write_json
from pipelines.outcome import Exit, reported

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fints.settings import TuneSettings
    from fints.settings.backtest import Budget


def tune(  # noqa: PLR0913, PLR0917 — an argument is an option of the command
    config: Config = None,
    overrides: Overrides = None,
    trials: Annotated[
        int | None, typer.Option(help="Trials in all, those of earlier runs of the study counted.", min=1)
    ] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds after which no trial is begun.", min=1)] = None,
    workers: Annotated[
        int | None, typer.Option(help="Trials at a time on this machine; one for each core.", min=1)
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(help="postgresql://user@host/database for many machines, or a journal file; one under the home."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Of the study; made of data and settings by default.")] = None,
    warm_start: Annotated[
        str | None, typer.Option("--warm-start", help="Study whose best points are tried first.")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", help="Date, or instant with zone, that the data end at; else the newest bar."),
    ] = None,
    budget: Annotated[
        BudgetName | None,
        typer.Option("--budget", help="quick: minutes; full: hours; as configured, and quick without --config."),
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Search frequencies and encoding settings by their error beyond the trained horizon, from the detected cycles on.

    A gain is confirmed on folds that the search never saw, or it is none. A search that was stopped goes on when it is
    asked for again; several machines share one by --storage and --name.
    """
    with reported():
        from pipelines.asof import parse_as_of
        from pipelines.home import Home
        from pipelines.progress import stages
        from pipelines.scoreboard import show_markdown
        from pipelines.tune import run_tune
        from pipelines.tune_publication import publish_tuning, tuning_text
        from pipelines.tune_report import BEST, plain_tuning
        from pipelines.tune_runs import experiment_name

        options = {"trials": trials, "timeout": timeout, "workers": workers, "storage.url": storage, "name": name}
        options["warm_start"] = warm_start
        settings = _settings(config, overrides or [], options, None if budget is None else budget.value)
        home, asked, console = Home.from_environment(), parse_as_of(as_of), screen()
        with stages(screen(stderr=True)) as shown:
            done = run_tune(settings, home, shown, asked)
        show_markdown(tuning_text(done), console)
        write_json(json_file, plain_tuning(done))  # before MLflow, whose server may be slow or away
        with stages(screen(stderr=True)) as shown:
            told, (done, page) = len(done.warnings), publish_tuning(done, home, shown)
        for warning in done.warnings[told:]:
            console.print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
        if page is not None:
            console.print(f"report: {page}", highlight=False, markup=False, soft_wrap=True)
            console.print(f"settings: {page.parent / BEST}", highlight=False, markup=False, soft_wrap=True)
        if done.run_id is not None:
            experiment = experiment_name(settings.dataset)
            console.print(f"MLflow: run `fints ui` and open its link to {experiment}", highlight=False, markup=False)
        files = {} if page is None else {"report": str(page), "settings": str(page.parent / BEST)}
        write_json(json_file, plain_tuning(done) | files)
        raise SystemExit(Exit.DONE if done.complete else Exit.PARTLY)


def _settings(
    config: Path | None, overrides: list[str], options: Mapping[str, object], budget: Budget | None
) -> TuneSettings:
    """Read the settings; options come before a budget, and a budget before what is configured."""
    from fints.settings import TuneSettings, read_settings
    from fints.settings.tune import BRIEF

    said = {key: value for key, value in options.items() if value is not None}
    brief = BRIEF if config is None and budget is None else ()
    written = [f"{key}={json.dumps(value)}" for key, value in said.items()]
    settings = read_settings(TuneSettings, config, [*brief, *overrides, *written])
    if budget is None:
        return settings
    return settings.within(budget).model_copy(update={key: said[key] for key in ("trials", "timeout") if key in said})
