"""Options that the commands share, and what they have in common."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from fints.settings import NightlySettings


class BudgetName(StrEnum):
    """What a command may cost."""

    QUICK = "quick"
    FULL = "full"


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
        elif not os.access(file, os.W_OK):
            raise typer.BadParameter(f"{file} is there and cannot be written")
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


def nightly_settings(config: Path | None, overrides: list[str] | None) -> NightlySettings:
    """Read the settings of a night."""
    from fints.settings import load_settings

    return load_settings(config, overrides or ())


def screen(*, stderr: bool = False) -> Console:
    """Return a console on standard output or error."""
    from pipelines import terminal

    return terminal.console(stderr=stderr)


def write_json(file: Path | None, value: Any) -> None:  # noqa: ANN401
    """Write a result for machines, if that was asked for."""
    if file is None:
        return
    from fints.errors import ConfigError

    text, begun = json.dumps(value, indent=1, allow_nan=False, default=str) + "\n", False
    try:
        with file.open("w", encoding="utf-8") as lines:
            begun = True
            lines.write(text)
    except OSError as error:
        if begun and file.is_file():
            file.unlink()  # half of a result is none that a machine can read
        raise ConfigError(f"the result cannot be written to {file}: {error}; check --json") from error
