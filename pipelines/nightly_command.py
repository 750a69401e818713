"""``fints nightly``: what has come, forecast; and earlier nights made up for, or replayed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.options import Config, JsonFile, Overrides, nightly_settings, screen, write_json
from pipelines.outcome import reported
from pipelines.wait_option import wait_for_close

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fints.settings import NightlySettings
    from pipelines.night_run import NightlyOutcome
    from pipelines.night_standing import StandingNight
    from pipelines.nightly import Nights
    from pipelines.replay import Replay


def nightly(  # noqa: PLR0913, PLR0917 — an argument is an option of the command
    config: Config = None,
    overrides: Overrides = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Date, or instant with zone, to forecast from; else the newest bar.")
    ] = None,
    known_at: Annotated[
        str | None,
        typer.Option(
            "--known-at",
            help="With --as-of: replay that night as it was known at this instant, and compare it with what it stored.",
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Run a night that is done anew.")] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait-for-close",
            help="Sleep until the last close of the day and the settle delay; on a closed day, or once it is over, "
            "begin at once.",
        ),
    ] = False,
    json_file: JsonFile = None,
) -> None:
    """Ingest, forecast the next bars, compare with the baselines, and write a report.

    Nights of a live source that were missed, or whose bars came late, are run first. A night that is done is not run
    again. With --known-at nothing is written; the exit code is 1 if the forecasts are not the stored ones.
    """
    with reported():
        if known_at is not None:
            _replay(nightly_settings(config, overrides), as_of, known_at, json_file)
        from pipelines.asof import parse_as_of
        from pipelines.home import Home
        from pipelines.nightly import run_nightly
        from pipelines.progress import stages

        settings, asked = nightly_settings(config, overrides), parse_as_of(as_of)
        if wait:
            wait_for_close(settings, asked)
        with stages(screen(stderr=True)) as shown, _failures_told(settings):
            done = run_nightly(settings, Home.from_environment(), asked, shown, again=again)
        _show(done, settings)
        write_json(json_file, done.to_json())
        raise SystemExit(done.exit_code)


@contextmanager
def _failures_told(settings: NightlySettings) -> Iterator[None]:
    """Tell whoever is told of alerts that the night failed; another run that holds the lock will tell of its own."""
    from fints.errors import FintsError, LockHeldError
    from pipelines import clock
    from pipelines.alerting import tell_failure

    try:
        yield
    except LockHeldError:
        raise
    except (FintsError, OSError) as error:
        for warning in tell_failure(str(error), settings, clock.now()):
            screen(stderr=True).print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
        raise


def _replay(settings: NightlySettings, as_of: str | None, known_at: str, json_file: JsonFile) -> None:
    from fints.errors import ConfigError
    from pipelines.asof import parse_as_of
    from pipelines.home import Home
    from pipelines.progress import stages
    from pipelines.replay import run_replay

    asked, moment = parse_as_of(as_of), parse_as_of(known_at)
    if asked is None or moment is None:
        raise ConfigError("--known-at says when a night was known; name the night by --as-of")
    with stages(screen(stderr=True)) as shown:
        replay: Replay = run_replay(settings, Home.from_environment(), asked, moment, shown)
    for sentence in replay.sentences():
        screen().print(sentence, highlight=False, markup=False, soft_wrap=True)
    write_json(json_file, replay.to_json())
    raise SystemExit(replay.exit_code)


def _show(done: Nights, settings: NightlySettings) -> None:
    from pipelines.night_run import NightlyOutcome

    console = screen()
    for warning in done.warnings:
        console.print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
    if isinstance(done.tonight, NightlyOutcome):
        _show_forecasts(done.tonight, settings, done.failed)
        return
    for sentence in done.sentences():  # the notes of a report have them
        console.print(sentence, highlight=False, markup=False, soft_wrap=True)
    _show_failed(done.failed)
    _show_standing(done.tonight)


def _show_forecasts(outcome: NightlyOutcome, settings: NightlySettings, failed: Mapping[str, str]) -> None:
    from fints.report import nightly_table
    from pipelines.nightly_runs import experiment_name

    console = screen()
    told = outcome.night.failed
    _show_failed({symbol: cause for symbol, cause in failed.items() if told.get(symbol) != cause})
    console.print(nightly_table(outcome.report, outcome.warnings))
    console.print(f"report: {outcome.page}", highlight=False, markup=False, soft_wrap=True)
    if outcome.run_id is not None:
        said = f"MLflow: run `fints ui` and open its link to {experiment_name(settings.dataset)}"
        console.print(said, highlight=False, markup=False)


def _show_standing(night: StandingNight) -> None:
    said = str(night)
    screen().print(f"{said[:1].upper()}{said[1:]}.", highlight=False, markup=False, soft_wrap=True)
    for warning in night.warnings:
        screen().print(f"warning: {warning}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    screen().print(f"report: {night.page}", highlight=False, markup=False, soft_wrap=True)


def _show_failed(failed: Mapping[str, str]) -> None:
    for symbol, cause in failed.items():
        screen().print(f"not delivered: {symbol}: {cause}", style="red", highlight=False, markup=False)
