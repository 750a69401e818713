"""Lines put under their fundamentals, and harmonics that are there without having been found by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.periods.lines import Tone
from fints.periods.whitening import wave_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.families import Family
    from fints.periods.peeling import Peeled
    from fints.periods.whitening import Whitening

    FloatArray = NDArray[np.float64]

HIGHEST_HARMONIC = 8
_WEAKEST_FUNDAMENTAL = 0.2
_SURE = 3.0
_WIDEST = 0.6
_TRIED = 5


def harmonic_number(
    line: tuple[float, float], fundamental: tuple[float, float], highest: int = HIGHEST_HARMONIC
) -> int | None:
    """Which multiple of a fundamental a line is, each given as frequency and tolerance; None if it is none.

    It is the k-th where the fundamental that each implies agrees within their tolerances.
    """
    number = int(np.rint(line[0] / fundamental[0]))
    if not 1 < number <= highest:
        return None
    off = abs(line[0] / number - fundamental[0])
    return number if off <= np.hypot(line[1] / number, fundamental[1]) else None


def group_harmonics(frequency: FloatArray, tolerance: FloatArray, strength: FloatArray) -> dict[int, dict[int, int]]:
    """Put lines of one clock under their fundamentals.

    A line is the k-th harmonic (k ≤ 8) of a lower one where the fundamental that each implies agrees within their
    tolerances, unless that lower line has less than a fifth of its strength.

    Parameters
    ----------
    frequency, tolerance, strength : numpy.ndarray, shape (K,)
        Of the lines; how far off a frequency may be.

    Returns
    -------
    dict
        Index of each fundamental to its members, harmonic number to index; the fundamental is number 1.
    """
    groups: dict[int, dict[int, int]] = {}
    for line in map(int, np.argsort(frequency)):
        for fundamental, members in groups.items():
            number = harmonic_number(
                (frequency[line], tolerance[line]), (frequency[fundamental], tolerance[fundamental])
            )
            strong = strength[fundamental] >= _WEAKEST_FUNDAMENTAL * strength[line]
            if number is not None and strong and number not in members:
                members[number] = line
                break
        else:
            groups[line] = {1: line}
    return groups


def present_harmonics(peeled: Peeled, family: Family, frame: Whitening) -> tuple[int, ...]:
    """Which multiples of a cycle's frequency its series shows.

    Where a harmonic lies is known once the fundamental is, so it is not charged with the search over the whole band: it
    counts if a wave there explains more than chance does at the level `alpha` over the eight multiples. It is tried
    beside the cycle's lowest line, but in place of its other harmonics, some of which stand for one another: five days
    a week hold only two of the week's three, and one-off effects take a comb out of the month's.

    Parameters
    ----------
    peeled : Peeled
        The series and its lines.
    family : Family
        The cycle.
    frame : Whitening
        In which they were fitted.

    Returns
    -------
    tuple of int
        Those of the family's members and any more.
    """
    samples, duration = peeled.samples, peeled.samples.duration(family.clock)
    tones = peeled.fit.tones
    others = [tone for row, tone in enumerate(tones) if row not in family.members.values()]
    basis = np.linalg.qr(np.hstack([frame.waves(tone) for tone in (*others, tones[family.head])]))[0]
    target = frame.plain(samples.value[:, None])[:, 0]
    target -= basis @ (basis.T @ target)
    taken = np.array([tone.on(family.clock, samples.rate) for tone in others])
    fastest = (0.5 if family.clock == "calendar" else 0.5 / samples.step) - 1 / duration
    found = set(family.members)
    for number in set(range(2, HIGHEST_HARMONIC + 1)) - found:
        centre = number * family.frequency
        if centre > fastest or np.any(np.abs(taken - centre) * duration < 1):
            continue
        width = min(_WIDEST, _SURE * number * family.error * duration)
        tried = [Tone(family.clock, centre + off / duration) for off in np.linspace(-width, width, _TRIED)]
        waves = frame.plain(wave_columns(samples, tried))
        waves -= basis @ (basis.T @ waves)
        gain = max(_explained(waves[:, 2 * k : 2 * k + 2], target) for k in range(_TRIED))
        if (1 + 2 * width) * np.exp(-gain) <= peeled.search.alpha / HIGHEST_HARMONIC:
            found.add(number)
    return tuple(sorted(found))


def _explained(waves: FloatArray, target: FloatArray) -> float:
    """Gain in log-likelihood by two columns."""
    products = waves.T @ target
    return float(0.5 * products @ np.linalg.lstsq(waves.T @ waves, products, rcond=None)[0])
