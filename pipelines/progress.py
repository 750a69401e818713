"""Progress on a terminal, plain lines elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import TaskID


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
            self.console.print(f"{name} …", highlight=False)
            yield Stage(None, None)
            return
        task = self.bar.add_task(name, total=None)
        yield Stage(self.bar, task)
        self.bar.update(task, total=1, completed=1)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One stage that may tell how far it is."""

    bar: Progress | None
    task: TaskID | None

    def __call__(self, done: int, total: int) -> None:
        """Say that `done` of `total` is done."""
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=done, total=total)


@contextmanager
def stages(console: Console) -> Iterator[Stages]:
    """Show the stages of a run on a console."""
    if not console.is_terminal:
        yield Stages(console, None)
        return
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as bar:
        yield Stages(console, bar)
