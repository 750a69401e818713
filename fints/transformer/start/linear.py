"""A linear forecast of every window: what the calendar says, and regressions on several memories of the past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fints.series.scaling import standard_scaling
from fints.transformer.start.memory import N_FADES, fades, memory_kernels, n_memories

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.series.windows import Windows

    FloatArray = NDArray[np.float64]

Anchor = Literal["level", "zero"]


@dataclass(frozen=True, slots=True, eq=False)
class Located:
    """Windows without their calendar effects, and where their targets are expected.

    Parameters
    ----------
    adjusted : ndarray, shape (B, L)
        Context of the target series less the effect of the calendar, in units of the series.
    location : ndarray, shape (B, H)
        Forecast of the target, effect of the calendar included, in units of the series.
    unit : ndarray, shape (B, 1)
        That unit.
    """

    adjusted: FloatArray
    location: FloatArray
    unit: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """One regression.

    Parameters
    ----------
    calendar : ndarray, shape (n_cal,)
        Effects of the covariates.
    weights : ndarray, shape (F, J)
        Of regressor f of `Regressors` under the fading function j of `fints.transformer.start.memory.fades`.
    """

    calendar: FloatArray
    weights: FloatArray


@dataclass(frozen=True, slots=True)
class Unit:
    """What the values of a series are measured in.

    Parameters
    ----------
    spread : float
        Root mean square of its contexts' standard deviations.
    mean : float
        Mean over its training values, in their own unit.
    """

    spread: float
    mean: float


@dataclass(frozen=True, slots=True, eq=False)
class LinearStart:
    """Linear forecast that a network begins at.

    The calendar's effects are regressed on the innovations of an autoregression, and taken out before the past is
    averaged: yesterday's early close does not count as a quiet market. The rest is forecast from its means over several
    memories, their weights fading with the step. A series with enough training windows uses the mean of the regression
    that all series share and of its own; another one, known or not, uses the shared regression. Companions are in the
    shared one alone.

    Parameters
    ----------
    anchor : {"level", "zero"}
        What is forecast where every weight is zero: the mean of the context, or zero (returns).
    ridge : float
        Penalty that the coefficients were estimated under; infinite if the anchor is left alone.
    phase : bool
        Whether the mean of the same time of day is a regressor.
    shared : Coefficients
    own : mapping of str to Coefficients
    units : mapping of str to Unit
    """

    anchor: Anchor
    ridge: float
    phase: bool
    shared: Coefficients
    own: Mapping[str, Coefficients]
    units: Mapping[str, Unit]

    def locate(self, windows: Windows) -> Located:
        """Forecast windows, in units of their series.

        Parameters
        ----------
        windows : Windows
            Their steps may lie beyond the fitted ones, and their contexts may be longer.
        """
        unit, mean = self._measures(windows)
        memories = self.memories(windows.values.shape[2] - 1)
        companions = companion_memories(windows.values[..., 1:], memories)
        n, h = len(windows), windows.future_calendar.shape[1]
        adjusted, location = np.zeros(windows.values.shape[:2]), np.zeros((n, h))
        for coefficients, share, rows in self._shares(windows):
            part = windows.rows(rows)
            beside = companions[rows] if coefficients is self.shared else companions[rows, :0]
            effect, ahead = part.calendar @ coefficients.calendar, part.future_calendar @ coefficients.calendar
            rest = part.values[..., 0] / unit[rows] - effect
            hours = (part.hours, part.future_hours) if self.phase else None
            x = Regressors.of(rest, beside, mean[rows, 0], hours, memories)
            adjusted[rows] += share * rest
            location[rows] += share * (ahead + self._base(x) + forecast(x, coefficients.weights, windows.steps[rows]))
        return Located(adjusted, location, unit)

    def memories(self, n_past: int) -> int:
        """Memories that were fitted, of the target and of each of so many companions."""
        of_target = len(self.shared.weights) - 2 - 2 * self.phase
        return of_target // (1 + n_past) + 1

    def _measures(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        """Return unit and long-run mean, in that unit, of each window's series; both of shape (B, 1).

        A series that was not in the training panel is measured by the window itself.
        """
        scale = standard_scaling(windows.values[..., 0])
        unit, mean = scale.spread.copy(), scale.center / scale.spread
        for i, name in enumerate(windows.unique_ids):
            known = self.units.get(str(name))
            if known is not None:
                unit[i], mean[i] = known.spread, known.mean / known.spread
        return unit, mean

    def _base(self, x: Regressors) -> FloatArray:
        return x.level[:, None] if self.anchor == "level" else np.zeros((len(x.level), 1))

    def _shares(self, windows: Windows) -> list[tuple[Coefficients, float, NDArray[np.int64]]]:
        """Coefficients, their share in the forecast, and the windows that they forecast."""
        names = windows.unique_ids.astype(str)
        owned = np.isin(names, list(self.own))
        shares = [(self.shared, 1.0, np.flatnonzero(~owned)), (self.shared, 0.5, np.flatnonzero(owned))]
        shares += [(self.own[str(n)], 0.5, np.flatnonzero(names == n)) for n in np.unique(names[owned])]
        return [share for share in shares if len(share[2])]


@dataclass(frozen=True, slots=True, eq=False)
class Regressors:
    """What a linear forecast is made of.

    Parameters
    ----------
    level : ndarray, shape (B,)
        Mean of the context.
    past : ndarray, shape (B, P)
        The same for every step: a constant, distances of the memories and of the long-run mean from the level, memories
        of the companions.
    phase : ndarray, shape (B, H), optional
        Distance of the target's time of day from the level, over the context.
    """

    level: FloatArray
    past: FloatArray
    phase: FloatArray | None

    @classmethod
    def of(
        cls,
        rest: FloatArray,
        companions: FloatArray,
        mean: FloatArray,
        hours: tuple[FloatArray, FloatArray] | None,
        count: int | None = None,
    ) -> Regressors:
        """Measure them.

        Parameters
        ----------
        rest : ndarray, shape (B, L)
            Context without calendar effects.
        companions : ndarray, shape (B, M)
        mean : ndarray, shape (B,)
            Long-run mean.
        hours : tuple of ndarray, shapes (B, L) and (B, H), optional
            Times of day of context and targets; None leaves the phase out.
        count : int, optional
            Memories of the target; see `memory_kernels`.
        """
        memories = rest @ memory_kernels(rest.shape[1], count)
        level = memories[:, -1]
        columns = [np.ones(len(rest)), *(memories[:, :-1] - level[:, None]).T, level - mean, *companions.T]
        phase = None
        if hours is not None:
            context, future = hours
            columns.append(same_time_mean(rest, context, context[:, -1:])[:, 0] - level)
            phase = same_time_mean(rest, context, future) - level[:, None]
        return cls(level, np.stack(columns, axis=1), phase)

    @property
    def width(self) -> int:
        """Number of regressors."""
        return int(self.past.shape[1]) + (self.phase is not None)

    def at(self, step: int) -> FloatArray:
        """Regressors of one step from 1, shape (B, width)."""
        if self.phase is None:
            return self.past
        return np.column_stack((self.past, self.phase[:, step - 1]))


def forecast(x: Regressors, weights: FloatArray, steps: NDArray[np.int64]) -> FloatArray:
    """Linear forecast of the bars at some steps, both of shape (B, H), as the distance from the anchor."""
    fading = fades(np.maximum(steps, 1))  # a bar of the past, asked about once more, counts as the next one
    out: FloatArray = np.einsum("bj,bhj->bh", x.past @ weights[: x.past.shape[1]], fading)
    if x.phase is not None:
        out = out + x.phase * (fading @ weights[-1])
    return out


def companion_memories(past: FloatArray, count: int | None = None) -> FloatArray:
    """Memories of companions of shape (B, L, M), so many as `memory_kernels` says.

    Returns
    -------
    ndarray, shape (B, M * (K - 1))
    """
    memories = standardised(past).swapaxes(1, 2) @ memory_kernels(past.shape[1], count)[:, :-1]
    return memories.reshape(len(past), -1)


def standardised(past: FloatArray) -> FloatArray:
    """Scale each companion of shape (B, L, M) by its own context; an unknown value stands at the mean, 0."""
    series = past.swapaxes(1, 2)
    known = np.where(np.isfinite(series), series, np.nan)
    return np.nan_to_num(standard_scaling(known).apply(known)).swapaxes(1, 2)


def same_time_mean(values: FloatArray, hours: FloatArray, asked: FloatArray) -> FloatArray:
    """Mean of a context over the bars of the same time of day; over all where there is none.

    Parameters
    ----------
    values, hours : ndarray, shape (B, L)
    asked : ndarray, shape (B, H)

    Returns
    -------
    ndarray, shape (B, H)
    """
    stamps = np.rint(np.concatenate((hours, asked), axis=1) * 3600).astype(np.int64)
    times, codes = np.unique(stamps, return_inverse=True)
    n, size = len(values), len(times)
    codes = codes.reshape(stamps.shape) + np.arange(n)[:, None] * size
    known, wanted = codes[:, : hours.shape[1]].ravel(), codes[:, hours.shape[1] :]
    count = np.bincount(known, minlength=n * size)[wanted]
    total = np.bincount(known, values.ravel(), minlength=n * size)[wanted]
    mean: FloatArray = np.where(count > 0, total / np.maximum(count, 1), values.mean(axis=1, keepdims=True))
    return mean


def flat_start(n_cal: int, n_past: int, input_size: int, anchor: Anchor = "level") -> LinearStart:
    """Return a start that forecasts its anchor, whatever the step."""
    width = (n_memories(input_size) - 1) * (1 + n_past) + 2
    nothing = Coefficients(np.zeros(n_cal), np.zeros((width, N_FADES)))
    return LinearStart(anchor=anchor, ridge=np.inf, phase=False, shared=nothing, own={}, units={})
