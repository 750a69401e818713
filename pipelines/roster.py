"""From the entries of a backtest to unfitted models."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fints.backtest import Entrant
from fints.encodings import fit_plan
from fints.errors import ConfigError, EncodingError, PlanError
from fints.settings.backtest import TransformerEntry
from fints.transformer import CycleTransformer
from pipelines.longer import LongerContext
from pipelines.model import left_out
from pipelines.named import LEVELS, Named

if TYPE_CHECKING:
    from fints.forecast import Forecaster
    from fints.plan import FrequencyPlan
    from fints.settings import BacktestSettings, Entry


def make_entrants(settings: BacktestSettings, plan: FrequencyPlan) -> list[Entrant]:
    """Build the models of a backtest, unfitted, with every seed, in the order of their entries.

    Raises
    ------
    UsageError
        If an encoding and its network do not fit together, or an option of a baseline is out of range; it names the
        entry.
    """
    return [
        _entrant(seeded, seed, settings, plan) for entry in settings.models for seed, seeded in _seeds(entry, settings)
    ]


def make_models(settings: BacktestSettings, plan: FrequencyPlan) -> list[Forecaster]:
    """Build the models of a backtest, unfitted, in the order of their entries.

    Raises
    ------
    UsageError
        If an encoding and its network do not fit together, or an option of a baseline is out of range; it names the
        entry.
    """
    return [_make(entry, settings, plan) for entry in settings.models]


def _make(entry: Entry, settings: BacktestSettings, plan: FrequencyPlan) -> Forecaster:
    try:
        if isinstance(entry, TransformerEntry):
            model = make_transformer(entry, settings, plan)
            return model if entry.context is None else LongerContext(model, entry.context)
        return Named(entry.build(settings.h, LEVELS), entry.label)
    except (ConfigError, EncodingError, PlanError) as error:
        raise type(error)(f"the model {entry.label}: {error}") from error


def _seeds(entry: Entry, settings: BacktestSettings) -> list[tuple[int, Entry]]:
    """Return an entry with each of its seeds; once if it draws no random numbers."""
    own = getattr(entry, "random_seed", None)
    if own is None and not isinstance(entry, TransformerEntry):
        return [(0, entry)]
    first = settings.random_seed if own is None else own
    seeds = range(first, first + settings.seeds)
    return [(seed, entry.model_copy(update={"random_seed": seed})) for seed in seeds]


def _entrant(entry: Entry, seed: int, settings: BacktestSettings, plan: FrequencyPlan) -> Entrant:
    model = _make(entry, settings, plan)
    what: tuple[object, ...] = (settings.h, entry)
    if isinstance(model, CycleTransformer):
        what = (model.design,)
    elif isinstance(model, LongerContext):
        what = (model.model.design, model.context)
    return Entrant(model, seed, hashlib.sha256(repr(what).encode()).hexdigest()[:16])


def make_transformer(entry: TransformerEntry, settings: BacktestSettings, plan: FrequencyPlan) -> CycleTransformer:
    """Build a transformer, unfitted, with the cycles that its heads have room for; see `cycles_left_out`.

    Raises
    ------
    ConfigError
        If its context is shorter than what it is trained on.
    EncodingError
        If the encoding and the network do not fit together.
    """
    model = CycleTransformer(
        settings.learned_h,
        entry.input_size or settings.input_size,
        entry.encoding,
        _fitting(plan, entry, settings),
        random_seed=settings.random_seed if entry.random_seed is None else entry.random_seed,
    )
    model = model.with_settings(settings.network_of(entry), settings.training_of(entry)).named(entry.label)
    model.design.network_for(0, 0)
    return model


def cycles_left_out(settings: BacktestSettings, plan: FrequencyPlan) -> tuple[str, ...]:
    """Say of every transformer what of the plan its heads have no room for."""
    transformers = [entry for entry in settings.models if isinstance(entry, TransformerEntry)]
    return tuple(
        f"{entry.label}: {said}" for entry in transformers for said in left_out(plan, _fitting(plan, entry, settings))
    )


def _fitting(plan: FrequencyPlan, entry: TransformerEntry, settings: BacktestSettings) -> FrequencyPlan:
    network = settings.network_of(entry)
    return fit_plan(plan, entry.encoding, network.dim // network.n_heads)
