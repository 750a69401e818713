"""What a wrong period costs by arithmetic alone.

An encoding that turns with the period T′ makes the forecast a function of the place modulo T′, whatever the network
learns: places T′ apart are one place to it. Of the true wave of period T the best such function on average over the
phase of the window is a wave of period T′, in phase with the true one in the middle of the trained horizon, where the
squared error of training is smallest. From there the phase error grows with the distance, by ``2π · (1/T′ − 1/T)`` a
bar, beyond the trained horizon as within it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def phase_errors(period: float, told: float, h: int, steps: int) -> NDArray[np.float64]:
    """Return by how much a forecast is out of phase at steps 1, 2, 3 … ahead.

    Parameters
    ----------
    period, told : float
        In bars.
    h : int
        Steps ahead that training asked for.
    steps : int

    Returns
    -------
    ndarray, shape (steps,)
        Radians.
    """
    ahead = np.arange(1, steps + 1)
    return np.asarray(2 * np.pi * (1 / told - 1 / period) * (ahead - (h + 1) / 2), np.float64)


def expected_errors(period: float, told: float, h: int, steps: int) -> NDArray[np.float64]:
    """Return the root mean square error at each step ahead for a wave of amplitude 1, over all phases of the window.

    With the wave ``sin``, the forecast ``A sin`` and φ between them it is ``√(½ (1 + A² − 2A cos φ))``; the amplitude
    A that least squares chooses over the trained horizon is the mean of cos φ there. For small φ it is ``|φ| / √2``.

    Parameters
    ----------
    period, told : float
        In bars.
    h : int
        Steps ahead that training asked for.
    steps : int

    Returns
    -------
    ndarray, shape (steps,)
    """
    cosine = np.cos(phase_errors(period, told, h, steps))
    amplitude = cosine[:h].mean()
    errors: NDArray[np.float64] = np.sqrt(0.5 * (1 + amplitude**2 - 2 * amplitude * cosine))
    return errors
