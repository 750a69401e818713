"""``fints relocate``: mends the MLflow runs of a home that was moved."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  (typer reads it)
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.options import Config, JsonFile, Overrides, nightly_settings, screen, write_json
from pipelines.outcome import reported

if TYPE_CHECKING:
    from fints.tracking import Relocation


def relocate(
    old: Annotated[
        Path | None, typer.Argument(metavar="OLD", help="The home as it was; found in the runs without it.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be changed.")] = False,
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """Let the MLflow runs of a moved home find their artifacts again; a second time, nothing is left to do."""
    with reported():
        from fints.bars.place import full_path
        from fints.errors import ConfigError
        from fints.tracking import Database
        from fints.tracking import relocate as mend
        from fints.tracking.redaction import without_passwords
        from pipelines.home import Home

        settings = nightly_settings(config, overrides)
        if settings.tracking.uri is not None:
            place = without_passwords(settings.tracking.uri)
            raise ConfigError(f"the runs are in {place}, not in a home; leave tracking.uri out to mend a home")
        before = None if old is None else full_path(old, "OLD")
        done = mend(Database(Home.from_environment().root), before, dry_run=dry_run)
        say = screen()
        for line in _lines(done, dry_run=dry_run):
            say.print(line, highlight=False, markup=False, soft_wrap=True)
        write_json(json_file, plain(done, dry_run=dry_run))


def plain(done: Relocation, *, dry_run: bool) -> dict[str, object]:
    """Return a relocation as plain values."""
    return {
        "home": str(done.home),
        "old": [str(place) for place in done.old],
        "changes": dict(done.changes),
        "missing": [str(folder) for folder in done.missing],
        "dry_run": dry_run,
    }


def _lines(done: Relocation, *, dry_run: bool) -> list[str]:
    missing = [f"warning: {folder} is not there; move it, too" for folder in done.missing]
    if not done.changes:
        return [f"the runs of {done.home} look for their artifacts in it; there is nothing to mend", *missing]
    counts = ", ".join(f"{count} in {table}" for table, count in done.changes.items())
    verb = "would be" if dry_run else "were"
    places = " and ".join(map(str, done.old))
    return [f"addresses that {verb} changed from {places} to {done.home}: {counts}", *missing]
