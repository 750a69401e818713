"""Consoles, and frames as tables on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import pandas as pd

_PIPE_WIDTH = 160


def console(*, stderr: bool = False) -> Console:
    """Return a console; one that is not a terminal gets room for whole rows."""
    made = Console(stderr=stderr)
    return made if made.is_terminal else Console(stderr=stderr, width=max(made.width, _PIPE_WIDTH))


def counted(number: int, noun: str) -> str:
    """Return a number and what it counts, in the plural where it is not one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def plain_table(frame: pd.DataFrame, title: str) -> Table:
    """Lay a frame out; cells are data, never markup.

    Parameters
    ----------
    frame : pandas.DataFrame
    title : str
    """
    table = Table(title=Text(title), title_justify="left", header_style="bold")
    for name in frame.columns:
        numeric = frame[name].dtype.kind in "iuf"
        table.add_column(Text(str(name)), justify="right" if numeric else "left", overflow="fold")
    for row in frame.itertuples(index=False):
        table.add_row(*(Text(_cell(value)) for value in row))
    return table


def _cell(value: object) -> str:
    if value is None or value != value:  # noqa: PLR0124 — NaN and NaT differ from themselves
        return ""
    if hasattr(value, "strftime"):
        text = value.strftime("%Y-%m-%d %H:%M")
        return str(text.removesuffix(" 00:00"))
    return f"{value:,}" if isinstance(value, int) else str(value)
