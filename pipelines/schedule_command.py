"""``fints schedule``: how a machine is told to run the night by itself."""

from __future__ import annotations

import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pipelines.options import Config, JsonFile, Overrides, nightly_settings, screen, write_json
from pipelines.outcome import reported


class ScheduleKind(StrEnum):
    """Of a scheduler."""

    cron = "cron"
    systemd = "systemd"
    airflow = "airflow"
    prefect = "prefect"
    all = "all"


def schedule(
    config: Config = None,
    overrides: Overrides = None,
    kind: Annotated[ScheduleKind, typer.Option("--kind", help="Of the scheduler.")] = ScheduleKind.all,
    json_file: JsonFile = None,
) -> None:
    """Print what cron, systemd, Airflow or Prefect need to run the night after the last close of the day.

    Nothing is installed or changed.
    """
    with reported():
        import pandas as pd

        from fints.errors import ConfigError
        from pipelines import clock
        from pipelines.home import Home
        from pipelines.schedule import Command, slot_of
        from pipelines.schedule_exchanges import exchanges_of
        from pipelines.schedule_kinds import KINDS
        from pipelines.schedule_secrets import secrets_of

        if overrides:
            raise ConfigError(
                "--set is not repeated by a scheduler; write the settings into a file and name it by --config"
            )
        settings, home = nightly_settings(config, None), Home.from_environment()
        places = exchanges_of(settings, home)
        slot = slot_of(places.names, clock.now(), pd.Timedelta(minutes=settings.settle))
        stated = config.absolute() if config is not None else None
        command = Command(executable(), home.root, stated, secrets_of(settings))
        _refuse_breaks(command.arguments, str(home.root))
        chosen = list(KINDS) if kind is ScheduleKind.all else [kind.value]
        texts = {name: KINDS[name](slot, command) for name in chosen}
        said = (
            f"{', '.join(places.names)} ({places.origin}): {slot.exchange} closes last, and the night can begin at "
            f"{slot.clock} {slot.zone}, {settings.settle:g} minutes after the close and five to spare."
        )
        console = screen()
        console.print(f"# {said}", highlight=False, markup=False, soft_wrap=True)
        for name, text in texts.items():
            console.print(f"\n# ---- {name} ----\n", highlight=False, markup=False)
            console.print(text, highlight=False, markup=False, soft_wrap=True)
        write_json(
            json_file,
            {
                "exchanges": list(places.names),
                "zone": slot.zone,
                "time": slot.clock,
                "days": list(slot.days),
                "secrets": list(command.secrets),
                **texts,
            },
        )


def executable() -> Path:
    """Return the absolute path of this command."""
    beside = Path(sys.executable).parent / "fints"
    found = beside if beside.exists() else Path(shutil.which("fints") or sys.argv[0])
    return found.absolute()


def _refuse_breaks(arguments: tuple[str, ...], home: str) -> None:
    from fints.errors import ConfigError

    for text in (*arguments, home):
        if any(not c.isprintable() for c in text):
            raise ConfigError(f"the path {text!r} has a line break or another control character; no scheduler takes it")
