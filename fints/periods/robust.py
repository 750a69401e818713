"""The robust estimator: surprising values count by less than their square.

It is Huber's (1981, Robust Statistics, ch. 7) M-estimate by least squares on pseudo-values: the fit plus
ψ(residual) / E ψ', ψ clipping the innovations at two standard deviations. As the noise has memory, a clipped value must
not spoil the innovations after it: each is the departure from what the values cleaned so far predict (the filter
cleaner of Martin and Thomson 1982, Proc. IEEE 70, 1097-1115). Of normal noise, clipping loses 1 % of the information;
of noise with heavy tails it gains what least squares loses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.samples import Samples

    FloatArray = NDArray[np.float64]

CLIPPED = 2.0
_MAD = 1.4826
_MEMORY = 50
_SAME = 1e-9


def pseudo_values(samples: Samples, fit: FloatArray, noise: Background) -> Samples:
    """Clip the innovations of a series about a fit.

    Parameters
    ----------
    samples : Samples
        The series.
    fit : numpy.ndarray, shape (n,)
        Mean, trend and the lines known so far.
    noise : Background
        Spectrum of what it leaves; its scale is taken from the innovations' median.

    Returns
    -------
    Samples
        With pseudo-values, to be searched by least squares.
    """
    regular = samples.regular(samples.value - fit)
    impulse = np.zeros((1, _MEMORY))
    impulse[0, 0] = 1.0
    response = noise.whitened(impulse)[0]
    plain = np.concatenate([noise.whitened(regular[None, part])[0] for part in samples.stretches])
    limit = CLIPPED * _MAD * float(np.median(np.abs(plain))) / response[0]
    clean = np.zeros(samples.size)
    for part in samples.stretches:
        clean[part] = _clipped(regular[part], -response[:0:-1] / response[0], limit)
    inside = float(np.mean(np.abs(regular - clean)[samples.slot] < _SAME * limit))
    return replace(samples, value=fit + clean[samples.slot] / max(inside, 0.5))


def _clipped(value: FloatArray, predictor: FloatArray, limit: float) -> FloatArray:
    """Values with each innovation from what the clean past predicts clipped, shape of `value`."""
    memory = len(predictor)
    clean = np.zeros(memory + len(value))
    for t, own in enumerate(value.tolist()):
        expected = float(predictor @ clean[t : t + memory])
        clean[t + memory] = expected + min(max(own - expected, -limit), limit)
    return clean[memory:]
