"""What proposes the points of a search: at first anywhere, then around the best."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any, Literal

from optuna.distributions import FloatDistribution
from optuna.samplers import BaseSampler
from optuna.trial import TrialState

from fints.tuning.guard import drawn_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

    from fints.tuning.refinement import Refinement

SamplerName = Literal["auto", "gp", "tpe", "random"]

MOST_DIMENSIONS = 8
"""Up to which a Gaussian process is worth its time."""


SAME = 1e-3
"""Points whose numbers differ by less, as a share of their ranges, count as one: a Gaussian process that has converged
asks for the same point, or the same edge, again and again."""


def chosen(name: SamplerName, parameters: Mapping[str, BaseDistribution], *, multi: bool) -> SamplerName:
    """Return the sampler that ``auto`` stands for.

    Parameters
    ----------
    name : {"auto", "gp", "tpe", "random"}
    parameters : mapping of str to BaseDistribution
    multi : bool
        Whether there are several objectives.
    """
    if name != "auto":
        return name
    smooth = all(isinstance(each, FloatDistribution) for each in parameters.values())
    return "gp" if smooth and len(parameters) <= MOST_DIMENSIONS and not multi else "tpe"


def seed_of(base: int, number: int) -> int:
    """Return the seed of what a trial draws.

    No two trials of a study have one number, whichever workers they have and however often the study was stopped and
    went on; so none draws what another drew.

    Parameters
    ----------
    base : int
        Of the study.
    number : int
        Of the trial.
    """
    digest = hashlib.sha256(f"{base}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def make_sampler(name: SamplerName, seed: int) -> BaseSampler:
    """Make one of Optuna's samplers.

    Parameters
    ----------
    name : {"gp", "tpe", "random"}
    seed : int
    """
    from optuna.samplers import GPSampler, RandomSampler, TPESampler

    match name:
        case "gp":
            return GPSampler(seed=seed, warn_independent_sampling=False)
        case "random":
            return RandomSampler(seed=seed)
        case _:
            return TPESampler(seed=seed, multivariate=True, group=True)


class CoarseToFine(BaseSampler):
    """Draws anywhere while the search is coarse, then around the best trial; every trial with a seed of its own.

    Parameters
    ----------
    name : {"gp", "tpe", "random"}
        What draws anywhere.
    seed : int
    coarse : int
        Trials, whatever they come from, before the search is fine.
    refinement : Refinement, optional
        What draws around the best; None: the search stays coarse.
    spread : sequence of str
        Parameters whose first draws, before there is enough to learn from, are spread evenly instead of at random.
    """

    def __init__(
        self,
        name: SamplerName,
        seed: int,
        coarse: int,
        refinement: Refinement | None,
        spread: Sequence[str] = (),
    ) -> None:
        self._name, self._seed, self._coarse, self._refinement = name, seed, coarse, refinement
        self._spread = tuple(spread)
        self._inner = make_sampler(name, seed)
        self._near: dict[str, Any] | None = None

    @property
    def fine(self) -> bool:
        """Whether the last trial was drawn around the best one."""
        return self._near is not None

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Seed what draws, and decide from where."""
        seed = seed_of(self._seed, trial.number)
        self._inner, self._near = make_sampler(self._name, seed), None
        if self._refinement is not None:
            states = (TrialState.COMPLETE, TrialState.RUNNING)
            others = [each for each in study.get_trials(deepcopy=False, states=states) if each.number != trial.number]
            if len(others) >= self._coarse:
                self._near = self._refinement.propose(others, seed)
        self._inner.before_trial(study, trial)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return what is drawn together."""
        return self._inner.infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Draw together; at random where that would be a point again that was tried."""
        if self._near is not None or not search_space:
            return {}
        drawn = drawn_or_none(lambda: self._inner.sample_relative(study, trial, search_space))
        tried = study.get_trials(deepcopy=False)
        if drawn is None or (drawn and any(_same(drawn, each.params, search_space) for each in tried)):
            random = make_sampler("random", seed_of(self._seed, trial.number))
            return {n: random.sample_independent(study, trial, n, space) for n, space in search_space.items()}
        return drawn

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:  # noqa: ANN401  (Optuna's)
        """Draw one parameter, or give the one that was proposed."""
        if self._near is not None and param_name in self._near:
            return self._near[param_name]
        if param_name in self._spread and isinstance(param_distribution, FloatDistribution):
            at = evenly(self._spread.index(param_name), len(self._spread), seed_of(self._seed, 0), trial.number)
            return _point(param_distribution, at)
        return self._inner.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Pass on how a trial ended."""
        self._inner.after_trial(study, trial, state, values)


def evenly(dimension: int, dimensions: int, seed: int, number: int) -> float:
    """Return a coordinate of a point of an additive recurrence, which fills a cube evenly from its first points on.

    Parameters
    ----------
    dimension, dimensions : int
        Which coordinate, from 0, of how many.
    seed : int
        Where the sequence begins.
    number : int
        Of the point.

    Returns
    -------
    float
        In [0, 1).

    Notes
    -----
    The sequence R_d of Roberts (2018): steps of ``g^-(k+1)`` with g the root of ``g^(d+1) = g + 1``; for one dimension
    that of the golden ratio. It depends on the number alone, so workers and searches that go on share it.
    """
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (dimensions + 1))
    step: float = root ** -(dimension + 1)
    begin = seed_of(seed, dimension) / 2**31
    return (begin + number * step) % 1.0


def _point(space: FloatDistribution, at: float) -> float:
    if space.log:
        return float(math.exp(math.log(space.low) + at * math.log(space.high / space.low)))
    return float(space.low + at * (space.high - space.low))


def _same(drawn: Mapping[str, Any], params: Mapping[str, Any], space: Mapping[str, BaseDistribution]) -> bool:
    return all(name in params and _alike(value, params[name], space[name]) for name, value in drawn.items())


def _alike(one: Any, other: Any, space: BaseDistribution) -> bool:  # noqa: ANN401  (numbers, words or truth values)
    if not isinstance(space, FloatDistribution):
        return bool(one == other)
    if space.log:
        return abs(math.log(one / other)) <= SAME * math.log(space.high / space.low)
    return bool(abs(one - other) <= SAME * (space.high - space.low))
