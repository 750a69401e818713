"""A backtest in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pipelines.terminal import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pipelines.backtest import Backtest, TargetBacktest

ERRORS = ("RMSE", "MAE", "MASE", "CRPS")
COVERAGE = ("cov80", "cov95")


def backtest_tables(done: Backtest) -> RenderableType:
    """Lay out the leaderboard of every target, the best of each column in bold, with its verdicts below."""
    folds = done.targets[0].result.folds
    refit = done.settings.refit
    # False and True count as 0 and 1.
    how = {0: "fitted once, before the first", 1: "fitted anew in each"}.get(
        refit, f"fitted anew in every {refit} windows"
    )
    title = (
        f"Backtest of {done.settings.dataset} up to {done.as_of}: {counted(len(folds), 'window')} of "
        f"{counted(folds.h, 'bar')}, {folds.step_size} apart, from {folds.cutoffs[0]:%Y-%m-%d} on; models {how}"
    )
    parts: list[RenderableType] = [Text(title, style="bold")]
    for found in done.targets:
        parts += [Text(""), _board(found), *(Text(verdict.sentence) for verdict in found.verdicts)]
        parts += _distances(found)
        reused = int(found.result.jobs["reused"].sum())
        if reused:
            said = f"{reused} of {counted(len(found.result.jobs), 'job')} had been done by an earlier run"
            parts.append(Text(said, style="dim"))
        parts += [
            Text(f"{'left out' if p.left_out else 'note'}: {p.unique_id}, {found.target}: {p.reason}", style="yellow")
            for p in found.problems
        ]
    parts += [Text(f"failed: {name}: {cause}", style="red") for name, cause in done.failed.items()]
    return Group(*parts)


def _board(found: TargetBacktest) -> Table:
    board = found.result.leaderboard()
    grid = Table(
        title=Text(found.target, style="bold"),
        title_justify="left",
        header_style="dim",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    grid.add_column("Model", overflow="fold")
    several = board["seeds"].max() > 1
    spread = ("± seeds",) if several else ()
    for name in (*ERRORS[:1], *spread, *ERRORS[1:], "in 80 % band", "in 95 % band", "n", "void", "seconds"):
        grid.add_column(name, justify="right")
    best = {name: board[name].min() for name in ERRORS}
    for _, line in board.iterrows():
        name = str(line["model"])
        if line["problem"]:
            continue
        errors = [Text(f"{line[c]:.4f}", style="bold" if line[c] == best[c] else "") for c in ERRORS]
        if several:
            errors.insert(1, Text(f"{line['RMSE_sd']:.4f}" if line["seeds"] > 1 else ""))
        grid.add_row(
            Text(name),
            *errors,
            *(f"{100 * line[c]:.1f} %" for c in COVERAGE),
            f"{line['n']:.0f}",
            f"{line['void']:.0f}",
            f"{found.result.seconds[name]:.1f}",
        )
    for name, cause in found.result.failures.items():
        grid.add_row(Text(name), Text(cause, style="red"))
    return grid


def _distances(found: TargetBacktest) -> list[RenderableType]:
    """Lay out errors by distance, where something lies beyond the trained horizon."""
    if found.extrapolation is None:
        return []
    bands = found.extrapolation.by_band().pivot_table(index="model", columns="band", values="RMSE", sort=False)
    slopes = found.extrapolation.slopes().set_index("model")["slope"]
    title = Text("RMSE by steps in trained horizons, in standard deviations of the context", style="bold")
    grid = Table(title=title, title_justify="left", header_style="dim", box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column("Model", overflow="fold")
    for name in (*bands.columns, "slope per horizon"):
        grid.add_column(str(name), justify="right")
    for model, line in bands.iterrows():
        grid.add_row(Text(str(model)), *(f"{value:.3f}" for value in line), f"{slopes[str(model)]:+.4f}")
    return [Text(""), grid]
