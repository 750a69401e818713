"""Random Fourier Rotations: frequencies drawn from the law of a positive-definite kernel."""

from __future__ import annotations

import math
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from fints.encodings.bank import ExactModule
from fints.encodings.base import AxisClock, Encoding, Terms, TimeAxis
from fints.encodings.config import EncodingConfig
from fints.encodings.kernels import AnyKernel, GaussianKernel
from fints.encodings.places import check_period
from fints.encodings.rope import Plane, periods_in_short, rope_planes
from fints.encodings.rotation import Rotation, rotation_table
from fints.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Callable

HeadPlanes = tuple[tuple[tuple[Plane, ...], ...], ...]
"""The planes of every head of every layer."""


class RfrConfig(EncodingConfig):
    """Random Fourier Rotations.

    Attributes
    ----------
    kernel : Kernel
        How attention shall fade with distance, in units of `clock`.
    clock : {"index", "session", "calendar", "seconds"}
    share : float
        Share of the planes that draw their frequency; the others keep the fast end of the rope schedule.
    base : float
        Of that schedule, on the index clock.
    seed_base : int, optional
        Layer ℓ, counted from 1, draws with seed ``seed_base + ℓ``. By default the seed that `build` is given.
    learn : bool
        Train the drawn frequencies, from the drawn ones on.
    unit : float
        The learned departure is in radians per so many units of the clock: the length of a window.
    """

    kind: Literal["rfr"] = "rfr"
    kernel: AnyKernel = GaussianKernel(length=20.0)
    clock: AxisClock = "session"
    share: float = Field(default=1.0, gt=0, le=1)
    base: float = Field(default=10_000.0, gt=1)
    seed_base: int | None = Field(default=None, ge=0)
    learn: bool = False
    unit: float = Field(default=100.0, gt=0, allow_inf_nan=False)


def rest_planes(head_dim: int, share: float, base: float) -> tuple[Plane, ...]:
    """Return the planes that a share of drawn ones leaves to rope: the fast end of its schedule.

    Raises
    ------
    EncodingError
        If the head width is odd or the share leaves no plane to be drawn.
    """
    rope = rope_planes(head_dim, base)
    n_drawn = round(share * len(rope))
    if n_drawn == 0:
        raise EncodingError(f"a share of {share:g} of {len(rope)} planes leaves none to be drawn; raise it")
    return rope[: len(rope) - n_drawn]


