"""``fints report``: what was reported before, and a backtest sent to MLflow later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.options import JsonFile, screen, write_json
from pipelines.outcome import Exit, reported

if TYPE_CHECKING:
    from rich.console import Console

    from fints.settings import TrackingSettings
    from pipelines.home import Home
    from pipelines.kept import KeptReport

Server = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="With --resend, settings whose tracking server is taken.", dir_okay=False),
]
_MARKS = {True: "in MLflow", False: "not in MLflow yet: fints report --resend", None: ""}


def report(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Of a report to print; lists all without.")] = None,
    resend: Annotated[
        bool,
        typer.Option("--resend", help="Upload a kept backtest to MLflow; without NAME, all that its server missed."),
    ] = False,
    config: Server = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", help="With --resend, tracking.uri=…: to another server than that of the settings."),
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """List the reports of backtests, searches and nights with their verdicts, print one, or upload backtests later.

    A backtest is uploaded to where its own settings say, or to where --config or --set tracking.uri=… says.
    """
    with reported():
        from pipelines.home import Home

        home, console, to = Home.from_environment(), screen(), _elsewhere(resend, config, overrides)
        if resend:
            outcome, ended = _upload(home, name, to, console)
            write_json(json_file, outcome)
            raise SystemExit(ended)
        if name is None:
            write_json(json_file, _list(home, console))
        else:
            write_json(json_file, _print(home, name, console))


def _elsewhere(resend: bool, config: Path | None, overrides: list[str] | None) -> TrackingSettings | None:
    """Return where the options send backtests; None where they say nothing, so that their own settings hold."""
    from fints.errors import ConfigError
    from pipelines.kept import elsewhere

    if (overrides or config) and not resend:
        raise ConfigError("--config and --set say where --resend uploads to; add --resend, or leave them out")
    return elsewhere(overrides or (), config) if overrides or config else None


def _list(home: Home, console: Console) -> list[dict[str, object]]:
    """Name every report with its verdict and its page."""
    from pipelines.kept import kept_reports

    reports = kept_reports(home)
    for found in reports:
        _show(found, console)
    if not reports:
        _say(console, f"there is no report in {home.reports} yet; run `fints backtest` or `fints nightly`")
    return [found.to_json() for found in reports]


def _print(home: Home, name: str, console: Console) -> dict[str, object]:
    """Print a report again."""
    from pipelines.kept import kept_report
    from pipelines.scoreboard import show_markdown

    found = kept_report(home, name)
    show_markdown(found.text(), console)
    _say(console, f"report: {found.page}")
    return found.to_json()


def _upload(
    home: Home, name: str | None, to: TrackingSettings | None, console: Console
) -> tuple[dict[str, object], Exit]:
    """Upload kept backtests, and say what became of each."""
    from fints.errors import FintsError
    from pipelines.kept import resend

    outcome = resend(home, name, to)
    failed = [error for error in outcome.values() if isinstance(error, FintsError)]
    for of, found in outcome.items():
        if isinstance(found, FintsError):
            _say(console, f"{of}: {found}", "red")
        else:
            _say(console, f"{of}: uploaded as run {found}")
    if not outcome:
        _say(console, "every backtest that is to be in MLflow is there")
    ended = Exit.DONE if not failed else Exit.FAILED if len(failed) == len(outcome) else Exit.PARTLY
    return {of: None if isinstance(found, FintsError) else found for of, found in outcome.items()}, ended


def _show(found: KeptReport, console: Console) -> None:
    again = found.kind == "tuning" and found.logged is False
    said = "not in MLflow yet: run the same fints tune again" if again else _MARKS[found.logged]
    mark = f"  ({said})" if said else ""
    _say(console, f"{found.kind} {found.name}{mark}", "bold")
    for sentence in found.verdict:
        _say(console, f"  {sentence}")
    _say(console, f"  {found.page}")


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
