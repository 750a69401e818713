"""``fints model``: which models there are, and putting one in use by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.options import Config, JsonFile, Overrides, nightly_settings, screen, write_json
from pipelines.outcome import Exit, reported

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fints.champion import Decision
    from pipelines.model_book import ModelBook

model = typer.Typer(no_args_is_help=True, help="Which model is in use, and why; promote another one, or go back.")

Target = Annotated[str, typer.Option("--target", help="What is forecast: log_volume, log_range, …")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it stands in the report and in the book for good.")]


@model.command("list")
def list_models(
    target: Annotated[str | None, typer.Argument(metavar="[TARGET]", help="All of the settings without one.")] = None,
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """List the models of each target: state, since when, why, and scores.

    The exit code is 1 where the decisions about a target cannot be read.
    """
    with reported():
        import pandas as pd

        from pipelines.home import Home
        from pipelines.model_book import ModelBook, chosen_targets, plain
        from pipelines.terminal import plain_table

        settings, home, console = nightly_settings(config, overrides), Home.from_environment(), screen()
        told: list[dict[str, object]] = []
        for name in chosen_targets(settings, target):
            book = ModelBook(settings, home, name)
            rows = book.rows()
            damage = book.damage()
            decisions = [] if damage else [decision.to_plain() for decision in book.decisions()]
            models = [plain(row) for row in rows]
            told.append({"target": name, "models": models, "decisions": decisions, "damage": damage})
            if damage:
                console.print(f"{name}: {damage}.", style="bold red", highlight=False, markup=False, soft_wrap=True)
            if not rows:
                hint = "" if config is not None else "; give the settings of the night with --config"
                console.print(
                    f"{name}: no night has forecast it under these settings yet{hint}.", highlight=False, markup=False
                )
                continue
            cells = [
                (row.state, row.model, row.version, row.since, _percent(row.holdout), _percent(row.recent), row.windows)
                for row in rows
            ]
            names = ["State", "Model", "Version", "Since", "Hold-out", "Since fit", "Windows"]
            console.print(plain_table(pd.DataFrame(cells, columns=names), f"{name}: CRPS against that of HAR"))
            for row in rows:
                if row.why:
                    console.print(f"{row.version}: {row.why}", highlight=False, markup=False)
        write_json(json_file, told)
        if any(one["damage"] for one in told):
            raise SystemExit(Exit.FAILED)


@model.command()
def promote(
    version: Annotated[
        str, typer.Argument(metavar="VERSION", help="As `fints model list` names it, or its last part.")
    ],
    target: Target,
    reason: Reason,
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """Put a model in use by hand, from the last night on."""
    with reported():
        _by_hand(lambda book: book.promote(version, reason), target, (config, overrides, json_file))


@model.command()
def rollback(
    target: Target,
    reason: Reason,
    config: Config = None,
    overrides: Overrides = None,
    json_file: JsonFile = None,
) -> None:
    """Put the model in use that was before the present one."""
    with reported():
        _by_hand(lambda book: book.rollback(reason), target, (config, overrides, json_file))


def _by_hand(
    decide: Callable[[ModelBook], Decision],
    target: str,
    options: tuple[Path | None, list[str] | None, Path | None],
) -> None:
    from pipelines.home import Home
    from pipelines.model_book import ModelBook, chosen_targets
    from pipelines.registration import synchronise

    config, overrides, json_file = options
    settings, home, console = nightly_settings(config, overrides), Home.from_environment(), screen()
    (name,) = chosen_targets(settings, target)
    with home.locked():
        book = ModelBook(settings, home, name)
        decision = decide(book)
        warnings = synchronise(settings, home.models, (name,))
    said = f"{name}: {decision.seat} is in use from the night of {decision.as_of:%Y-%m-%d} on. {decision.why}"
    console.print(said, highlight=False, markup=False, soft_wrap=True)
    for warning in warnings:
        console.print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
    write_json(json_file, {"decision": decision.to_plain(), "warnings": list(warnings)})


def _percent(change: float | None) -> str:
    return "" if change is None else f"{100 * change:+.1f} %"
