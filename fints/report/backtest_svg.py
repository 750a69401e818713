"""Small charts as SVG text, drawn for the width of a phone and set side by side where there is room."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

WIDTH, HEIGHT = 440.0, 260.0
TEXT, SMALL = 12, 11
TICKS = 5


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure and what it says.

    Parameters
    ----------
    svg : Markup
        Drawn; every text in it is escaped.
    alt : str
        What a reader who cannot see it should know, in one or two sentences.
    caption : str
        What everybody reads below it.
    """

    svg: Markup
    alt: str
    caption: str


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to pixels.

    Parameters
    ----------
    low, high : float
        Values at the two ends.
    start, end : float
        Pixels there; `end` may be less than `start`, as on an upright axis.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int = TICKS) -> list[float]:
        """Return round values within the ends, at most so many and at least two where the ends differ enough."""
        span = self.high - self.low
        step = 10.0 ** np.floor(np.log10(span / most))
        step *= next(m for m in (1, 2, 2.5, 5, 10, 20) if span / (m * step) <= most)
        first = int(np.ceil(self.low / step - 1e-9))
        last = int(np.floor(self.high / step + 1e-9))
        return [round(i * step, 12) for i in range(first, last + 1)]


def spanning(values: ArrayLike, start: float, end: float, room: float = 0.06) -> Scale:
    """Make a scale that holds all finite values, with some room at both ends.

    Parameters
    ----------
    values : array_like
    start, end : float
        Pixels.
    room : float
        Share of the span.
    """
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if high - low < 1e-9 * max(abs(low), abs(high), 1e-9):
        low, high = low - max(abs(low) * 0.05, 0.01), high + max(abs(high) * 0.05, 0.01)
    margin = room * (high - low)
    return Scale(low - margin, high + margin, start, end)


@dataclass(slots=True)
class Canvas:
    """Marks of a chart, in the order in which they are drawn.

    Parameters
    ----------
    width, height : float
        Of the view box.
    marks : list of str
    """

    width: float = WIDTH
    height: float = HEIGHT
    marks: list[str] = field(default_factory=list)

    def line(self, x: Sequence[float], y: Sequence[float], colour: str, dash: str = "", width: float = 1.8) -> None:
        """Join the points that are known; a gap stays a gap."""
        path, pen_up = [], True
        for px, py in zip(x, y, strict=True):
            if np.isfinite(px) and np.isfinite(py):
                path.append(f"{'M' if pen_up else 'L'}{px:.1f} {py:.1f}")
                pen_up = False
            else:
                pen_up = True
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.marks.append(
            f'<path d="{"".join(path)}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            f'stroke-linejoin="round"{dashed}/>'
        )

    def rule(self, x: tuple[float, float], y: tuple[float, float], kind: str = "grid") -> None:
        """Draw a straight line of the chart's own: ``grid``, ``axis`` or ``mark``."""
        self.marks.append(f'<line class="{kind}" x1="{x[0]:.1f}" y1="{y[0]:.1f}" x2="{x[1]:.1f}" y2="{y[1]:.1f}"/>')

    def box(self, x: tuple[float, float], y: tuple[float, float], colour: str, opacity: float = 1.0) -> None:
        """Fill a rectangle between two corners."""
        self.marks.append(
            f'<rect x="{min(x):.1f}" y="{min(y):.1f}" width="{abs(x[1] - x[0]):.1f}" height="{abs(y[1] - y[0]):.1f}" '
            f'fill="{colour}" fill-opacity="{opacity:g}"/>'
        )

    def dot(self, x: float, y: float, colour: str, radius: float = 3.5) -> None:
        """Draw a filled circle."""
        self.marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>')

    def text(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "tick") -> None:
        """Write a text: ``tick``, ``name`` or ``title``."""
        self.marks.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>')

    def drawn(self, alt: str) -> Markup:
        """Return the chart as an SVG element with a text for those who cannot see it."""
        view = f"0 0 {self.width:g} {self.height:g}"
        return Markup(  # texts are escaped where they are written
            f'<svg viewBox="{view}" role="img" aria-label="{escape(alt)}">' + "".join(self.marks) + "</svg>"
        )


@dataclass(slots=True)
class Axes:
    """A pair of axes on a canvas; marks outside of them are cut off.

    Parameters
    ----------
    canvas : Canvas
    x, y : Scale
    """

    canvas: Canvas
    x: Scale
    y: Scale

    def frame(self, x_title: str, y_title: str, write: Callable[[float], str], *, x_ticks: bool = True) -> None:
        """Draw grid, ticks and titles.

        Parameters
        ----------
        x_title, y_title : str
            The second stands above the upright axis.
        write : callable
            A value of the upright axis as text.
        x_ticks : bool
            Whether the level axis is numbered.
        """
        left, right, bottom = self.x.start, self.x.end, self.y.start
        for value in self.y.ticks():
            at = self.y(value)
            self.canvas.rule((left, right), (at, at))
            self.canvas.text(left - 6, at + 4, write(value), "end")
        for value in self.x.ticks(6) if x_ticks else []:
            self.canvas.text(self.x(value), bottom + 16, f"{value:g}", "middle")
        self.canvas.rule((left, right), (bottom, bottom), "axis")
        self.canvas.text(0, 12, y_title, kind="title")
        self.canvas.text(right, self.canvas.height - 3, x_title, "end", "title")

    def line(self, x: ArrayLike, y: ArrayLike, colour: str, dash: str = "", width: float = 1.8) -> None:
        """Draw a line of values, cut off where it leaves the upright axis."""
        points = _within(np.asarray(x, float), np.asarray(y, float), self.y.low, self.y.high)
        self.canvas.line([self.x(px) for px, _ in points], [self.y(py) for _, py in points], colour, dash, width)


def _within(x: NDArray[np.float64], y: NDArray[np.float64], low: float, high: float) -> list[tuple[float, float]]:
    """Return the points of a line between two heights, with those where it crosses them; NaN where it is outside."""
    points: list[tuple[float, float]] = []
    for i, (px, py) in enumerate(zip(x, y, strict=True)):
        if i:
            rise = py - y[i - 1]
            met = [b for b in (low, high) if (y[i - 1] - b) * (py - b) < 0]
            crossed = [(float(x[i - 1] + (bound - y[i - 1]) / rise * (px - x[i - 1])), bound) for bound in met]
            points += sorted(crossed)
        points.append((float(px), float(py) if low <= py <= high else np.nan))
    return points


def axes(x: ArrayLike, y: ArrayLike, *, left: float = 52.0) -> Axes:
    """Make axes that hold all values."""
    canvas = Canvas()
    return Axes(canvas, spanning(x, left, WIDTH - 8, 0.0), spanning(y, HEIGHT - 40, 26.0))
