"""What a study found, as values: sentences, tables and charts. `fints.report` makes them readable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line of a chart, with an interval if it has one.

    Parameters
    ----------
    name : str
    x, y : ndarray, shape (n,)
    low, high : ndarray, shape (n,), optional
        Ends of the interval around `y`; both or none.
    marks : bool
        Draw points instead of a line.
    reference : bool
        What the other lines are measured against: drawn wide and grey, beneath them.
    """

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    marks: bool = False
    reference: bool = False

    def __post_init__(self) -> None:
        arrays = [a for a in (self.x, self.y, self.low, self.high) if a is not None]
        if len({a.shape for a in arrays}) != 1 or (self.low is None) != (self.high is None):
            raise ConfigError(
                f"the arrays of the line {self.name!r} differ in length, or one end of its band is missing"
            )


@dataclass(frozen=True, slots=True, eq=False)
class LineChart:
    """Lines over a common axis.

    Parameters
    ----------
    slug : str
        Name of its file, without ending.
    title, x_label, y_label : str
    lines : sequence of Line
    log_x, log_y : bool
    """

    slug: str
    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap:
    """A matrix as colours.

    Parameters
    ----------
    slug : str
    title, x_label, y_label : str
    values : ndarray, shape (rows, columns)
        Row 0 is drawn at the top.
    """

    slug: str
    title: str
    x_label: str
    y_label: str
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One estimate with its interval.

    Parameters
    ----------
    name : str
    group : str
        Rows of one group stand together under its name.
    value, low, high : float
        NaN ends where no interval is known.
    stands : bool
        Whether the estimate stands out: drawn filled instead of hollow.
    """

    name: str
    group: str
    value: float
    low: float
    high: float
    stands: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Estimates with their intervals, one under the other, around a value that means no difference.

    Parameters
    ----------
    slug : str
        Name of its file, without ending.
    title, x_label : str
    rows : sequence of ForestRow
    reference : float
    margin : float
        Ratios within this share of the reference are shaded.
    """

    slug: str
    title: str
    x_label: str
    rows: Sequence[ForestRow]
    reference: float = 1.0
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not self.rows:
            raise ConfigError(f"the forest {self.slug!r} has no rows; draw it where there are some")


Chart = LineChart | HeatMap | Forest


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table with the sentence that says what it shows.

    Parameters
    ----------
    caption : str
    frame : pandas.DataFrame
        Cells as they are to be read: text, or numbers already rounded.
    """

    caption: str
    frame: pd.DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class Chapter:
    """A part of a report.

    Parameters
    ----------
    title : str
    text : str
        Paragraphs in Markdown.
    tables : sequence of Table
    charts : sequence of Chart
    """

    title: str
    text: str
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """What a study found.

    Parameters
    ----------
    title : str
    verdicts : sequence of str
        Plain sentences, the most important first; also "no difference" is one.
    chapters : sequence of Chapter
    passed : bool
        Whether everything that the study asserts held. A study that asserts nothing passes.
    """

    title: str
    verdicts: Sequence[str]
    chapters: Sequence[Chapter]
    passed: bool = True
