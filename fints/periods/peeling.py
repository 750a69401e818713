"""The search of one series: find the highest peak, fit it with the lines before it, take all out, look again.

So the skirts of a strong line are not lines, a weak one beside it is not hidden, and what the weekends make of one line
elsewhere in the spectrum goes with it (Högbom 1974, A&A Suppl. 15, 417-426; Roberts, Lehar and Dreher 1987, AJ 93,
968-989).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.background import PLAIN_ORDERS, fit_background
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
_FINAL = 6
_CLEAR = 15.0
_STRIKING = 30.0


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


def look(samples: Samples, value: FloatArray, search: Search, noise: tuple[Periodogram, Background]) -> Left:
    """See some values on the clocks that are searched, against a null level and the periodogram it was fitted to."""
    periodogram = METHODS[search.method](samples, value)
    return Left(*noise, scans_of(samples, value, search, (periodogram, noise[1])))


def noise_of(samples: Samples, search: Search) -> tuple[Periodogram, Background]:
    """Fit the null level of a series, its most striking lines taken out, and give the periodogram without them.

    A line that towers over the noise would lend its skirts to the level, which a rich model then follows.
    """
    compute, value = METHODS[search.method], samples.value
    frame = Whitening(samples)
    for _ in range(search.max_lines + _SLOW):
        periodogram = compute(samples, value)
        plain = fit_background(periodogram, orders=PLAIN_ORDERS)
        scans = scans_of(samples, value, search, (periodogram, plain))
        scan, row, _ = max(((scan, *scan.top(scan.summits, 0.0)) for scan in scans), key=lambda top: top[2])
        if row < 0 or scan.ratio[row] < _STRIKING:
            break
        value = fit_lines(frame, value, [Tone(scan.clock, float(scan.frequency[row]))], steps=_ALONE).residual
    periodogram = compute(samples, value)
    return periodogram, fit_background(periodogram)


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
    noise = noise_of(samples, search)
    run = _take_out(samples, search, beside, noise)
    periodogram = METHODS[search.method](samples, run.residual)
    noise = (periodogram, fit_background(periodogram)) if run.known else noise
    if run.known and noise[1].order != run.left.background.order:
        # the lines had a part in the shape of the level: once more against that of what they leave
        run = _take_out(samples, search, beside, noise)
    left, known = run.left, run.known
    if known:
        left = look(samples, run.residual, search, _refitted(samples, run.residual, search, left))
    frame = Whitening(samples, left.background, beside)
    fit = fit_lines(frame, samples.value, [line.tone for line in known], steps=_FINAL)
    known = [replace(line, tone=tone) for line, tone in zip(known, fit.tones, strict=True)]
    waves = sum(fit.line(row, samples) for row in range(len(known)))
    samples = replace(samples, value=fit.residual + waves)
    return Peeled(samples, search, tuple(known), fit, left, run.judged[0] if run.judged else 1.0), frame


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """Lines taken out, p-values in the order judged, what is left, and how it looks."""

    known: list[Peak]
    judged: list[float]
    residual: FloatArray
    left: Left


def _take_out(
    samples: Samples, search: Search, beside: FloatArray | None, noise: tuple[Periodogram, Background]
) -> _Run:
    left = look(samples, samples.value, search, noise)
    # the lines hardly change the shape of the noise, so that one frame serves until the last fit
    frame = Whitening(samples, noise[1], beside)
    known: list[Peak] = []
    judged: list[float] = []
    residual, fresh = samples.value, True
    while (peak := left.highest_peak(search, samples, known)) is not None:
        if peak.p_value > search.alpha and not fresh:
            # a level that the lines taken out have no part in may show one more
            left, fresh = look(samples, residual, search, _refitted(samples, residual, search, left)), True
            continue
        judged.extend([peak.p_value] if search.reports(peak.tone, samples) else [])
        if peak.p_value > search.alpha or len(judged) > search.max_lines or len(known) > search.max_lines + _SLOW:
            break
        lines = [*known, _on_its_clock(frame, residual, peak)]
        tried = _refit(frame, lines)
        if _crowded(samples, tried.tones):
            # two lines on one frequency cancel each other: the series holds no more that can be told apart
            break
        residual, fresh = tried.residual, False
        known = [replace(line, tone=tone) for line, tone in zip(lines, tried.tones, strict=True)]
        left = look(samples, residual, search, (left.periodogram, left.background))
    return _Run(known, judged, residual, left)


def _refitted(samples: Samples, value: FloatArray, search: Search, left: Left) -> tuple[Periodogram, Background]:
    periodogram = METHODS[search.method](samples, value)
    return periodogram, fit_background(periodogram, like=left.background)


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
