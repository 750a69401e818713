"""What is compared: an encoding with its plan, and what the network is given beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fints.encodings import EncodingConfig, encoding_config

if TYPE_CHECKING:
    from fints.plan import Clock, FrequencyPlan
    from fints.studies.comparison.task import Task
    from fints.studies.comparison.trial import ArmTrial

Spelled = str | Mapping[str, Any] | EncodingConfig


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """One encoding under comparison.

    Parameters
    ----------
    name : str
        As it stands in tables and charts; unlike that of any other arm of the study.
    encoding : str, mapping or EncodingConfig, or function of the task
        As `fints.encodings.encoding_config` takes it.
    clock : {"session", "calendar"}
        Of the true plan that it is told.
    plan : callable, optional
        Makes another plan of the task and the seed: a wrong one, or a detected one.
    network, training : mapping
        Settings of `NetworkConfig` and `TrainingConfig` that are the arm's own.
    trial : type of ArmTrial, optional
        What trains it, where the study tries something that the product does not have.
    """

    name: str
    encoding: Spelled | Callable[[Task], Spelled]
    clock: Clock = "session"
    plan: Callable[[Task, int], FrequencyPlan] | None = None
    network: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    trial: type[ArmTrial] | None = None

    def config(self, task: Task) -> EncodingConfig:
        """Return the settings of the encoding for a task."""
        spelled = self.encoding
        given = spelled(task) if callable(spelled) and not isinstance(spelled, EncodingConfig) else spelled
        return encoding_config(given)

    def plan_for(self, task: Task, seed: int) -> FrequencyPlan:
        """Return the plan that it is told."""
        return self.plan(task, seed) if self.plan is not None else task.source.plan(self.clock)


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """What the network is given beside the encoding.

    Parameters
    ----------
    name : str
        Short, for keys and tables.
    title : str
        In words, after "the network is".
    network : mapping
        Settings of `NetworkConfig`.
    as_fitted : bool
        Fit as `CycleTransformer.fit` does (validation tail, early stopping, trust), which the linear start needs,
        instead of to the last step on all windows.
    """

    name: str
    title: str
    network: Mapping[str, Any]
    as_fitted: bool = False


BARE = Mode(
    "bare",
    "given no covariates, no companions and no linear start",
    {"covariates": False, "companions": False, "linear_skip": False},
)
WHOLE = Mode(
    "whole",
    "given calendar covariates and the linear start, and fitted as the forecaster is, with early stopping and trust",
    {"covariates": True, "companions": False, "linear_skip": True},
    as_fitted=True,
)
HSTU = Mode(
    "hstu",
    "given no covariates, no companions and no linear start, and made of HSTU blocks instead of softmax ones",
    {"covariates": False, "companions": False, "linear_skip": False, "block": "hstu"},
)
