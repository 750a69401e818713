"""The fine stage of a search: periods around those that the best trial came to, kept as proposed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.tuning.guard import drawn_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optuna.trial import FrozenTrial

_FIRST = 3
"""Points around a centre before a surface is fitted: it, and one on either side of it."""

_JITTER = 0.01
"""Of the half-width: two workers that ask at once do not get the same point."""


@dataclass(frozen=True, slots=True)
class Cell:
    r"""How one period is refined.

    Parameters
    ----------
    anchor : float
    limit : float
        Largest \|δ\|.
    reach : float
        Half-width in δ of the region around a centre.
    """

    anchor: float
    limit: float
    reach: float


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """Proposes periods around the best.

    A trial of the coarse stage lets training move the periods, which widens the valley that it has to hit. Where
    training leaves them is known to no more than one window tells; the error at long distances tells more. So the fine
    stage keeps periods as proposed and lets that error choose: a Gaussian process on the trials within the half-width
    of a valley around the best, which at that scale is smooth.

    Parameters
    ----------
    cells : mapping of str to Cell
        By name of the cycle.
    """

    cells: Mapping[str, Cell]

    def propose(self, trials: Sequence[FrozenTrial], seed: int) -> dict[str, Any] | None:
        """Return the parameters of the next trial; None where no trial has periods to start from.

        Parameters
        ----------
        trials : sequence of FrozenTrial
            Complete and running ones.
        seed : int
        """
        done = [t for t in trials if t.values and not t.user_attrs.get("pruned") and self._covered(t)]
        if not done:
            return None
        best = min(done, key=lambda t: (t.values[0], t.number))
        centre = {name: self._delta(name, best.user_attrs["end"][name]) for name in self.cells}
        others = {name: value for name, value in best.params.items() if name not in _parameters(self.cells)}
        if "learn" in others:
            others["learn"] = False
        low = {n: max(-c.limit, centre[n] - c.reach) for n, c in self.cells.items()}
        high = {n: min(c.limit, centre[n] + c.reach) for n, c in self.cells.items()}
        near = [t for t in trials if t.user_attrs.get("fixed") and _alike(t, others) and _within(t, low, high)]
        rng = np.random.default_rng(seed)
        if not any(self._at(t, centre) for t in near):
            found = self._beside(centre, 0.0, rng)
        elif len(near) < _FIRST:
            found = self._beside(centre, 0.5 if len(near) % 2 else -0.5, rng)
        else:
            anywhere = {name: float(rng.uniform(low[name], high[name])) for name in self.cells}
            found = drawn_or_none(lambda: _surface(near, low, high, seed)) or anywhere
        return {**others, **{f"delta[{name}]": value for name, value in found.items()}}

    def _covered(self, trial: FrozenTrial) -> bool:
        return all(name in trial.user_attrs.get("end", {}) for name in self.cells)

    def _delta(self, name: str, period: float) -> float:
        cell = self.cells[name]
        return float(np.clip(math.log(period / cell.anchor), -cell.limit, cell.limit))

    def _at(self, trial: FrozenTrial, centre: Mapping[str, float]) -> bool:
        """Tell whether a trial has tried a centre."""
        return all(abs(trial.params[f"delta[{n}]"] - centre[n]) <= 2 * _JITTER * c.reach for n, c in self.cells.items())

    def _beside(self, centre: Mapping[str, float], side: float, rng: np.random.Generator) -> dict[str, float]:
        """Return a point beside a centre, in half-widths, or the centre itself."""
        found = {}
        for i, (name, cell) in enumerate(self.cells.items()):
            # With several periods the sides are mixed, so that they are not all moved the same way.
            sign = -1 if i % 2 else 1
            delta = centre[name] + (side * sign + _JITTER * rng.uniform(-1, 1)) * cell.reach
            found[name] = float(np.clip(delta, -cell.limit, cell.limit))
        return found


def _surface(
    near: Sequence[FrozenTrial], low: Mapping[str, float], high: Mapping[str, float], seed: int
) -> dict[str, float]:
    """Return where a Gaussian process on the trials of a region expects the largest improvement."""
    import optuna
    from optuna.distributions import FloatDistribution

    space = {f"delta[{name}]": FloatDistribution(low[name], high[name]) for name in low}
    study = optuna.create_study(
        sampler=optuna.samplers.GPSampler(seed=seed, n_startup_trials=1, warn_independent_sampling=False)
    )
    for trial in near:
        state = optuna.trial.TrialState.COMPLETE if trial.values else optuna.trial.TrialState.RUNNING
        params = {name: trial.params[name] for name in space}
        value = trial.values[0] if trial.values else None
        study.add_trial(optuna.create_trial(state=state, params=params, distributions=dict(space), value=value))
    drawn = study.ask(dict(space)).params
    return {name: float(drawn[f"delta[{name}]"]) for name in low}


def _parameters(cells: Mapping[str, Cell]) -> set[str]:
    return {f"delta[{name}]" for name in cells}


def _alike(trial: FrozenTrial, others: Mapping[str, object]) -> bool:
    return all(trial.params.get(name) == value for name, value in others.items())


def _within(trial: FrozenTrial, low: Mapping[str, float], high: Mapping[str, float]) -> bool:
    return all(low[name] <= trial.params.get(f"delta[{name}]", math.inf) <= high[name] for name in low)
