"""The linear start, estimated in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.transformer.start.blocks import beats, date_blocks
from fints.transformer.start.linear import Coefficients, LinearStart, flat_start
from fints.transformer.start.memory import fades
from fints.transformer.start.sample import WindowSample, measure_units, tamed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.series.windows import Tape
    from fints.transformer.start.linear import Anchor

    FloatArray = NDArray[np.float64]

RIDGE = 0.03
"""Penalty of the weights, as a share of each regressor's sum of squares."""

_CALENDAR_RIDGE, _RATE_RIDGE = 1e-3, 1e-4
_ROUNDS = 3
_MOST_WINDOWS, _MOST_OWN = 10_000, 64
_PER_COEFFICIENT = 10


def fit_start(tape: Tape, input_size: int, h: int, train: NDArray[np.int64], check: NDArray[np.int64]) -> LinearStart:
    """Estimate the start of a panel on training windows alone.

    The anchor is whichever of the context's mean and zero forecasts the training windows better. Where the regression
    does not beat it on the check windows by a standard error, the anchor is left alone.

    Parameters
    ----------
    tape : Tape
    input_size, h : int
    train, check : ndarray of int64
        Origins, those for checking later than those for training.
    """
    tape = tamed(tape, input_size, h, train)
    units = measure_units(tape, input_size, train)
    sample = WindowSample(tape, input_size, h, thinned(train), units)
    anchor = _better_anchor(sample)
    regression = estimate(sample, anchor, RIDGE)
    alone = flat_start(tape.calendar.shape[1], tape.values.shape[1] - 1, input_size, anchor)
    looked_at = thinned(check[np.isin(tape.names(check), list(units))])
    if not len(looked_at):
        return regression
    seen = WindowSample(tape, input_size, h, looked_at, units)
    blocks = date_blocks(tape, seen.origins, h)
    better = beats(squared_errors(regression, seen), squared_errors(alone, seen), blocks)
    return regression if better else alone


def refit_start(start: LinearStart, tape: Tape, input_size: int, h: int, origins: NDArray[np.int64]) -> LinearStart:
    """Estimate a start once more on other windows, its anchor and penalty as they were chosen."""
    if np.isinf(start.ridge):
        return start
    tape = tamed(tape, input_size, h, origins)
    units = measure_units(tape, input_size, origins)
    sample = WindowSample(tape, input_size, h, thinned(origins), units)
    return estimate(sample, start.anchor, start.ridge)


def thinned(origins: NDArray[np.int64]) -> NDArray[np.int64]:
    """At most `_MOST_WINDOWS` of the origins; drawn, as even steps could always meet the same time of day."""
    if len(origins) <= _MOST_WINDOWS:
        return origins
    return np.sort(np.random.default_rng(0).choice(origins, _MOST_WINDOWS, replace=False))


