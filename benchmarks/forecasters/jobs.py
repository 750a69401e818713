"""What is to be run: one value per fit, with a digest of all that decides its result."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OURS = "CycleTransformer"
COMBINATION = "Combination"
MEMBERS = ("har_calendar", "gradient_boosting")
"""Baselines that the combination averages with ours: those of a night."""
SETTINGS_OF_COMBINATION = 2
"""To be raised with every change of its settings."""
TARGETS = ("log_volume", "log_range", "log_return")
ENCODINGS = ("none", "absolute_sinusoidal", "alibi", "xpos", "rope", "cycle", "clock", "t_rope")
DAILY_BASELINES = (
    "naive", "seasonal_naive_5", "har", "har_calendar", "har_long_calendar", "ets", "arima", "gradient_boosting",
)  # fmt: skip
HOURLY_BASELINES = ("seasonal_naive_bar", "time_of_day", "har_calendar", "har_long_calendar", "gradient_boosting")
PEERS = ("PatchTST", "NHITS", "TFT", "LightGBM")
SETTINGS_OF_PEERS = 2
"""To be raised with every change of a peer's settings."""
PARTS = ("daily", "intraday", "encodings", "combination", "cost")
ALONE, HELPED = "alone", "helped"
INFERENCE = "inference"
PANEL = "panel"
"""Stands for a model where a panel is made and kept, so that no model is charged for it."""


@dataclass(frozen=True)
class Job:
    """One model on one trial with one seed.

    Parameters
    ----------
    trial : {"daily", "hourly", "inference"}
    target : str
    model : str
        `OURS`, `COMBINATION`, a name of `fints.baselines.BASELINES`, or one of `PEERS`.
    seed : int
    encoding : str
        Of `OURS`, alone or in the combination.
    network, training : dict
        Settings of `OURS` that differ from its defaults.
    shift : int
        Sessions that the trial is moved back by.
    """

    trial: str
    target: str
    model: str
    seed: int = 0
    encoding: str = ""
    network: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    shift: int = 0

    @property
    def label(self) -> str:
        """Name of its row."""
        return f"{self.model}, {self.encoding}" if self.encoding else self.model

    @property
    def key(self) -> str:
        """Name of its files: readable, and ending in a digest of every setting, defaults included."""
        text = json.dumps(asdict(self) | {"resolved": self._resolved()}, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:10]
        words = (self.trial, self.target, self.model, self.encoding, f"seed{self.seed}", digest)
        return "-".join(word for word in words if word)

    def _resolved(self) -> object:
        if self.model in (OURS, COMBINATION):
            from fints.transformer.config import NetworkConfig, TrainingConfig

            network, training = NetworkConfig(**self.network), TrainingConfig(**self.training)
            ours = [network.model_dump(), training.model_dump()]
            return ours if self.model == OURS else [*ours, MEMBERS, SETTINGS_OF_COMBINATION]
        if self.model in (*PEERS, PANEL):
            return SETTINGS_OF_PEERS
        from fints.baselines import BASELINES

        return BASELINES[self.model].model_dump()


@dataclass(frozen=True)
class Budget:
    """How much is run.

    Parameters
    ----------
    seeds, encoding_seeds : int
        Of ours, and of each encoding in the comparison.
    training : dict
        Settings of ours that differ from its defaults.
    encoding_training : dict
        The same in the comparison of encodings.
    peers : tuple of str
        Peers that are run again.
    """

    seeds: int
    encoding_seeds: int
    training: dict[str, Any]
    encoding_training: dict[str, Any]
    peers: tuple[str, ...]


BUDGETS = {
    "quick": Budget(1, 1, {"max_steps": 50}, {"max_steps": 20}, ()),
    "full": Budget(5, 5, {}, {"max_steps": 100}, PEERS),
}


def jobs_of(parts: Sequence[str], budget: Budget, peers: Sequence[str], shift: int) -> list[Job]:
    """List what the parts need, what is cheap first."""
    jobs = [Job("daily", target, PANEL) for target in TARGETS] + [Job("hourly", "log_volume", PANEL)]
    if {"daily", "cost"} & set(parts):
        jobs += _daily(budget, peers, shift)
    if "intraday" in parts:
        jobs += _intraday(budget, shift)
    if "encodings" in parts:
        jobs += encoding_jobs(budget, shift)
    if "combination" in parts:
        jobs += combination_jobs(budget, shift)
    if "cost" in parts:
        jobs.append(Job(INFERENCE, "log_volume", OURS, encoding="cycle", training={"max_steps": 5}))
    return list({job.key: job for job in jobs}.values())


def _daily(budget: Budget, peers: Sequence[str], shift: int) -> Iterator[Job]:
    for target in TARGETS:
        for name in DAILY_BASELINES:
            yield Job("daily", target, name, shift=shift)
    for name in peers:
        for target in TARGETS[:2]:
            yield Job("daily", target, name, shift=shift)
    for seed in range(budget.seeds):
        for target in TARGETS:
            yield Job("daily", target, OURS, seed, "cycle", training=budget.training, shift=shift)


def _intraday(budget: Budget, shift: int) -> Iterator[Job]:
    for name in HOURLY_BASELINES:
        yield Job("hourly", "log_volume", name, shift=shift)
    for seed in range(budget.seeds):
        for encoding in ("cycle", "clock"):
            yield Job("hourly", "log_volume", OURS, seed, encoding, training=budget.training, shift=shift)


def encoding_jobs(budget: Budget, shift: int) -> list[Job]:
    """List the comparison of encodings: with what helps a transformer, and without, seed by seed."""
    network = {HELPED: {}, ALONE: {"covariates": False, "linear_skip": False}}
    return [
        Job(trial, "log_volume", OURS, seed, encoding, network[how], budget.encoding_training, shift)
        for seed in range(budget.encoding_seeds)
        for how in (ALONE, HELPED)
        for trial in ("daily", "hourly")
        for encoding in ENCODINGS
    ]


def combination_jobs(budget: Budget, shift: int) -> list[Job]:
    """List the combinations, one for each target."""
    trials = [("daily", "log_volume"), ("daily", "log_range"), ("hourly", "log_volume")]
    return [Job(*trial, COMBINATION, encoding="cycle", training=budget.training, shift=shift) for trial in trials]
