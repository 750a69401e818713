"""The search of one series: find the highest peak, fit it with the lines before it, take all out, look again.

So the skirts of a strong line are not lines, a weak one beside it is not hidden, and what the weekends make of one line
elsewhere in the spectrum goes with it (Högbom 1974, A&A Suppl. 15, 417-426; Roberts, Lehar and Dreher 1987, AJ 93,
968-989).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.background import PLAIN_ORDERS, fit_background
from fints.periods.lines import LineFit, Tone, fit_lines, no_lines
from fints.periods.noise import STRIKING, Noise
from fints.periods.robust import pseudo_values
from fints.periods.scan import scans_of
from fints.periods.search import Left
from fints.periods.spectrum import METHODS, without_trend
from fints.periods.whitening import Whitening

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.samples import Clock, Samples
    from fints.periods.search import Peak, Search

    FloatArray = NDArray[np.float64]

_SLOW = 4
_APART = 0.75
_NEIGHBOURS = 4.0
_ALONE = 3
_FINAL = 6
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
    background : Background
        Level of what is left.
    clocks : tuple of {"session", "calendar"}
        Where lines were looked for.
    p_value : float
        Of the highest peak.
    """

    samples: Samples
    search: Search
    peaks: tuple[Peak, ...]
    fit: LineFit
    background: Background
    clocks: tuple[Clock, ...]
    p_value: float


def look(value: FloatArray, search: Search, noise: Noise) -> Left:
    """See some values on the clocks that are searched, against a null level."""
    periodogram = METHODS[search.method](noise.samples, value)
    return Left(noise, scans_of(noise.samples, value, search, (periodogram, noise.background)))


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
    return ESTIMATORS[search.estimator](samples, search, beside)


def peel_robustly(samples: Samples, search: Search, beside: FloatArray | None = None) -> tuple[Peeled, Whitening]:
    """Search pseudo-values instead, first those about mean and trend, then those about the lines found in them."""
    flat = _flat(samples, samples.value)
    noise = fit_background(METHODS[search.method](samples, samples.value), orders=PLAIN_ORDERS)
    pseudo = pseudo_values(samples, samples.value - flat, noise)
    peeled, _ = peel_linearly(pseudo, search, beside)
    fitted = pseudo.value - _flat(samples, peeled.fit.residual)
    return peel_linearly(pseudo_values(samples, fitted, peeled.background), search, beside)


def _flat(samples: Samples, value: FloatArray) -> FloatArray:
    return without_trend(samples, samples.regular(value))[samples.slot]


def peel_linearly(samples: Samples, search: Search, beside: FloatArray | None = None) -> tuple[Peeled, Whitening]:
    """Search the values as they are."""
    noise = Noise.first(samples, search, search.max_lines + _SLOW)
    run = _take_out(samples, search, beside, noise)
    noise = Noise.of(samples, search.method, run.residual) if run.known else noise
    if run.known and noise.background.order != run.left.background.order:
        # the lines had a part in the shape of the level: once more against that of what they leave
        run = _take_out(samples, search, beside, noise)
    left, known = run.left, run.known
    if known:
        left = look(run.residual, search, left.noise.refitted(run.residual))
    frame, clocks = Whitening(samples, left.background, beside), tuple(scan.clock for scan in left.scans)
    first = run.judged[0] if run.judged else 1.0
    if not known:
        return Peeled(samples, search, (), no_lines(samples.value), left.background, clocks, first), frame
    fit = fit_lines(frame, samples.value, [line.tone for line in known], steps=_FINAL)
    known = [replace(line, tone=tone) for line, tone in zip(known, fit.tones, strict=True)]
    waves = sum(fit.line(row, samples) for row in range(len(known)))
    samples = replace(samples, value=fit.residual + waves)
    return Peeled(samples, search, tuple(known), fit, left.background, clocks, first), frame


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """Lines taken out, p-values in the order judged, what is left, and how it looks."""

    known: list[Peak]
    judged: list[float]
    residual: FloatArray
    left: Left


def _take_out(samples: Samples, search: Search, beside: FloatArray | None, noise: Noise) -> _Run:
    left = look(samples.value, search, noise)
    # the lines hardly change the shape of the noise, so that one frame serves until the last fit
    frame = Whitening(samples, noise.background, beside)
    known: list[Peak] = []
    judged: list[float] = []
    residual, fresh = samples.value, True
    while (peak := left.highest_peak(search, samples, known)) is not None:
        if peak.p_value > search.alpha and not fresh:
            # a level that the lines taken out have no part in may show one more
            left, fresh = look(residual, search, left.noise.refitted(residual)), True
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
        left = look(residual, search, left.noise)
    return _Run(known, judged, residual, left)


def _on_its_clock(frame: Whitening, value: FloatArray, peak: Peak) -> Peak:
    """Refine a peak alone, and move it to an alias or to the other clock if it explains more there."""
    fits = [fit_lines(frame, value, [tone], steps=_ALONE) for tone in (peak.tone, *_striking(peak))]
    own = min(fits, key=lambda fit: fit.misfit)
    if own is not fits[0]:
        return replace(peak, tone=own.tones[0], rival=None, lead=np.inf)
    if peak.rival is None or peak.lead > _CLEAR:
        return replace(peak, tone=own.tones[0])
    other = fit_lines(frame, value, [peak.rival], steps=_ALONE)
    lead = other.misfit - own.misfit
    first, second = (own, other) if lead >= 0 else (other, own)
    return replace(peak, tone=first.tones[0], rival=second.tones[0], lead=abs(lead))


def _striking(peak: Peak) -> tuple[Tone, ...]:
    """Aliases of a peak that towers over the noise; about a weak one the highest are other noise."""
    return peak.aliases if peak.ratio > STRIKING else ()


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


ESTIMATORS: Mapping[str, Callable[[Samples, Search, FloatArray | None], tuple[Peeled, Whitening]]] = MappingProxyType(
    {"linear": peel_linearly, "robust": peel_robustly}
)
"""Ways to search a series, by name: each value by its square, or surprising ones by less."""
