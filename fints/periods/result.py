"""What a search for periods found: values that hold numbers and print nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fints.periods.samples import Clock
    from fints.periods.search import Searched, Spectrum
    from fints.series import SeriesProblem

COLUMNS = (
    "unique_id",
    "period",
    "clock",
    "harmonics",
    "strength",
    "amplitude",
    "phase",
    "period_se",
    "p_value",
    "q_value",
    "stable",
    "method",
)


@dataclass(frozen=True, slots=True)
class Line:
    """One cycle found in one series, with its harmonics.

    Parameters
    ----------
    unique_id : str
        The series.
    period : float
        Of the fundamental, in units of `clock`.
    clock : {"session", "calendar"}
        Trading sessions, or calendar days.
    harmonics : tuple of int
        Which multiples of the fundamental frequency were found; 1 is the fundamental itself.
    strength : float
        Power of the fundamental over the null level where it was found (1 is no line at all).
    amplitude : float
        Half the swing of the fundamental, in units of y.
    phase : float
        φ of ``amplitude · cos(2π · place / period + φ)``, place being that of ENCODINGS §0 on `clock`; radians.
    period_se : float
        Standard error of the period: the Cramér-Rao bound at the fitted amplitude and noise level.
    p_value : float
        Chance that noise shows so high a peak anywhere in the band searched.
    q_value : float
        The same over all series of the panel (Benjamini-Hochberg).
    stable : bool
        Whether the line runs through the whole series.
    method : str
        How it was found, in words.
    """

    unique_id: str
    period: float
    clock: Clock
    harmonics: tuple[int, ...]
    strength: float
    amplitude: float
    phase: float
    period_se: float
    p_value: float
    q_value: float
    stable: bool
    method: str


@dataclass(frozen=True, slots=True, eq=False)
class Periods:
    """Every line found in a panel.

    Parameters
    ----------
    lines : tuple of Line
        By series in the panel's order, the strongest first.
    searched : mapping of str to Searched
        One per series searched.
    problems : tuple of SeriesProblem
        Series that could not be searched, and why.
    """

    lines: tuple[Line, ...]
    searched: Mapping[str, Searched]
    problems: tuple[SeriesProblem, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __getitem__(self, unique_id: str) -> Periods:
        """Lines of one series; empty if nothing was found in it.

        Raises
        ------
        UnknownNameError
            If the series was not searched.
        """
        searched = self._find(unique_id)
        own = tuple(line for line in self.lines if line.unique_id == unique_id)
        return Periods(own, {unique_id: searched})

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series searched."""
        return tuple(self.searched)

    def spectrum(self, unique_id: str) -> Spectrum:
        """Periodogram of one series, for a figure.

        Raises
        ------
        UnknownNameError
            If the series was not searched.
        """
        return self._find(unique_id).spectrum()

    def _find(self, unique_id: str) -> Searched:
        if unique_id not in self.searched:
            raise UnknownNameError("series", unique_id, self.searched)
        return self.searched[unique_id]

    def to_frame(self) -> pd.DataFrame:
        """Table of the lines.

        Returns
        -------
        pandas.DataFrame
            Columns ``unique_id, period, clock, harmonics`` (text such as ``"1,2,3"``), ``strength, amplitude, phase,
            period_se, p_value, q_value, stable, method``; typed also when empty.
        """
        rows = [{name: getattr(line, name) for name in COLUMNS} for line in self.lines]
        frame = pd.DataFrame(rows, columns=list(COLUMNS))
        frame["harmonics"] = [",".join(map(str, line.harmonics)) for line in self.lines]
        numbers = ["period", "strength", "amplitude", "phase", "period_se", "p_value", "q_value"]
        texts = ["unique_id", "clock", "harmonics", "method"]
        return frame.astype({**dict.fromkeys(numbers, "float64"), **dict.fromkeys(texts, "str"), "stable": "bool"})