def rfr_planes(config: RfrConfig, head_dim: int, n_heads: int, n_layers: int, seed: int = 0) -> HeadPlanes:
    """Draw the planes of every head and layer.

    Parameters
    ----------
    config : RfrConfig
    head_dim : int
        Channels D of a head; even.
    n_heads, n_layers : int
    seed : int
        Taken where the settings hold none.

    Returns
    -------
    tuple, lengths n_layers, n_heads, D / 2

    Raises
    ------
    EncodingError
        If the head width is odd, the share leaves no plane to be drawn, or the period of a periodic kernel is below two
        bars of the index clock or two seconds.
    """
    check_period(config.clock, getattr(config.kernel, "period", None))
    rest = rest_planes(head_dim, config.share, config.base)
    first = seed if config.seed_base is None else config.seed_base
    layers = []
    for layer in range(1, n_layers + 1):
        rng = np.random.default_rng(first + layer)
        drawn = config.kernel.draw(rng, (n_heads, head_dim // 2 - len(rest)))
        layers.append(tuple(rest + tuple(Plane(config.clock, float(f)) for f in head) for head in drawn))
    return tuple(layers)


class HeadRotary(Encoding):
    """Planes that turn steadily, each head of each layer having its own.

    Every distinct frequency is turned into a table once and gathered by the heads that use it; a negative one takes the
    conjugate of the positive. Frequencies are Python floats, so no cast of the module touches them.

    Parameters
    ----------
    planes : tuple of tuple of tuple of Plane
        By layer, head, and plane.
    """

    def __init__(self, planes: HeadPlanes) -> None:
        super().__init__(len(planes))
        self.planes = planes
        every = [plane for head in chain.from_iterable(planes) for plane in head]
        self._bank: dict[AxisClock, list[float]] = {plane.clock: [] for plane in every}
        for clock, frequency in dict.fromkeys((plane.clock, abs(plane.frequency)) for plane in every):
            self._bank[clock].append(frequency)
        distinct = [Plane(clock, frequency) for clock, row in self._bank.items() for frequency in row]
        column = {plane: i for i, plane in enumerate(distinct)}
        self._columns = [
            [
                [column[Plane(p.clock, abs(p.frequency))] + len(distinct) * (p.frequency < 0) for p in head]
                for head in layer
            ]
            for layer in planes
        ]
        self._mirrored = any(plane.frequency < 0 for plane in every)

    def _in_short(self) -> str:
        return periods_in_short(chain.from_iterable(chain.from_iterable(self.planes)))

    def _tables(self, at: TimeAxis) -> list[Callable[[], Tensor]]:
        """Return one function per layer, which gathers a table of shape (B or 1, H, T, P)."""
        parts = []
        for clock, row in self._bank.items():
            places = at.clock(clock)[..., None]
            parts.append(rotation_table(places * torch.tensor(row, dtype=torch.float64, device=places.device)))
        rows = max(len(part) for part in parts)
        bank = torch.cat([part.expand(rows, -1, -1) for part in parts], dim=-1)
        if self._mirrored:
            bank = torch.cat((bank, bank.conj_physical()), dim=-1)
        return [partial(_gathered, bank, layer) for layer in self._columns]

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute the tables of every layer."""
        q_tables = self._tables(q_at)
        if k_at is q_at:
            return Terms(tuple(Rotation(table) for table in q_tables))
        return Terms(tuple(Rotation(q, k) for q, k in zip(q_tables, self._tables(k_at), strict=True)))


class LearnedHeadRotary(ExactModule, Encoding):
    """Planes that turn steadily, each head of each layer having its own, and learning them.

    The learned parameter is the departure from the start, in radians per `unit` of the clock: scores depend on
    distances only, so their derivative with respect to it is distance / unit, of size 1 within a window. It stays
    float64.

    Parameters
    ----------
    planes : tuple of tuple of tuple of Plane
        By layer, head, and plane.
    n_fixed : int
        So many planes of every head, the first, are not learned.
    unit : float
    """

    def __init__(self, planes: HeadPlanes, n_fixed: int, unit: float) -> None:
        super().__init__(len(planes))
        self.planes = planes
        self.unit = unit
        self._clocks = list(dict.fromkeys(p.clock for p in chain.from_iterable(chain.from_iterable(planes))))
        size = (len(planes), len(planes[0]), len(planes[0][0]) - n_fixed)
        self.offset = nn.Parameter(torch.zeros(size, dtype=torch.float64))

    def reset_parameters(self) -> None:
        """Go back to the start; call it after `to_empty` if no state is loaded."""
        nn.init.zeros_(self.offset)

    def start(self) -> Tensor:
        """See `ExactModule.start`: the unit, then the frequency of every plane."""
        every = chain.from_iterable(chain.from_iterable(self.planes))
        numbers = [self.unit, *(plane.frequency for plane in every)]
        return torch.tensor(numbers, dtype=torch.float64, device="cpu")

    def _in_short(self) -> str:
        return periods_in_short(chain.from_iterable(chain.from_iterable(self.planes)))

    def frequencies(self) -> Tensor:
        """Return the frequency of every plane in turns per unit of its clock, shape (L, H, P), float64."""
        rows = [[[plane.frequency for plane in head] for head in layer] for layer in self.planes]
        start = torch.tensor(rows, dtype=torch.float64, device=self.offset.device)
        departure = self.offset / (2 * math.pi * self.unit)
        return start + nn.functional.pad(departure, (start.shape[-1] - departure.shape[-1], 0))

    def _tables(self, at: TimeAxis) -> list[Callable[[], Tensor]]:
        """Return one function per layer, which makes a table of shape (B or 1, H, T, P)."""
        clocks = [at.clock(name) for name in self._clocks]
        rows = max(len(places) for places in clocks)
        places = torch.stack([places.expand(rows, -1) for places in clocks], dim=-1)
        frequencies = self.frequencies()

        def table(layer: int) -> Tensor:
            read = [[self._clocks.index(plane.clock) for plane in head] for head in self.planes[layer]]
            turns = places[..., torch.tensor(read, device=places.device)] * frequencies[layer]
            return rotation_table(turns.transpose(1, 2))

        return [partial(table, layer) for layer in range(self.n_layers)]

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute the tables of every layer."""
        q_tables = self._tables(q_at)
        if k_at is q_at:
            return Terms(tuple(Rotation(table) for table in q_tables))
        return Terms(tuple(Rotation(q, k) for q, k in zip(q_tables, self._tables(k_at), strict=True)))


def _gathered(bank_btp: Tensor, columns: list[list[int]]) -> Tensor:
    """Give every head its columns of a bank, shape (B or 1, H, T, P)."""
    column_hp = torch.tensor(columns, device=bank_btp.device)
    n_heads, n_places = len(columns), bank_btp.shape[1]
    spread = bank_btp[:, None].expand(-1, n_heads, -1, -1)
    return spread.gather(-1, column_hp[None, :, None].expand(len(bank_btp), -1, n_places, -1))


def head_rotary(planes: HeadPlanes, *, learn: bool, n_fixed: int, unit: float) -> Encoding:
    """Return the encoding of drawn planes: `LearnedHeadRotary` or `HeadRotary`."""
    return LearnedHeadRotary(planes, n_fixed, unit) if learn else HeadRotary(planes)


def rfr(config: RfrConfig, head_dim: int, n_heads: int, n_layers: int, seed: int = 0) -> Encoding:
    """Build Random Fourier Rotations; the parameters and errors are those of `rfr_planes`."""
    planes = rfr_planes(config, head_dim, n_heads, n_layers, seed)
    n_fixed = len(rest_planes(head_dim, config.share, config.base))
    return head_rotary(planes, learn=config.learn, n_fixed=n_fixed, unit=config.unit)
