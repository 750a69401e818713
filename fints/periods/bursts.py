"""Bursts: cycles that live in a part of the series only.

A tone within a window of length L is a peak 1 / L wide, which a fit by tones of the whole series makes into several
lines side by side that cancel each other outside the window. Such neighbours are put together where one tone in one
window explains more than they do, by Schwarz's criterion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.lines import Tone
from fints.periods.whitening import wave_columns, whitened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.lines import LineFit
    from fints.periods.samples import Clock, Samples

    FloatArray = NDArray[np.float64]

_LINK = 4.0
_SKIRT = 1.5
_PARTS = 32
_CYCLES = 2
_LONGEST = 0.6
_STANDS_OUT = 1.5
_BEYOND = 2.0
_PER_BIN = 4
_OF_A_BURST, _OF_A_LINE = 5, 3


@dataclass(frozen=True, slots=True)
class Burst:
    """A cycle of a part of the series.

    Parameters
    ----------
    rows : tuple of int
        Lines that it was found as, the strongest first.
    tone : Tone
        On the clock where it explains more.
    error : float
        Standard error of the frequency, the Cramér-Rao bound in the window.
    first, last : int
        Samples between which it lives, to a thirty-second of the series.
    amplitude, phase : float
        φ and A of A cos(2π · frequency · place + φ), the place counted from zero.
    gain : float
        In log-likelihood.
    lead : float
        By how much the other clock explains less; infinite without one.
    """

    rows: tuple[int, ...]
    tone: Tone
    error: float
    first: int
    last: int
    amplitude: float
    phase: float
    gain: float
    lead: float = np.inf


def chains(samples: Samples, fit: LineFit, rows: Sequence[int]) -> list[list[int]]:
    """Lines in groups of neighbours, each at most four bins from the next."""
    if not rows:
        return []
    own = np.asarray(rows)
    places = np.array([fit.tones[row].on("session", samples.rate) for row in rows]) * samples.duration("session")
    order = np.argsort(places)
    breaks = np.flatnonzero(np.diff(places[order]) > _LINK) + 1
    return [group.tolist() for group in np.split(own[order], breaks)]


def find_bursts(
    samples: Samples, fit: LineFit, rows: Sequence[int], noise: Background, clocks: Sequence[Clock]
) -> list[Burst]:
    """Find lines, or groups of neighbouring ones, that are a cycle of a part of the series.

    Parameters
    ----------
    samples : Samples
        The series.
    fit : LineFit
        Its lines.
    rows : sequence of int
        Those to look at.
    noise : Background
        Spectrum of the noise.
    clocks : sequence of {"session", "calendar"}
        Clocks to try.

    Returns
    -------
    list of Burst
        A window holds at most three fifths of the series, and half as much again as any tone of the whole series.
    """
    found: list[Burst] = []
    for chain in sorted(chains(samples, fit, rows), key=lambda one: -fit.amplitude[one].max()):
        left = [row for row in rows if all(row not in burst.rows for burst in found)]
        if chain[0] not in left:
            continue
        tries = [_with_skirts(samples, fit, chain, left), chain]
        bursts = (_burst(samples, fit, group, noise, clocks) for group in tries)
        found.extend([burst for burst in bursts if burst is not None][:1])
    return found


def _with_skirts(samples: Samples, fit: LineFit, chain: list[int], rows: Sequence[int]) -> list[int]:
    """Add what a window with sharp edges, whose transform falls with the distance, makes of a line farther away."""
    head = max(chain, key=lambda row: fit.amplitude[row])
    place = np.array([fit.tones[row].on("session", samples.rate) for row in rows]) * samples.duration("session")
    away = np.abs(place - place[list(rows).index(head)])
    weak = fit.amplitude[list(rows)] * away <= _SKIRT * fit.amplitude[head]
    return sorted({*chain, *(row for row, near in zip(rows, weak, strict=True) if near)})


def _burst(
    samples: Samples, fit: LineFit, chain: list[int], noise: Background, clocks: Sequence[Clock]
) -> Burst | None:
    """Best window of the cycle that a chain of lines stands for, if it explains more than they do."""
    joint = np.sum([fit.line(row, samples) for row in chain], axis=0)
    time = np.linspace(-1, 1, len(joint))
    plain = whitened(samples, np.column_stack([np.ones_like(time), time, fit.residual, joint]), noise)
    flat = plain[:, 2:] - plain[:, :2] @ np.linalg.lstsq(plain[:, :2], plain[:, 2:], rcond=None)[0]
    lines = 0.5 * float(np.sum(flat[:, 1] ** 2))
    tried = [_windowed(samples, fit, chain, (flat.sum(axis=1), noise), clock) for clock in clocks]
    ranked = sorted((one for one in tried if one is not None), key=lambda one: -one.gain)
    penalty = 0.5 * np.log(len(joint))
    if not ranked or ranked[0].gain - _OF_A_BURST * penalty <= lines - _OF_A_LINE * len(chain) * penalty:
        return None
    return replace(ranked[0], lead=ranked[0].gain - ranked[1].gain) if len(ranked) > 1 else ranked[0]


def _windowed(
    samples: Samples, fit: LineFit, chain: list[int], against: tuple[FloatArray, Background], clock: Clock
) -> Burst | None:
    """Best window on one clock, if it stands out from the whole series."""
    target, noise = against
    rows = tuple(sorted(chain, key=lambda row: -fit.amplitude[row]))
    centre = fit.tones[rows[0]].on(clock, samples.rate)
    duration, middle, place = samples.duration(clock), samples.middle(clock), samples.place(clock)
    pair = whitened(samples, wave_columns(samples, [Tone(clock, centre)]), noise)
    wave = pair[:, 0] + 1j * pair[:, 1]
    away = np.array([fit.tones[row].on(clock, samples.rate) - centre for row in rows]) * duration
    offs = _offsets(away, alone=len(rows) == 1) / duration
    edges = np.linspace(0, len(target), _PARTS + 1).astype(np.int64)
    first, last = np.triu_indices(len(edges), 1)
    energy = np.concatenate([[0.0], np.cumsum(np.abs(wave) ** 2)])[edges]
    energy = energy[last] - energy[first]
    waves = _products(place - middle, target.astype(np.complex128) * wave.conj(), offs, edges)
    waves = waves[:, last] - waves[:, first]
    gains = np.abs(waves) ** 2 / energy
    ends = np.append(place, place[-1])[edges]
    allowed = (edges[last] - edges[first] <= _LONGEST * len(target)) & ((ends[last] - ends[first]) * centre >= _CYCLES)
    off, best = np.unravel_index(int(np.where(allowed, gains, 0.0).argmax()), gains.shape)
    gain, whole = float(gains[off, best]), float(gains[:, (first == 0) & (last == _PARTS)].max())
    if not allowed[best] or gain < _STANDS_OUT * whole:
        return None
    frequency = centre + float(offs[off])
    return Burst(
        rows=rows,
        tone=Tone(clock, frequency),
        error=float(np.sqrt(6 / gain) / (2 * np.pi * (ends[last[best]] - ends[first[best]]))),
        first=int(edges[first[best]]),
        last=int(edges[last[best]]) - 1,
        amplitude=2 * float(np.abs(waves[off, best]) / energy[best]),
        phase=float(np.angle(waves[off, best] * np.exp(-2j * np.pi * frequency * middle))),
        gain=gain,
    )


def _offsets(bins: FloatArray, *, alone: bool) -> FloatArray:
    """Frequencies to try about the strongest line, in bins."""
    beyond = 1.0 if alone else _BEYOND
    low, high = bins.min() - beyond, bins.max() + beyond
    return np.linspace(low, high, int((high - low) * _PER_BIN) + 1)


def _products(
    place: FloatArray, product: NDArray[np.complex128], offs: FloatArray, edges: NDArray[np.int64]
) -> NDArray[np.complex128]:
    """Multiply by a wave of each frequency and sum up to each edge, shape (offsets, edges)."""
    out = np.zeros((len(offs), len(edges)), dtype=np.complex128)
    for k, off in enumerate(offs):
        out[k, 1:] = np.add.reduceat(product * np.exp(-2j * np.pi * off * place), edges[:-1]).cumsum()
    return out