def squared_errors(start: LinearStart, sample: WindowSample) -> FloatArray:
    """Mean squared error of each window, in units of its series, shape (n,)."""
    total = np.empty(len(sample))
    for part in np.array_split(np.arange(len(sample)), max(1, len(sample) // 512)):
        windows = sample.tape.cut(sample.origins[part], sample.input_size, sample.h)
        located = start.locate(windows)
        error = located.location * located.unit - sample.future(part, sample.tape.values[:, 0])
        total[part] = ((error / sample.unit[part, None]) ** 2).mean(axis=1)
    return total


def estimate(sample: WindowSample, anchor: Anchor, ridge: float) -> LinearStart:
    """Estimate a start under a penalty."""
    everyone = np.arange(len(sample))
    effects = CalendarEffects(sample)
    own = {}
    if 1 < len(sample.units) <= _MOST_OWN:
        for name in sample.units:
            rows = np.flatnonzero(sample.names == name)
            if len(rows) >= _PER_COEFFICIENT * effects.width:
                own[name] = _coefficients(sample, rows, effects.of(rows), anchor, ridge, companions=False)
    return LinearStart(
        anchor=anchor,
        ridge=ridge,
        phase=sample.intraday,
        shared=_coefficients(sample, everyone, effects.of(everyone), anchor, ridge, companions=True),
        own=own,
        units=dict(sample.units),
    )


class CalendarEffects:
    """Regression on the covariates of a bar, given that the rest follows an autoregression on its memories.

    Two least squares in turn, each with the other's coefficients as they stand (Cochrane and Orcutt, 1949): regressed
    on innovations, an effect is not blamed for what the market's level does.
    """

    def __init__(self, sample: WindowSample) -> None:
        self._y, self._x = sample.memories()
        everyone = np.arange(len(sample))
        self._next_y = sample.future(everyone, sample.tape.values[:, 0])[:, 0] / sample.unit
        self._next_x = sample.tape.calendar[sample.origins + 1]

    @property
    def width(self) -> int:
        """Covariates and memories."""
        return int(self._x.shape[1] + self._x.shape[2])

    def of(self, rows: NDArray[np.int64]) -> FloatArray:
        """Estimate the effects on some windows, shape (n_cal,)."""
        y, x = self._y[rows], self._x[rows]
        # distances from the context's mean, the last memory; its own weight is one
        near_y, level_y = y[:, :-1] - y[:, -1:], y[:, -1]
        near_x, level_x = x[:, :-1] - x[:, -1:], x[:, -1]
        step_y, step_x = self._next_y[rows] - level_y, self._next_x[rows] - level_x
        effects = np.zeros(x.shape[2])
        for _ in range(_ROUNDS if x.shape[2] else 0):
            rates = _ridge(near_y - near_x @ effects, step_y - step_x @ effects, _RATE_RIDGE)
            innovations = step_x - np.einsum("nkc,k->nc", near_x, rates)
            effects = _ridge(innovations, step_y - near_y @ rates, _CALENDAR_RIDGE)
        return effects


def _coefficients(
    sample: WindowSample,
    rows: NDArray[np.int64],
    calendar: FloatArray,
    anchor: Anchor,
    ridge: float,
    *,
    companions: bool,
) -> Coefficients:
    """Regress the targets of some windows on their regressors, each under every fading function."""
    fading = fades(np.arange(1, sample.h + 1))
    effects = sample.tape.calendar @ calendar
    x = sample.regressors(rows, effects, companions=companions)
    target = sample.target(rows, effects)
    if anchor == "level":
        target = target - x.level[:, None]
    size = x.width * fading.shape[1]
    gram, moment = np.zeros((size, size)), np.zeros(size)
    for step in range(1, sample.h + 1):
        columns, fade = x.at(step), fading[step - 1]
        gram += np.kron(columns.T @ columns, np.outer(fade, fade))
        moment += np.kron(columns.T @ target[:, step - 1], fade)
    return Coefficients(calendar, _solve(gram, moment, ridge).reshape(x.width, -1))


def _better_anchor(sample: WindowSample) -> Anchor:
    everyone, y, unit = np.arange(len(sample)), sample.tape.values[:, 0], sample.unit[:, None]
    target = sample.future(everyone, y) / unit
    level = (sample.context(everyone, y) / unit).mean(axis=1, keepdims=True)
    return "level" if ((target - level) ** 2).mean() < (target**2).mean() else "zero"


def _ridge(x: FloatArray, y: FloatArray, ridge: float) -> FloatArray:
    return _solve(x.T @ x, x.T @ y, ridge)


def _solve(gram: FloatArray, moment: FloatArray, ridge: float) -> FloatArray:
    """Solve normal equations with a penalty relative to each regressor's sum of squares."""
    size = np.sqrt(np.diag(gram))
    size[size <= 1e-12 * size.max(initial=0.0)] = np.inf  # a regressor that is always zero gets no weight
    if not np.isfinite(size).any():
        return np.zeros(len(moment))
    scaled = gram / np.outer(size, size) + ridge * np.eye(len(size))
    coefficients: FloatArray = np.linalg.solve(scaled, moment / size) / size
    return coefficients
