"""The search space: from the parameters of a trial to a candidate, and back from known plans to parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fints.errors import ConfigError, UnknownNameError
from fints.plan import PRIOR_PERIODS, Cycle, FrequencyPlan
from fints.tuning.candidate import Candidate, cycle_names, named_plan, tuned
from fints.tuning.config import Range, SpaceConfig
from fints.tuning.knobs import kinds_of, listens, settled, turned
from fints.tuning.quiet import quiet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial

    from fints.encodings import EncodingConfig
    from fints.tuning.config import Knob

    Params = dict[str, object]

PRIOR = FrequencyPlan.from_periods(PRIOR_PERIODS)

GIVEN, OTHER, BANK = "detected", "prior", "bank"
"""Plans that a search starts from: the given one, the prior one, none."""

STANDS = "as it stands"
"""Origin of the trial that changes nothing."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point that is tried before any is drawn.

    Parameters
    ----------
    origin : str
        Where it comes from, in a word or two.
    params : mapping
        Values of parameters; those that are not there are drawn.
    fixed : bool
        Whether its frequencies are kept where they start, whatever the space says of learning.
    """

    origin: str
    params: Mapping[str, object]
    fixed: bool = False


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """What a search may propose.

    Parameters
    ----------
    config : SpaceConfig
    plan : FrequencyPlan
        Anchors: detected, configured, or the prior.
    encoding : EncodingConfig
        Of the base model.
    period_se : mapping of str to float
        Standard error of a period in units of its clock, by name of the cycle; see `period_errors`.
    spans : mapping of str to float
        Units of each clock before the first fold; see `spans_of`. A period is searched at least as far as that much
        data leaves it open: half a turn over the whole span.
    prior : FrequencyPlan
        The other plan, where plans are searched.

    Raises
    ------
    UnknownNameError
        If a cycle is to be searched that the plan does not hold.
    """

    config: SpaceConfig
    plan: FrequencyPlan
    encoding: EncodingConfig
    period_se: Mapping[str, float] = field(default_factory=dict)
    spans: Mapping[str, float] = field(default_factory=dict)
    prior: FrequencyPlan = PRIOR

    def __post_init__(self) -> None:
        for name in self.config.cycles or ():
            if name not in cycle_names(self.plan):
                raise UnknownNameError("cycle", name, cycle_names(self.plan))

    @property
    def plans(self) -> tuple[str, ...]:
        """Plans that a trial may start from."""
        if self.config.periods == "bank":
            return (BANK,)
        if not self.config.plans:
            return (GIVEN,)
        alike = [(c.clock, c.period) for c in self.plan] == [(c.clock, c.period) for c in self.prior]
        return (GIVEN, BANK) if alike else (GIVEN, OTHER, BANK)

    @property
    def encodings(self) -> dict[str, EncodingConfig]:
        """Encodings to choose from, by their kind, numbered where there are several of one."""
        from fints.encodings import encoding_config

        if self.config.encodings is None:
            return {self.encoding.kind: self.encoding}
        configs = [encoding_config(each) for each in self.config.encodings]
        kinds = [config.kind for config in configs]
        numbered = [k if kinds.count(k) == 1 else f"{k} {kinds[: i + 1].count(k)}" for i, k in enumerate(kinds)]
        return dict(zip(numbered, configs, strict=True))

    @property
    def untuned(self) -> Candidate:
        """The base model with the plan, as both stand."""
        return Candidate(self.plan, self.encoding)

    def width(self, cycle: Cycle, name: str) -> float:
        r"""Return how far \|δ\| the search of a cycle's period goes."""
        guard, error = self.config.guard, self.period_se.get(name, math.nan)
        if not (math.isfinite(error) and error > 0):
            return guard
        floor = cycle.period / (2 * self.spans[cycle.clock]) if cycle.clock in self.spans else 0.0
        return min(guard, max(self.config.standard_errors * error / cycle.period, floor))

    def suggest(self, trial: Trial, *, fixed: bool = False) -> Candidate:
        """Ask a trial for the parameters of a candidate.

        Parameters
        ----------
        trial : optuna.Trial
        fixed : bool
            Keep the cycles' periods as proposed, whatever is said of learning.
        """
        plans, encodings = self.plans, self.encodings
        which = str(trial.suggest_categorical("plan", plans)) if len(plans) > 1 else plans[0]
        kinds = tuple(encodings)
        kind = str(trial.suggest_categorical("encoding", kinds)) if len(kinds) > 1 else kinds[0]
        encoding = encodings[kind]
        pairs = self._bank(trial) if which == BANK else self._moved(trial, self.plan if which == GIVEN else self.prior)
        if self.config.harmonics and not trial.suggest_categorical("harmonics", [True, False]):
            pairs = [(name, replace(cycle, harmonics=(min(cycle.harmonics),))) for name, cycle in pairs]
        plan, names = named_plan(pairs)
        values = {name: _suggested(trial, name, knob) for name, knob in self._knobs(encoding).items()}
        learn = self._learn(trial)
        values |= {"cycle.learn": False} if fixed else {"learn": learn}
        network, training = (_settings(trial, section, self.config) for section in ("network", "training"))
        if self.config.frequency_rate is not None:
            training["frequency_rate"] = _suggested(trial, "frequency_rate", self.config.frequency_rate)
        return Candidate(plan, turned(encoding, values), network, training, names)

    def points(self) -> tuple[Point, ...]:
        """Return what is tried first: the plan as it stands, the same with learning, the prior plan, the bank."""
        stays = {f"delta[{name}]": 0.0 for name in cycle_names(self.plan)} if self.config.periods == "anchors" else {}
        points = []
        several = len(self.plans) > 1
        if GIVEN in self.plans:
            chosen = {**({"plan": GIVEN} if several else {}), **self._usual(), **stays}
            fixed = settled(self.encoding) == self.encoding
            points.append(Point(STANDS, {**chosen, **({"learn": not fixed} if self._searched else {})}, fixed))
            if fixed and self.config.learn != "off" and listens(self.encoding, "learn"):
                points.append(Point("from the plan", {**chosen, **({"learn": True} if self._searched else {})}))
        if OTHER in self.plans:
            stays = {f"delta[{name}]": 0.0 for name in cycle_names(self.prior)}
            points.append(Point(OTHER, {"plan": OTHER, **self._usual(), **stays}))
        if BANK in self.plans:
            points.append(Point(BANK, {"plan": BANK, **self._usual()} if several else {}))
        return tuple(points)

    def describe(self) -> dict[str, object]:
        """Return everything that decides what is searched, as plain values."""
        names = cycle_names(self.plan)
        return {
            "space": self.config.model_dump(mode="json"),
            "cycles": {
                name: {
                    "period": float(f"{cycle.period:.9g}"),
                    "clock": cycle.clock,
                    "harmonics": list(cycle.harmonics),
                    "within": float(f"{self.width(cycle, name):.6g}"),
                }
                for name, cycle in zip(names, self.plan, strict=True)
            },
            "prior": list(cycle_names(self.prior)) if self.config.plans else [],
            "encoding": self.encoding.model_dump(mode="json"),
        }

    @property
    def _searched(self) -> bool:
        return self.config.learn == "search"

    def _learn(self, trial: Trial) -> bool:
        if self._searched:
            return bool(trial.suggest_categorical("learn", [True, False]))
        return self.config.learn == "on"

    def _moved(self, trial: Trial, anchors: FrequencyPlan) -> list[tuple[str, Cycle]]:
        names = cycle_names(anchors)
        wanted = self.config.cycles or names
        if self.config.periods == "fixed":
            return list(zip(names, anchors, strict=True))
        pairs = []
        for name, cycle in zip(names, anchors, strict=True):
            if name not in wanted:
                pairs.append((name, cycle))
                continue
            width = self.width(cycle, name)
            delta = trial.suggest_float(f"delta[{name}]", -width, width)
            period = cycle.period * math.exp(delta)
            pairs.append((name, tuned(cycle, period, f"searched around {name}") if delta else cycle))
        return pairs

    def _bank(self, trial: Trial) -> list[tuple[str, Cycle]]:
        bank = self.config.bank
        shortest = float(_suggested(trial, "bank.shortest", bank.shortest))  # type: ignore[arg-type]
        ratio = float(_suggested(trial, "bank.ratio", bank.ratio))  # type: ignore[arg-type]
        count = bank.counts[0] if len(bank.counts) == 1 else int(trial.suggest_categorical("bank.count", bank.counts))
        return [
            (f"bank {i + 1}", Cycle(shortest * ratio**i, origin="tuned", reason="of a geometric bank"))
            for i in range(count)
        ]

    def _knobs(self, encoding: EncodingConfig) -> dict[str, Knob]:
        """Return what is searched of an encoding."""
        config, clock, t_rope = self.config, self.config.clock, self.config.t_rope
        knobs: dict[str, Knob | None] = {"share": config.share, "split": config.split, "base": config.base}
        if clock is not None:
            knobs |= {
                "clock.sigma_over_period": clock.sigma_over_period,
                "clock.truncation": clock.truncation,
                "clock.law": clock.laws,
            }
        if t_rope is not None:
            knobs |= {
                "t_rope.sigma": t_rope.sigma,
                "t_rope.epoch": t_rope.epoch,
                "t_rope.shared": (True, False) if t_rope.shared else None,
                "t_rope.plan_share": t_rope.plan_share,
            }
        return {name: knob for name, knob in knobs.items() if knob is not None and listens(encoding, name)}

    def _usual(self) -> Params:
        """Return the base model's own values of parameters, where they can be said."""
        usual: Params = {}
        if len(self.encodings) > 1:
            kind = next((k for k, config in self.encodings.items() if config == self.encoding), None)
            kind = kind or next((k for k in self.encodings if k.split()[0] in kinds_of(self.encoding)), None)
            usual |= {} if kind is None else {"encoding": kind}
        if self.config.harmonics:
            usual["harmonics"] = True
        return usual


