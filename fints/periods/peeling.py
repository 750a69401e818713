"""The search of one series: find the highest peak, fit it with the lines before it, take all out, look again.

So the skirts of a strong line are not lines, a weak one beside it is not hidden, and what the weekends make of one line
elsewhere in the spectrum goes with it (Högbom 1974, A&A Suppl. 15, 417-426; Roberts, Lehar and Dreher 1987, AJ 93,
968-989).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.background import fit_background
from fints.periods.calendar import calendar_sampling
from fints.periods.lines import LineFit, Tone, fit_lines
from fints.periods.scan import calendar_scan, session_scan
from fints.periods.search import Left
from fints.periods.spectrum import METHODS
from fints.periods.whitening import Whitening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.samples import Samples
    from fints.periods.scan import Scan
    from fints.periods.search import Peak, Search
    from fints.periods.spectrum import Periodogram

    FloatArray = NDArray[np.float64]

_SLOW = 4
_APART = 0.75
_NEIGHBOURS = 4.0
_ALONE = 3
_CLEAR = 15.0


@dataclass(frozen=True, slots=True, eq=False)
class Peeled:
    """What the search of a series left.

    Parameters
    ----------
    samples : Samples
        The series, one-off effects and outliers taken out.
    search : Search
        What was looked for.
    peaks : tuple of Peak
        The lines, in the order found; also those too slow to be reported.
    fit : LineFit
        All of them together.
    left : Left
        The last look.
    p_value : float
        Of the highest peak.
    """

    samples: Samples
    search: Search
    peaks: tuple[Peak, ...]
    fit: LineFit
    left: Left
    p_value: float


def look(samples: Samples, value: FloatArray, search: Search, like: Background | None = None) -> Left:
    """See some values on the clocks that are searched, against a null level fitted to them."""
    periodogram = METHODS[search.method](samples, value)
    background = fit_background(periodogram, like=like)
    return Left(periodogram, background, scans_of(samples, value, search, (periodogram, background)))


def scans_of(
    samples: Samples, value: FloatArray, search: Search, against: tuple[Periodogram, Background]
) -> tuple[Scan, ...]:
    """See some values on the clocks that are searched, against a given null level."""
    periodogram, background = against
    scans: list[Scan] = []
    if search.clock != "calendar":
        scans.append(session_scan(periodogram, background, search.min_cycles))
    if search.clock == "calendar" or (search.clock == "both" and not samples.same_clocks):
        kind = (search.min_cycles, search.clock == "both")
        scans.append(calendar_scan(calendar_sampling(samples), samples, value, background, kind))
    return tuple(scans)


def peel(samples: Samples, search: Search, beside: FloatArray | None = None) -> tuple[Peeled, Whitening]:
    """Search one series.

    Parameters
    ----------
    samples : Samples
        The series.
    search : Search
        What to look for.
    beside : numpy.ndarray, shape (n, m), optional
        Regressors that were taken out of the series, fitted again beside the lines.

    Returns
    -------
    peeled : Peeled
        What was found.
    frame : Whitening
        In which it was fitted; it is large.
    """
    left = look(samples, samples.value, search)
    # the lines hardly change the shape of the noise, so that one frame serves until the last fit
    frame = Whitening(samples, left.background, beside)
    known: list[Peak] = []
    judged: list[float] = []
    residual = samples.value
    while (peak := left.highest_peak(samples, known)) is not None:
        judged.extend([peak.p_value] if search.reports(peak.tone, samples) else [])
        if peak.p_value > search.alpha or len(judged) > search.max_lines or len(known) > search.max_lines + _SLOW:
            break
        lines = [*known, _on_its_clock(frame, residual, peak)]
        tried = _refit(frame, lines)
        if _crowded(samples, tried.tones):
            # two lines on one frequency cancel each other: the series holds no more that can be told apart
            break
        residual = tried.residual
        known = [replace(line, tone=tone) for line, tone in zip(lines, tried.tones, strict=True)]
        left = look(samples, residual, search, like=left.background)
    if known:
        frame = Whitening(samples, left.background, beside)
    fit = fit_lines(frame, samples.value, [line.tone for line in known])
    known = [replace(line, tone=tone) for line, tone in zip(known, fit.tones, strict=True)]
    waves = sum(fit.line(row, samples) for row in range(len(known)))
    samples = replace(samples, value=fit.residual + waves)
    return Peeled(samples, search, tuple(known), fit, left, judged[0] if judged else 1.0), frame


def _on_its_clock(frame: Whitening, value: FloatArray, peak: Peak) -> Peak:
    """Refine a peak alone, and move it to the other clock if it explains more there."""
    own = fit_lines(frame, value, [peak.tone], steps=_ALONE)
    if peak.rival is None or peak.lead > _CLEAR:
        return replace(peak, tone=own.tones[0])
    other = fit_lines(frame, value, [peak.rival], steps=_ALONE)
    lead = other.misfit - own.misfit
    first, second = (own, other) if lead >= 0 else (other, own)
    return replace(peak, tone=first.tones[0], rival=second.tones[0], lead=abs(lead))


def _refit(frame: Whitening, lines: list[Peak]) -> LineFit:
    """Fit all amplitudes, and the frequencies of the last line and its neighbours."""
    samples, last = frame.samples, lines[-1].tone
    free = []
    for line in lines:
        away = abs(line.tone.on(last.clock, samples.rate) - last.frequency) * samples.duration(last.clock)
        free.append(away < _NEIGHBOURS)
    return fit_lines(frame, frame.samples.value, [line.tone for line in lines], free=free, steps=2)


def _crowded(samples: Samples, tones: tuple[Tone, ...]) -> bool:
    places = sorted(tone.on("session", samples.rate) for tone in tones)
    return bool(np.diff(places).min(initial=np.inf) * samples.duration("session") < _APART)
