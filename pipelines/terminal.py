"""Consoles, and frames as tables on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from pipelines.harmless import harmless
from pipelines.streams import unread

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from rich.console import ConsoleOptions, RenderableType

_PIPE_WIDTH = 160


class Screen(Console):
    """A console on which texts are texts, and whose reader may leave (``| head -1``).

    Only its own styles and its progress give a terminal orders. Where nobody reads any more the work goes on and the
    exit code stays its own: the console of rich would end the command, in the midst of a night, with a failure's.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as any console does, without what a terminal would take for an order."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(harmless(segment.text, ""), segment.style)

    def on_broken_pipe(self) -> None:
        """Write to nowhere from now on."""
        unread(self.file)


def console(*, stderr: bool = False) -> Console:
    """Return a console; one that is not a terminal gets room for whole rows."""
    made = Screen(stderr=stderr)
    return made if made.is_terminal else Screen(stderr=stderr, width=max(made.width, _PIPE_WIDTH))


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
