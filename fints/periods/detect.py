"""Find the cycles of a panel's series, on the session clock and on the calendar's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import SeriesError
from fints.periods.cleaning import cleaned
from fints.periods.effects import effect_columns
from fints.periods.families import families
from fints.periods.harmonics import present_harmonics
from fints.periods.peeling import peel
from fints.periods.result import Line, Periods
from fints.periods.samples import BarPlaces, make_samples
from fints.periods.search import Search
from fints.periods.significance import false_discovery
from fints.periods.spectrum import DESCRIPTIONS
from fints.periods.stability import is_stable
from fints.series import SeriesProblem, located, validate_panel

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from fints.periods.families import Family
    from fints.periods.peeling import Peeled
    from fints.periods.samples import Samples
    from fints.periods.search import Clocks

    FloatArray = NDArray[np.float64]


def detect_periods(  # noqa: PLR0913 — each is a choice of its own, and all have a default
    panel: pd.DataFrame,
    *,
    clock: Clocks = "both",
    alpha: float = 0.05,
    max_lines: int = 12,
    min_cycles: float = 3.0,
    longest: float | None = None,
    effects: bool = True,
    method: str = "fft",
) -> Periods:
    """Find the significant cycles of every series of a panel.

    Per series: the spectrum of its noise, the highest peak over it on either clock, its search-wide p. A significant
    peak is fitted on the clock where it explains more, together with the lines before it, and taken out of the series;
    the search goes on in what is left.

    Parameters
    ----------
    panel : pandas.DataFrame
        ``unique_id, ds, y`` or more; a bare frame is taken as daily XNYS. Nothing outside it is read.
    clock : {"both", "session", "calendar"}
        Where lines are looked for. On the calendar clock periods of less than two days are left to the session clock.
    alpha : float
        A line is kept if noise would show one as strong anywhere in the band with at most this probability.
    max_lines : int
        Most lines per series, harmonics included.
    min_cycles : float
        Periods longer than the series' length over this are not searched.
    longest : float, optional
        Longest period wanted, in sessions. A series too short to show it is searched for what it can show, and listed
        among the problems.
    effects : bool
        Whether one-off effects of the calendar (:data:`fints.periods.effects.ONE_OFF`) are taken out first.
    method : str
        How the periodogram that the null level is fitted to is computed.

    Returns
    -------
    Periods
        The lines, harmonics grouped under their fundamentals, the spectra, and the series that could not be searched.

    Raises
    ------
    SeriesError
        If no series can be searched.
    ConfigError, UnknownNameError
        If an argument is out of range.
    """
    search = Search(alpha, max_lines, min_cycles, clock, method, longest)
    lines: list[Line] = []
    searched: dict[str, Peeled] = {}
    problems: list[SeriesProblem] = []
    for uid, given in _series(validate_panel(panel), effects=effects):
        if isinstance(given, SeriesError):
            problems.append(SeriesProblem(uid, str(given).removeprefix(f"{uid}: ")))
            continue
        samples, beside = given
        problems.extend(_too_short(samples, search))
        peeled, frame = peel(samples, search, beside)
        searched[uid] = peeled
        lines.extend(_line(peeled, family, present_harmonics(peeled, family, frame)) for family in families(peeled))
    if not searched:
        raise SeriesError("no series can be searched for periods: " + "; ".join(map(str, problems)))
    smallest = [peeled.p_value for peeled in searched.values()]
    q_values = false_discovery([line.p_value for line in lines], smallest)
    judged = tuple(replace(line, q_value=float(q)) for line, q in zip(lines, q_values, strict=True))
    return Periods(judged, searched, tuple(problems))


def _series(panel: pd.DataFrame, *, effects: bool) -> Iterator[tuple[str, tuple[Samples, FloatArray] | SeriesError]]:
    """Series of a valid panel, one-off effects and outliers taken out, or why there is nothing to search."""
    names, values = panel["unique_id"].to_numpy(), panel["y"].to_numpy(dtype=np.float64)
    parts = {}
    for part in located(panel):
        at = BarPlaces.of(part.bars, part.calendar)
        columns = effect_columns(part.bars, part.calendar) if effects else None
        own = names[part.rows]
        starts = np.flatnonzero(np.r_[True, own[1:] != own[:-1]])
        for rows in np.split(np.arange(len(own)), starts[1:]):
            parts[str(own[rows[0]])] = (at, columns, part.bar_of_row[rows], values[part.rows[rows]])
    for uid in sorted(parts):
        at, columns, bars, y = parts[uid]
        try:
            samples, used = make_samples(uid, at.take(bars), y)
        except SeriesError as error:
            yield uid, error
        else:
            yield uid, cleaned(samples, None if columns is None else columns[bars][used])


def _too_short(samples: Samples, search: Search) -> list[SeriesProblem]:
    duration = samples.duration("session")
    if search.longest is None or duration >= search.min_cycles * search.longest:
        return []
    reason = (
        f"a period of {search.longest:g} sessions is undetectable at this length: {search.min_cycles:g} cycles take "
        f"{search.min_cycles * search.longest:.0f} sessions, and there are {duration:.0f}"
    )
    return [SeriesProblem(samples.unique_id, reason, left_out=False)]


def _line(peeled: Peeled, family: Family, harmonics: tuple[int, ...]) -> Line:
    samples, fit, noise = peeled.samples, peeled.fit, peeled.left.background
    strongest = max(family.members.values(), key=lambda row: peeled.peaks[row].ratio)
    peak = peeled.peaks[strongest]
    other = family.frequency / samples.rate if family.clock == "calendar" else family.frequency * samples.rate
    fastest = 0.5 / samples.step if family.clock == "calendar" else 0.5
    return Line(
        unique_id=samples.unique_id,
        period=1 / family.frequency,
        clock=family.clock,
        harmonics=harmonics,
        strength=peak.ratio,
        amplitude=float(fit.amplitude[family.head]),
        phase=fit.phase(family.head, samples),
        period_se=family.error / family.frequency**2,
        p_value=peak.p_value,
        q_value=1.0,
        stable=is_stable(samples, fit, strongest, noise),
        method=_describe(peeled),
        other_period=1 / other if other <= fastest else np.nan,
        also_on=("calendar" if family.clock == "session" else "session") if _tied(peeled, family) else "",
        note=_note(peeled, family),
    )


def _tied(peeled: Peeled, family: Family) -> bool:
    return all(peeled.peaks[row].tied for row in family.members.values())


def _note(peeled: Peeled, family: Family) -> str:
    """Say what the line's sidebands mean."""
    if not family.sidebands:
        return ""
    rate = peeled.samples.rate
    periods = sorted(1 / peeled.fit.tones[row].on(family.clock, rate) for row in family.sidebands)
    unit = "sessions" if family.clock == "session" else "days"
    listed = ", ".join(f"{period:.3g}" for period in periods)
    return f"its size changes with the season: sidebands at {listed} {unit}"


def _describe(peeled: Peeled) -> str:
    both = len(peeled.left.scans) > 1
    words = (
        DESCRIPTIONS[peeled.search.method],
        peeled.left.background.describe(),
        "generalised least squares on both clocks" if both else "generalised least squares",
        peeled.samples.describe(),
    )
    return "; ".join(part for part in words if part)
