"""How a line's amplitude changes over the years."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.bursts import chains
from fints.periods.whitening import wave_columns, whitened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.periods.background import Background
    from fints.periods.lines import LineFit
    from fints.periods.samples import Clock, Samples

    FloatArray = NDArray[np.float64]

_MOST_WINDOWS = 4
_CYCLES_PER_WINDOW = 2
_PRESENT = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Amplitudes:
    """Amplitude of one line over rolling windows, W of them.

    Parameters
    ----------
    unique_id : str
        The series.
    clock : {"session", "calendar"}
        The line's clock.
    period : float
        In its units.
    session, calendar : numpy.ndarray, shape (W,)
        Middle of each window on the two clocks.
    amplitude : numpy.ndarray, shape (W,)
        Amplitude in the phase of the whole series; negative where the line runs against it.
    across : numpy.ndarray, shape (W,)
        Amplitude a quarter of a turn later: √(amplitude² + across²) is the size whatever the phase, and the angle
        between them how far the phase has drifted.
    error : numpy.ndarray, shape (W,)
        Standard error of either.
    whole : float
        Amplitude over the whole series.
    """

    unique_id: str
    clock: Clock
    period: float
    session: FloatArray
    calendar: FloatArray
    amplitude: FloatArray
    across: FloatArray
    error: FloatArray
    whole: float


def is_stable(samples: Samples, fit: LineFit, index: int, noise: Background | None = None) -> bool:
    """Whether a line runs through the whole series instead of a part of it.

    A cycle of a few years shows as several lines side by side that cancel each other in the other years, so a line is
    judged together with those that a chain of at most four bins links it to. The series, all other lines taken out, is
    cut into up to four windows of at least two cycles. The lines count as present in one if they have at least half
    their mean amplitude there, and if at least half of that is found in the data. All windows but one of four have to
    hold them.

    Parameters
    ----------
    samples : Samples
        The series.
    fit : LineFit
        Its lines.
    index : int
        The line to judge.
    noise : Background, optional
        Spectrum of the noise; white by default.
    """
    tone = fit.tones[index]
    cycles = samples.duration(tone.clock) * tone.frequency
    windows = int(np.clip(cycles // _CYCLES_PER_WINDOW, 1, _MOST_WINDOWS))
    joint = _joint(samples, fit, index)
    time = _time(samples)
    columns = np.column_stack([fit.residual + joint, np.ones_like(time), time, joint])
    plain = whitened(samples, columns, noise)
    edges = np.linspace(samples.session[0], samples.session[-1], windows + 1)[1:-1]
    parts = np.split(np.arange(len(plain)), np.searchsorted(samples.session, edges))
    least = _PRESENT**2 * np.mean(joint**2)
    present = [
        np.mean(joint[part] ** 2) >= least and _in_phase(plain[part, 0], plain[part, 1:])[0] >= _PRESENT
        for part in parts
    ]
    return bool(sum(present) >= windows - (windows == _MOST_WINDOWS))


def _joint(samples: Samples, fit: LineFit, index: int) -> FloatArray:
    """Values of a line and of those that a chain of neighbours links to it, shape (n,)."""
    rows = next(chain for chain in chains(samples, fit, range(len(fit.tones))) if index in chain)
    return np.asarray(np.sum([fit.line(row, samples) for row in rows], axis=0), dtype=np.float64)


def _time(samples: Samples) -> FloatArray:
    return (samples.session - samples.middle("session")) / samples.duration("session")


def rolling_amplitudes(
    samples: Samples, fit: LineFit, index: int, noise: Background | None = None, windows: int = 40
) -> Amplitudes:
    """Amplitude of a line in overlapping windows.

    Parameters
    ----------
    samples, fit, index, noise
        As for :func:`is_stable`.
    windows : int
        How many; each is an eighth of the series, or four cycles if that is longer.
    """
    tone = fit.tones[index]
    target, design = _columns(samples, fit, index, noise)
    place = samples.place(tone.clock)
    length = min(max(samples.duration(tone.clock) / 8, 4 / tone.frequency), samples.duration(tone.clock))
    starts = np.linspace(place[0], max(place[0], place[-1] - length), windows)
    whole = float(fit.amplitude[index])
    rows = []
    for start in starts:
        part = slice(int(np.searchsorted(place, start)), int(np.searchsorted(place, start + length, side="right")))
        if part.stop - part.start < design.shape[1] + 2:
            continue
        share, across, error = _in_phase(target[part], design[part])
        middle = (samples.session[part].mean(), samples.calendar[part].mean())
        rows.append((*middle, share * whole, across * whole, error * whole))
    session, calendar, amplitude, across_it, errors = np.array(rows, dtype=np.float64).reshape(-1, 5).T
    return Amplitudes(
        samples.unique_id, tone.clock, 1 / tone.frequency, session, calendar, amplitude, across_it, errors, whole
    )


def _columns(samples: Samples, fit: LineFit, index: int, noise: Background | None) -> tuple[FloatArray, FloatArray]:
    """Series with one line and its neighbours; level, trend, the line, and the line a quarter of a turn later."""
    waves = wave_columns(samples, [fit.tones[index]])
    along = np.array([fit.cosine[index], fit.sine[index]])
    across = np.array([-along[1], along[0]])
    time = _time(samples)
    value = fit.residual + _joint(samples, fit, index)
    columns = np.column_stack([value, np.ones_like(time), time, waves @ along, waves @ across])
    plain = whitened(samples, columns, noise)
    return plain[:, 0], plain[:, 1:]


def _in_phase(target: FloatArray, design: FloatArray) -> tuple[float, float, float]:
    """Shares of the whole line's amplitude that a window holds in its phase and across, and the standard error."""
    moment = design.T @ design
    coefficient = np.linalg.lstsq(moment, design.T @ target, rcond=None)[0]
    spread = float(np.mean((target - design @ coefficient) ** 2))
    across = float(coefficient[3]) if len(coefficient) > 3 else 0.0
    return float(coefficient[2]), across, float(np.sqrt(max(np.linalg.pinv(moment)[2, 2], 0.0) * spread))
