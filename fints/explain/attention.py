"""Where attention looks: by lag, by distance in time, and by place in each cycle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from fints.explain.measured import BlockedLosses
from fints.transformer.hstu import HstuBlock
from fints.transformer.inputs import network_inputs
from fints.transformer.start.blocks import date_blocks
from fints.transformer.training.windows import spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from fints.explain.groups import Group
    from fints.explain.history import History
    from fints.explain.measured import Measured
    from fints.plan import Cycle
    from fints.transformer.model import CycleNetwork, Inputs

    FloatArray = NDArray[np.float64]

MOST_BINS = 12
"""Bins of a cycle at most; one of fewer bars has one for each bar."""

FEWEST_TURNS = 2
"""Turns of a cycle that a context holds, for its places to say anything."""

DISTANCES = {"hour": (1 / 24, 48), "day": (1.0, 35), "week": (7.0, 52)}
"""Length of a unit in days, and how many of them are looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """How attention is spread over some bins.

    Parameters
    ----------
    name : str
        What the bins are: ``bars back``, ``days back``, a cycle.
    bins : ndarray, shape (n,)
        Their places: numbers of units back, or parts of a cycle from 0, the place of the bar asked for.
    mass : ndarray, shape (layers, heads, n)
        Attention that falls on them, as a part of all.
    even : ndarray, shape (n,)
        What would fall on them if every bar of the context were attended to alike.
    """

    name: str
    bins: FloatArray
    mass: FloatArray
    even: FloatArray

    @property
    def ratio(self) -> FloatArray:
        """Attention per bar relative to an even spread, shape (layers, heads, n); NaN where there is no bar."""
        out: FloatArray = np.divide(self.mass, self.even, out=np.full_like(self.mass, np.nan), where=self.even > 0)
        return out


