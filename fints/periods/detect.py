"""Find the cycles of a panel's series.

Per series: periodogram, null level, highest peak relative to it, search-wide p. A significant peak is fitted together
with the lines before it and taken out of the series, and the search goes on in what is left, so that the skirts of a
strong line are not lines and a weak one beside it is not hidden.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import SeriesError
from fints.periods.lines import fit_lines, group_harmonics, is_stable
from fints.periods.result import Line, Periods
from fints.periods.samples import session_samples
from fints.periods.search import Search, Searched, highest_peak
from fints.periods.significance import false_discovery, fit_background
from fints.periods.spectrum import DESCRIPTIONS, METHODS
from fints.series import SeriesProblem, validate_panel

if TYPE_CHECKING:
    import pandas as pd

    from fints.periods.samples import Samples
    from fints.periods.search import Peak


_SURE = 3.0
_HARMONIC_BINS = 0.25
_SLOW = 4
_APART = 0.75


def detect_periods(
    panel: pd.DataFrame,
    *,
    alpha: float = 0.05,
    max_lines: int = 8,
    min_cycles: float = 3.0,
    method: str = "fft",
) -> Periods:
    """Find the significant cycles of every series of a panel, on the session clock.

    Parameters
    ----------
    panel : pandas.DataFrame
        ``unique_id, ds, y`` or more; a bare frame is taken as daily XNYS. Nothing outside it is read.
    alpha : float
        A line is kept if noise would show one as strong anywhere in the band with at most this probability.
    max_lines : int
        Most lines per series, harmonics included.
    min_cycles : float
        Periods longer than the series' length over this are not searched.
    method : str
        How the periodogram is computed.

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
    search = Search(alpha, max_lines, min_cycles, method)
    valid = validate_panel(panel)
    lines: list[Line] = []
    searched: dict[str, Searched] = {}
    smallest: list[float] = []
    problems = []
    for uid, series in valid.groupby("unique_id", sort=True):
        try:
            samples = session_samples(series)
        except SeriesError as error:
            problems.append(SeriesProblem(str(uid), str(error).removeprefix(f"{uid}: ")))
            continue
        found, searched[str(uid)], p_value = _search_series(samples, search)
        lines.extend(found)
        smallest.append(p_value)
    if not searched:
        raise SeriesError("no series can be searched for periods: " + "; ".join(map(str, problems)))
    q_values = false_discovery([line.p_value for line in lines], smallest)
    judged = tuple(replace(line, q_value=float(q)) for line, q in zip(lines, q_values, strict=True))
    return Periods(judged, searched, tuple(problems))


def _search_series(samples: Samples, search: Search) -> tuple[list[Line], Searched, float]:
    """Lines by strength, what is needed to draw them, and the p-value of the highest peak."""
    compute = METHODS[search.method]
    periodogram = compute(samples, samples.value)
    background = fit_background(periodogram)
    peak = highest_peak(periodogram, background, search, [])
    known: list[Peak] = []
    judged: list[float] = []
    residual = samples.value
    while peak is not None:
        reported = search.reports(peak.frequency, samples.duration)
        judged.extend([peak.p_value] if reported else [])
        if peak.p_value > search.alpha or len(judged) > search.max_lines or len(known) > search.max_lines + _SLOW:
            break
        alone = fit_lines(samples, residual, [peak.frequency])
        lines = [*known, replace(peak, frequency=float(alone.frequency[0]))]
        fit = fit_lines(samples, samples.value, [line.frequency for line in lines], steps=2)
        if np.diff(np.sort(fit.frequency)).min(initial=np.inf) * samples.duration < _APART:
            # two lines on one frequency cancel each other: the series holds no more that can be told apart
            break
        known = [replace(line, frequency=float(f)) for line, f in zip(lines, fit.frequency, strict=True)]
        residual = fit.residual
        periodogram = compute(samples, residual)
        background = fit_background(periodogram, like=background)
        peak = highest_peak(periodogram, background, search, known)
    searched = Searched(samples, background, search)
    return _lines(known, searched), searched, judged[0] if judged else 1.0


def _lines(known: list[Peak], searched: Searched) -> list[Line]:
    if not known:
        return []
    samples = searched.samples
    fit = fit_lines(samples, samples.value, [line.frequency for line in known])
    error = np.sqrt(searched.background.level(fit.frequency) * fit.curvature)
    tolerance = np.maximum(_SURE * error, _HARMONIC_BINS / samples.duration)
    strength = np.array([line.ratio for line in known])
    reported = np.flatnonzero([searched.search.reports(f, samples.duration) for f in fit.frequency])
    groups = group_harmonics(fit.frequency[reported], tolerance[reported], strength[reported])
    method = _describe(searched)
    lines = [
        Line(
            unique_id=samples.unique_id,
            period=float(1 / fit.frequency[k]),
            clock=samples.clock,
            harmonics=tuple(sorted(members)),
            strength=float(strength[k]),
            amplitude=float(fit.amplitude[k]),
            phase=float(fit.phase[k]),
            period_se=float(error[k] / fit.frequency[k] ** 2),
            p_value=known[k].p_value,
            q_value=1.0,
            stable=is_stable(samples, fit, k),
            method=method,
        )
        for k, members in ((reported[first], numbers) for first, numbers in groups.items())
    ]
    return sorted(lines, key=lambda line: -line.strength)


def _describe(searched: Searched) -> str:
    samples = searched.samples
    gaps = f"{samples.missing} of {samples.size} slots interpolated linearly" if samples.missing else ""
    words = (DESCRIPTIONS[searched.search.method], searched.background.describe(), gaps, samples.note)
    return "; ".join(part for part in words if part)
