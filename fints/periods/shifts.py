"""Shifts of a series' level: steps, which are neither noise nor cycle.

A step of size δ has power δ² / (2 π f)² at every frequency: it makes noise look like long memory, in which slow cycles
drown, or itself like several slow cycles. It is looked for by generalised least squares, as level shifts are in Chen
and Liu (1993, JASA 88, 284-297): of a step at each place the gain in log-likelihood

    g(t) = ½ ⟨Γ^(-½) s_t, Γ^(-½) y⟩² / |Γ^(-½) s_t|²,    s_t = 1 from t on,

beside mean and trend, in the noise that the unshifted series shows. In long memory, or on a random walk, a step has to
be large to stand out from what such noise does by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.periods.background import PLAIN_ORDERS, fit_background
from fints.periods.lines import Tone, fit_lines
from fints.periods.spectrum import fft_periodogram
from fints.periods.whitening import Whitening, whitened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.samples import Samples

    FloatArray = NDArray[np.float64]

CLEAR = 12.0
MOST = 5
_MARGIN = 10
_SLOWEST, _FASTEST = 0.5, 50.0
_MOST_WAVES = 12
_TINY = 1e-3


def level_shifts(samples: Samples, value: FloatArray, noise: Background) -> list[int]:
    """Find where the level of a series shifts.

    Parameters
    ----------
    samples : Samples
        Where the values stand.
    value : numpy.ndarray, shape (n,)
        Values, other disturbances taken out.
    noise : Background
        Their noise.

    Returns
    -------
    list of int
        First sample of each new level, at most `MOST`. A step counts if its gain is at least `CLEAR` and above that of
        any slow wave in what is left, since the wave would explain it better.
    """
    found: list[int] = []
    rest, waves = value, 0
    while len(found) < MOST and waves < _MOST_WAVES:
        gains = step_gains(samples, rest, noise, found)
        first = int(gains.argmax())
        if gains[first] < CLEAR:
            break
        frequency, gain = _slow_wave(samples, rest, noise)
        if gain > gains[first]:
            rest = fit_lines(Whitening(samples), rest, [Tone("session", frequency)], steps=3).residual
            waves += 1
        else:
            found.append(first)
            rest = rest - steps(samples, found) @ step_sizes(samples, rest, noise, found)
        noise = fit_background(fft_periodogram(samples, rest), orders=PLAIN_ORDERS)
    return _settled(samples, value, noise, found)


def steps(samples: Samples, firsts: Sequence[int]) -> FloatArray:
    """One column for each shift, its mean taken off, shape (n, len(firsts))."""
    rows = np.arange(len(samples.slot))[:, None]
    columns = (rows >= np.array(firsts, dtype=np.int64)).astype(np.float64)
    return np.asarray(columns - columns.mean(axis=0))


def step_gains(samples: Samples, value: FloatArray, noise: Background, known: Sequence[int] = ()) -> FloatArray:
    """Gain in log-likelihood by one more shift at each sample, beside mean, trend and known ones, shape (n,)."""
    n = len(value)
    time = np.linspace(-1, 1, n)
    columns = np.column_stack([np.ones(n), time, steps(samples, known), value])
    plain = whitened(samples, columns, noise)
    basis = np.linalg.qr(plain[:, :-1])[0]
    target = plain[:, -1] - basis @ (basis.T @ plain[:, -1])
    products, length = _along_steps(samples, np.column_stack([target, basis]), noise)
    length -= np.sum(products[:, 1:] ** 2, axis=1)
    usable = length > _TINY * length.max()
    usable[:_MARGIN] = usable[-_MARGIN:] = False
    return np.divide(0.5 * products[:, 0] ** 2, length, out=np.zeros(n), where=usable)


def step_sizes(samples: Samples, value: FloatArray, noise: Background, found: Sequence[int]) -> FloatArray:
    """Sizes of known shifts, fitted together with mean and trend, shape (len(found),)."""
    columns = np.column_stack([steps(samples, found), np.ones(len(value)), np.linspace(-1, 1, len(value)), value])
    plain = whitened(samples, columns, noise)
    return np.asarray(np.linalg.lstsq(plain[:, :-1], plain[:, -1], rcond=None)[0][: len(found)])


def _slow_wave(samples: Samples, value: FloatArray, noise: Background) -> tuple[float, float]:
    """Frequency of the most striking slow wave, and about its gain in log-likelihood."""
    periodogram = fft_periodogram(samples, value)
    first, last = np.searchsorted(periodogram.frequency * periodogram.duration, (_SLOWEST, _FASTEST))
    frequency = periodogram.frequency[first:last]
    ratio = periodogram.power[first:last] / noise.level(np.minimum(frequency, 0.99 * periodogram.nyquist))
    top = int(ratio.argmax())
    return float(frequency[top]), float(ratio[top])


def _settled(samples: Samples, value: FloatArray, noise: Background, found: list[int]) -> list[int]:
    """Place each shift again in the noise that all of them leave."""
    for k, first in enumerate(found):
        gains = step_gains(samples, value, noise, found[:k] + found[k + 1 :])
        found[k] = int(gains.argmax()) if gains.max() > 0 else first
    return found


def _along_steps(samples: Samples, columns: FloatArray, noise: Background) -> tuple[FloatArray, FloatArray]:
    """Products of columns with the whitened step at each sample, shape (n, k), and its squared length, shape (n,)."""
    from scipy.signal import fftconvolve

    grid = np.zeros((samples.size, columns.shape[1]))
    grid[samples.slot] = columns
    products, lengths = np.empty_like(grid), np.ones(samples.size)
    product, length = np.zeros(columns.shape[1]), 0.0
    for part in reversed(samples.stretches):
        count = part.stop - part.start
        response = noise.whitened(np.ones((1, count)))[0]
        products[part] = fftconvolve(grid[part], response[::-1, None], axes=0)[count - 1 :] + product
        lengths[part] = np.cumsum(response**2)[::-1] + length
        # a shift in an earlier stretch holds all of a later one
        product, length = products[part.start], float(lengths[part.start])
    return products[samples.slot], lengths[samples.slot]
