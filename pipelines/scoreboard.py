"""A backtest in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.report import backtest_markdown
from pipelines.report import backtest_report
from pipelines.terminal import counted

if TYPE_CHECKING:
    from rich.console import Console

    from pipelines.backtest import Backtest


def show_backtest(done: Backtest, console: Console) -> None:
    """Print the verdict and the leaderboard of every target; where it is no terminal, as Markdown to be kept."""
    show_markdown(backtest_markdown(backtest_report(done)), console)
    for found in done.targets:
        reused = int(found.result.jobs["reused"].sum())
        if reused:
            said = (
                f"{found.target}: {reused} of {counted(len(found.result.jobs), 'job')} had been done by an earlier run"
            )
            console.print(said, style="dim", highlight=False, markup=False)


def show_markdown(text: str, console: Console) -> None:
    """Lay Markdown out on a terminal; print it as it is anywhere else."""
    from rich.markdown import Markdown

    if console.is_terminal:
        console.print(Markdown(text))
    else:
        console.print(text, highlight=False, markup=False, soft_wrap=True)