def _suggested(trial: Trial, name: str, knob: Knob) -> object:
    if isinstance(knob, Range):
        return trial.suggest_float(name, knob.low, knob.high, log=knob.log)
    return knob[0] if len(knob) == 1 else trial.suggest_categorical(name, knob)


def _settings(trial: Trial, section: str, config: SpaceConfig) -> Params:
    """Ask for settings of the network or of its training; a range of a whole number gives whole numbers."""
    from fints.transformer import NetworkConfig, TrainingConfig

    fields = NetworkConfig.model_fields if section == "network" else TrainingConfig.model_fields
    values: Params = {}
    for key, knob in getattr(config, section).items():
        name = f"{section}.{key}"
        if isinstance(knob, Range) and fields[key].annotation is int:
            values[key] = trial.suggest_int(name, round(knob.low), round(knob.high), log=knob.log)
        else:
            values[key] = _suggested(trial, name, knob)
    return values


def parameters(space: SearchSpace) -> dict[str, BaseDistribution]:
    """Return the parameters that the first trial of a search asks for, with what they are drawn from.

    Raises
    ------
    ConfigError
        If there is none: all trials would be the same.
    """
    import optuna

    with quiet():
        trial = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0)).ask()
        space.suggest(trial)
    if not trial.params:
        raise ConfigError("the search space holds one point: nothing is searched. Widen space: in the settings")
    return dict(trial.distributions)
