"""What a trial of a search stands for: a plan, an encoding, and what it changes of the base model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from fints.errors import ConfigError
from fints.plan import FrequencyPlan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.encodings import EncodingConfig
    from fints.plan import Cycle
    from fints.transformer import CycleTransformer

    SettingsT = TypeVar("SettingsT", bound=BaseModel)

_NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model as it could be, apart from what all trials share.

    Parameters
    ----------
    plan : FrequencyPlan
    encoding : EncodingConfig
    network, training : mapping
        Settings that differ from the base model's, by their names in `NetworkConfig` and `TrainingConfig`.
    names : tuple of str, optional
        Of the plan's cycles in its order: those of the anchors that they were moved from.
    """

    plan: FrequencyPlan
    encoding: EncodingConfig
    network: Mapping[str, object] = field(default_factory=dict)
    training: Mapping[str, object] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.names:
            object.__setattr__(self, "names", cycle_names(self.plan))

    @property
    def periods(self) -> dict[str, float]:
        """Period of every cycle in units of its clock, by its name."""
        return {name: cycle.period for name, cycle in zip(self.names, self.plan, strict=True)}

    def model(self, base: CycleTransformer) -> CycleTransformer:
        """Return the unfitted model that it is.

        Parameters
        ----------
        base : CycleTransformer
            Horizon, context, seed and all settings that this does not change.

        Raises
        ------
        ConfigError
            If a setting does not exist or is out of range.
        """
        from fints.encodings import fit_plan
        from fints.transformer import CycleTransformer

        design = base.design
        network = changed(design.network, self.network, "network")
        training = changed(design.training, self.training, "training")
        plan = fit_plan(self.plan, self.encoding, network.dim // network.n_heads)
        model = CycleTransformer(
            design.h, design.input_size, self.encoding, plan, level=design.level, random_seed=design.random_seed
        )
        return model.with_settings(network, training).named(base.name)

    def at(self, periods: Mapping[str, float], reason: str) -> Candidate:
        """Return the same with cycles of other periods, their origin being ``tuned``.

        Parameters
        ----------
        periods : mapping of str to float
            By name of the cycle; those that are not there, or do not move, stay as they are.
        reason : str
            Why they are in the plan.
        """
        pairs = [
            (name, cycle if _same(periods.get(name), cycle) else tuned(cycle, periods[name], reason))
            for name, cycle in zip(self.names, self.plan, strict=True)
        ]
        plan, names = named_plan(pairs)
        return replace(self, plan=plan, names=names)

    def to_dict(self) -> dict[str, object]:
        """Return plain values, as JSON and YAML hold them."""
        return {
            "plan": self.plan.to_dict(),
            "encoding": self.encoding.model_dump(mode="json"),
            "network": dict(self.network),
            "training": dict(self.training),
            "names": list(self.names),
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, object]) -> Candidate:
        """Rebuild a candidate from `to_dict`.

        Raises
        ------
        ConfigError
            If the mapping is not one that `to_dict` makes.
        """
        from fints.encodings import encoding_config

        try:
            plan, encoding = value["plan"], value["encoding"]
            network, training, names = (value.get(key, ()) for key in ("network", "training", "names"))
            return cls(
                FrequencyPlan.from_dict(plan),  # type: ignore[arg-type]
                encoding_config(encoding),  # type: ignore[arg-type]
                dict(network or _NOTHING),  # type: ignore[call-overload]
                dict(training or _NOTHING),  # type: ignore[call-overload]
                tuple(names),  # type: ignore[arg-type]
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ConfigError(f"a stored candidate holds a plan and an encoding; this one does not: {error}") from error


def cycle_names(plan: FrequencyPlan) -> tuple[str, ...]:
    """Name the cycles of a plan as people read them (``"20 sessions"``), with more digits where two would be alike."""
    names = [str(cycle) for cycle in plan]
    return tuple(
        name if names.count(name) == 1 else f"{cycle.period:.8g} {name.split()[-1]}"
        for name, cycle in zip(names, plan, strict=True)
    )


def named_plan(pairs: list[tuple[str, Cycle]]) -> tuple[FrequencyPlan, tuple[str, ...]]:
    """Make a plan of named cycles, and return their names in its order."""
    plan = FrequencyPlan(tuple(cycle for _, cycle in pairs))
    names = {(cycle.clock, cycle.period): name for name, cycle in pairs}
    return plan, tuple(names[cycle.clock, cycle.period] for cycle in plan)


def tuned(cycle: Cycle, period: float, reason: str) -> Cycle:
    """Move a cycle; its kernel keeps its width relative to the period."""
    width = None if cycle.width is None else cycle.width * period / cycle.period
    return replace(cycle, period=period, width=width, origin="tuned", reason=reason)


def changed(settings: SettingsT, changes: Mapping[str, object], what: str) -> SettingsT:
    """Return settings with some of them changed.

    Raises
    ------
    ConfigError
        If a setting does not exist or is out of range.
    """
    if not changes:
        return settings
    try:
        return type(settings).model_validate({**settings.model_dump(), **changes})
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"a candidate's {what} settings do not fit: {faults}; change the search space") from error


def _same(period: float | None, cycle: Cycle) -> bool:
    return period is None or math.isclose(period, cycle.period, rel_tol=1e-12)