@dataclass(frozen=True, slots=True, eq=False)
class PhaseProfile:
    """How attention is spread over the places of a cycle.

    Parameters
    ----------
    name : str
        Of the group that the cycle belongs to.
    cycle : Cycle
    profile : Profile
    same : tuple of tuple of Measured
        By layer and head: attention to bars at the same place of the cycle, relative to an even spread.
    """

    name: str
    cycle: Cycle
    profile: Profile
    same: tuple[tuple[Measured, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Attention:
    """Where the forecast tokens of a network look.

    Parameters
    ----------
    by_lag : Profile
        Bars back from the bar asked for.
    by_distance : tuple of Profile
        Hours (of intraday bars), days and weeks back.
    by_phase : tuple of PhaseProfile
        Of each cycle that has planes and fits into the context `FEWEST_TURNS` times; of a longer one, the same place
        is another word for how far back a bar lies.
    windows : int
        That it was averaged over.
    kept : bool
        Whether the network moves the forecasts at all: where its validation tail could not tell its correction from
        chance, none of it is kept.
    """

    by_lag: Profile
    by_distance: tuple[Profile, ...]
    by_phase: tuple[PhaseProfile, ...]
    windows: int
    kept: bool


def attention_weights(network: CycleNetwork, inputs: Inputs) -> list[Tensor]:
    """Weights by which the bars asked for attend to the context.

    Parameters
    ----------
    network : CycleNetwork
    inputs : Inputs

    Returns
    -------
    list of Tensor, each of shape (B, heads, H, L)
        One for each layer; they sum to one over the context.
    """
    found: list[Tensor] = []
    handles = []
    for block in network.blocks:
        module: Any = block if isinstance(block, HstuBlock) else block.attention

        def note(module: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:  # noqa: ANN401
            found.append(module.weights(*args, **options))

        handles.append(module.register_forward_pre_hook(note, with_kwargs=True))
    try:
        with torch.inference_mode():
            network.eval()(inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found


def look(history: History, groups: tuple[Group, ...], origins: NDArray[np.int64], most: int = 64) -> Attention:
    """Average the attention of the first member over some windows.

    Parameters
    ----------
    history : History
    groups : tuple of Group
    origins : ndarray of int64
        As many as `most` of them are taken, evenly.
    most : int
    """
    chosen = spread(origins, most)
    windows, peers = history.windows(chosen), history.peers(chosen)
    network, start = history.fitted.networks[0], history.fitted.start
    inputs = replace(network_inputs(windows, start)[0], peers=peers)
    weights = torch.stack(attention_weights(network, inputs), dim=1).double().numpy()
    places = {
        clock: windows.future_places[clock][:, :, None] - windows.places[clock][:, None, :]
        for clock in ("index", "session", "calendar")
    }
    lags = places["index"].round()
    last = int(lags.max())
    blocks = date_blocks(history.tape, chosen, history.model.h)
    reach = {clock: _reach(windows.places[clock][0]) for clock in ("session", "calendar")}
    turning = [(group.name, cycle) for group in groups if group.planes for cycle in group.cycles]
    turning = [(name, cycle) for name, cycle in turning if FEWEST_TURNS * cycle.period <= reach[cycle.clock]]
    return Attention(
        by_lag=_profile("bars back", weights, lags - 1, np.arange(1.0, last + 1)),
        by_distance=tuple(_distances(weights, places["calendar"], intraday=history.intraday)),
        by_phase=tuple(_phase(name, cycle, weights, places[cycle.clock], blocks) for name, cycle in turning),
        windows=len(chosen),
        kept=any(bool(weight.any()) for member in history.fitted.networks for weight in member.correction()[1:]),
    )


def _reach(places: FloatArray) -> float:
    """Length of a context on a clock, its last bar included."""
    return float(np.ptp(places) * len(places) / (len(places) - 1))


def _profile(name: str, weights: FloatArray, numbers: FloatArray, bins: FloatArray) -> Profile:
    """Add up attention of shape (B, layers, heads, H, L) by the number of its bin, shape (B, H, L)."""
    mass, even = _by_window(weights, numbers, len(bins))
    return Profile(name, bins, mass.mean(axis=0), even.mean(axis=0))


def _by_window(weights: FloatArray, numbers: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Attention by bin, shape (B, layers, heads, n), and what an even spread has there, shape (B, n)."""
    inside = (numbers >= 0) & (numbers < n)
    size, steps, length = numbers.shape
    cell = np.where(inside, numbers, n).astype(np.int64) + np.arange(size)[:, None, None] * (n + 1)
    even = np.bincount(cell.ravel(), minlength=size * (n + 1)).reshape(size, n + 1)[:, :n] / (steps * length)
    _, layers, heads = weights.shape[:3]
    mass = np.stack(
        [
            np.bincount(cell.ravel(), weights[:, i, j].ravel(), minlength=size * (n + 1)).reshape(size, n + 1)[:, :n]
            for i in range(layers)
            for j in range(heads)
        ],
        axis=1,
    )
    return mass.reshape(size, layers, heads, n) / steps, even


def _distances(weights: FloatArray, days: FloatArray, *, intraday: bool) -> Iterator[Profile]:
    """Attention by hours, days and weeks back, as far as the context reaches."""
    for unit, (length, most) in DISTANCES.items():
        if unit == "hour" and not intraday:
            continue
        reach = min(most, int(days.max() / length))
        numbers = np.floor(days / length) if unit == "week" else np.rint(days / length)
        if reach > 1:
            yield _profile(f"{unit}s back", weights, numbers, np.arange(reach + 1.0))


def _phase(name: str, cycle: Cycle, weights: FloatArray, apart: FloatArray, blocks: NDArray[np.int64]) -> PhaseProfile:
    """Attention by the place in a cycle, relative to that of the bar asked for."""
    bars = cycle.period / float(np.median(np.diff(-apart[0, 0])))
    n = max(2, min(MOST_BINS, round(bars)))
    turns = apart / cycle.period
    numbers = np.rint((turns - np.floor(turns)) * n) % n
    mass, even = _by_window(weights, numbers, n)
    layers, heads = mass.shape[1:3]
    same = [
        [_ratio(mass[:, i, j, 0], even[:, 0], blocks) for j in range(heads)]
        for i in range(layers)
    ]  # fmt: skip
    profile = Profile(str(cycle), np.arange(n) / n, mass.mean(axis=0), even.mean(axis=0))
    return PhaseProfile(name, cycle, profile, tuple(map(tuple, same)))


def _ratio(mass: FloatArray, even: FloatArray, blocks: NDArray[np.int64]) -> Measured:
    losses = BlockedLosses(np.stack([mass, even]), blocks)
    return losses.measure(lambda means: np.array([means[0] / means[1] if means[1] else np.nan]))[0]
