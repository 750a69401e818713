"""The commands that look into the store of bars: ``fints data …``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from pipelines.options import Config, JsonFile, Overrides, nightly_settings, screen, write_json
from pipelines.outcome import Exit, reported
from pipelines.quarantine import quarantine

data = typer.Typer(no_args_is_help=True, help="Look into the store of bars.")
data.add_typer(quarantine, name="quarantine")


@data.command()
def status(config: Config = None, overrides: Overrides = None, json_file: JsonFile = None) -> None:
    """Show what is stored: series, span, rows, source, findings."""
    with reported():
        nightly_settings(config, overrides)
        from fints.bars.store import BarStore
        from pipelines.home import Home
        from pipelines.terminal import plain_table

        store = BarStore(Home.from_environment().store)
        frame = store.status()
        screen().print(plain_table(frame, f"version {store.version()} of the bars in {store.root}"))
        write_json(json_file, json.loads(frame.to_json(orient="records", date_format="iso")))


@data.command()
def findings(
    symbols: Annotated[list[str] | None, typer.Argument(help="Series; all without any.")] = None,
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """Show what the checks last saw: gaps, doubtful bars, rows set aside."""
    with reported():
        nightly_settings(config, overrides)
        from fints.bars.store import BarStore
        from pipelines.home import Home
        from pipelines.terminal import plain_table

        store = BarStore(Home.from_environment().store)
        frame = store.findings(symbols or None)
        shown = frame[["symbol", "interval", "session", "severity", "kind", "reason"]]
        screen().print(plain_table(shown, f"findings that stand for the bars in {store.root}"))
        write_json(json_file, json.loads(frame.to_json(orient="records", date_format="iso")))


@data.command()
def verify(config: Config = None, overrides: Overrides = None, json_file: JsonFile = None) -> None:
    """Read everything and say whether the store is sound; exit code 1 if it is not."""
    with reported():
        nightly_settings(config, overrides)
        from fints.bars.store import BarStore
        from pipelines.home import Home

        store = BarStore(Home.from_environment().store)
        problems = store.verify()
        for problem in problems:
            screen().print(problem, style="red", highlight=False, markup=False)
        if not problems:
            screen().print(f"the store in {store.root} is sound", highlight=False, markup=False, soft_wrap=True)
        write_json(json_file, {"problems": problems})
        raise SystemExit(Exit.FAILED if problems else Exit.DONE)


@data.command()
def diff(
    older: Annotated[int, typer.Argument(help="A version of the bars.")],
    newer: Annotated[int, typer.Argument(help="A later version.")],
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """Say what changed between two versions of the bars: by symbol and kind of revision, and in the actions."""
    with reported():
        nightly_settings(config, overrides)
        from fints.bars.store import BarStore
        from pipelines.home import Home
        from pipelines.terminal import plain_table

        store = BarStore(Home.from_environment().store)
        bars, actions = store.diff(older, newer), store.diff_actions(older, newer)
        screen().print(plain_table(bars, f"from version {older} to {newer}"))
        if len(actions):
            screen().print(plain_table(actions, "splits and distributions"))
        tables = {"bars": bars, "actions": actions}
        write_json(
            json_file,
            {name: json.loads(frame.to_json(orient="records", date_format="iso")) for name, frame in tables.items()},
        )
