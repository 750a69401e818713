"""``fints doctor``: whether everything that a night needs is in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.options import Config, JsonFile, Overrides, nightly_settings, screen, write_json
from pipelines.outcome import Exit, reported

if TYPE_CHECKING:
    from pipelines.doctor import Check, Found

_STYLES = {"ok": "green", "warning": "yellow", "failed": "bold red"}


def doctor(
    config: Config = None,
    overrides: Overrides = None,
    offline: Annotated[bool, typer.Option("--offline", help="Ask nobody outside this machine.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Check installation, home, store, calendars, tracking, source, clock, models and nights; change nothing.

    The exit code is 1 if a check failed; warnings leave it at 0.
    """
    with reported():
        from pipelines import clock
        from pipelines.doctor import Patient, examine
        from pipelines.home import Home

        patient = Patient(nightly_settings(config, overrides), Home.from_environment(), clock.now(), offline)
        diagnosis = examine(patient, checks())
        for name, found, _ in diagnosis.found:
            _say(name, found)
        write_json(json_file, diagnosis.to_json())
        raise SystemExit(Exit.FAILED if diagnosis.failed else Exit.DONE)


def checks() -> tuple[Check, ...]:
    """Return every check in order."""
    from pipelines import doctor_data as data
    from pipelines import doctor_machine as machine
    from pipelines import doctor_nights as nights
    from pipelines.doctor import Check

    return (
        Check("installation", machine.installation),
        Check("torch", machine.torch, 60),
        Check("home", machine.home),
        Check("disk", machine.disk),
        Check("clock", machine.clock),
        Check("time", data.time_of_others),
        Check("locks", machine.locks),
        Check("store", data.store, 60),
        Check("calendars", data.calendars, 60),
        Check("tracking", data.tracking, 30),
        Check("source", data.source, 60),
        Check("alerts", data.alerts),
        Check("books", nights.books),
        Check("models", nights.models, 60),
        Check("promises", nights.promises, 60),
        Check("ledger", nights.ledger),
        Check("last report", nights.report),
        Check("last night", data.last_night),
    )


def _say(name: str, found: Found) -> None:
    from rich.text import Text

    line = Text.assemble((f"{found.state:8}", _STYLES[found.state]), (f"{name:13}", "bold"), found.sentence)
    screen().print(line, soft_wrap=True)
    if found.cure:
        screen().print(Text(f"{'':21}→ {found.cure}"), soft_wrap=True)
