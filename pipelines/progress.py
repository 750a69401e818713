"""Progress on a terminal, plain lines elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import TaskID

SECONDS_BETWEEN_LINES = 10.0
"""Least time between two lines of a stage that takes long, where there is no terminal."""


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """The stages of a run, one line each.

    Parameters
    ----------
    console : Console
    bar : Progress, optional
        Only on a terminal.
    """

    console: Console
    bar: Progress | None

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Show one stage while it runs."""
        if self.bar is None:
            self.console.print(f"{name} …", highlight=False, markup=False)
            yield Stage(None, None, self.console, name, monotonic())
            return
        task = self.bar.add_task(name, total=None, note="")
        yield Stage(self.bar, task, self.console, name, monotonic())
        self.bar.update(task, total=1, completed=1, description=name, note="")


@dataclass(slots=True, eq=False)
class Stage:
    """One stage that may tell how far it is."""

    bar: Progress | None
    task: TaskID | None
    console: Console
    name: str
    told: float
    tenths: int = 0

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Say that `done` of `total` is done: at once on a terminal, by tenths and not often elsewhere.

        Parameters
        ----------
        done, total : int
        note : str
            What else there is to say, such as the time left.
        """
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=done, total=total, description=self.name, note=note)
            return
        tenths, now = 10 * done // max(total, 1), monotonic()
        if tenths > self.tenths and now - self.told >= SECONDS_BETWEEN_LINES:
            said = f"{self.name}: {done} of {total}" + (f", {note}" if note else "")
            self.console.print(said, highlight=False, markup=False)
            self.tenths, self.told = tenths, now


@contextmanager
def stages(console: Console) -> Iterator[Stages]:
    """Show the stages of a run on a console."""
    if not console.is_terminal:
        yield Stages(console, None)
        return
    said = TextColumn("{task.description}", markup=False)  # a symbol may hold what rich takes for markup
    note = TextColumn("{task.fields[note]}", style="dim", markup=False)
    columns = SpinnerColumn(), said, note, BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as bar:
        yield Stages(console, bar)
