"""Rotations by a `TimeBank`, with the gradient of T-RoPE's Algorithm 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fints.encodings.rotation import BLOCK, TURN, Rotation, channels, planes, rotation_table

if TYPE_CHECKING:
    from fints.encodings.bank import TimeBank


@dataclass(frozen=True, slots=True, eq=False)
class BankPhases:
    """The phases of one layer at some places: ``coarse · since + fine · since + beside``, in turns.

    Parameters
    ----------
    coarse, fine : Tensor, shape (P,), float64
        Turns per second, without a gradient; see `TimeBank.frequencies`.
    since : Tensor, shape (B or 1, T), float64
        Seconds after the epoch.
    beside : Tensor, shape (B or 1, T, P), float64, optional
        Turns that are added; they carry no gradient.
    offset : Tensor, shape (P,), float64, optional
        What the bank learns, if it does.
    per_offset : float
        Radians per second that a unit of the offset adds.
    """

    coarse: Tensor
    fine: Tensor
    since: Tensor
    beside: Tensor | None
    offset: Tensor | None
    per_offset: float

    def turns(self) -> Tensor:
        """Return the phases less some whole turns, shape (B or 1, T, P).

        Exact to 1e-12 turns for whole seconds and rates up to 1 rad/s. The gradient reaches the offset as if no turn
        had been taken off.
        """
        since, fine = self.since[..., None], self.fine
        if self.offset is not None:
            # Adds nothing but the gradient.
            fine = fine + (self.offset - self.offset.detach()) * (self.per_offset / TURN)
        whole = since * self.coarse
        turns = (whole - whole.round()) + since * fine
        return turns if self.beside is None else turns + self.beside

    def table(self) -> Tensor:
        """Return the table, shape (B or 1, 1, T, P); autograd carries its gradient to the offset."""
        return rotation_table(self.turns())[:, None]


def bank_phases(bank: TimeBank, seconds: Tensor, sign: int = 1, beside: Tensor | None = None) -> list[BankPhases]:
    """Find the phases of every layer of a bank.

    Parameters
    ----------
    bank : TimeBank
    seconds : Tensor, shape (B or 1, T), float64
        Unix time.
    sign : {1, -1}
        −1 turns the other way.
    beside : Tensor, shape (B or 1, T, P), float64, optional
        Turns that are added.
    """
    with torch.no_grad():
        coarse, fine = bank.frequencies(seconds.device)
    offsets = [None] * len(fine) if bank.offset is None else bank.offset.unbind()
    return [
        BankPhases(sign * coarse_p, sign * fine_p, seconds - bank.epoch, beside, offset, sign / bank.unit)
        for coarse_p, fine_p, offset in zip(coarse, fine, offsets, strict=True)
    ]


class BankRotation(Rotation):
    """Rotations of the queries and keys of one layer by phases that are learned.

    Parameters
    ----------
    q_phases, k_phases : BankPhases
    """

    def __init__(self, q_phases: BankPhases, k_phases: BankPhases) -> None:
        super().__init__(q_phases.table, None if k_phases is q_phases else k_phases.table)
        self.q_phases, self.k_phases = q_phases, k_phases

    def _turned(self, q_bhtd: Tensor, k_bhtd: Tensor) -> tuple[Tensor, Tensor]:
        """Rotate queries and keys to their places; see `LayerTerms.rotate`."""
        if self.q_phases.offset is None or not torch.is_grad_enabled() or torch.compiler.is_compiling():
            return super()._turned(q_bhtd, k_bhtd)
        q, k = _Turned.apply(  # type: ignore[no-untyped-call]
            planes(q_bhtd), planes(k_bhtd), self.q_phases.offset, self.k_phases.offset, self.q_phases, self.k_phases
        )
        return channels(q, q_bhtd.dtype), channels(k, k_bhtd.dtype)


class _Turned(torch.autograd.Function):
    """Queries and keys times their tables.

    With y = exp(iφ) x and g the gradient with respect to y, that with respect to x is exp(−iφ) g, and that with respect
    to φ is Im(y* g) (Algorithm 3), here formed from the outputs, which attention keeps anyway. Autograd would keep the
    inputs and the angles, and take the sines and cosines of the angles again.
    """

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:  # noqa: ANN401
        """Turn queries and keys, of complex numbers and shape (B, H, T, P)."""
        q, k, _, _, q_phases, k_phases = inputs
        ctx.shapes = q.shape, k.shape
        q_table = q_phases.table()
        k_table = q_table if k_phases is q_phases else k_phases.table()
        q, k = q * q_table, k * k_table
        ctx.phases = q_phases, k_phases
        ctx.save_for_backward(q, k, q_table, k_table)
        return q, k

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, q_grad: Tensor, k_grad: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Turn the gradients back, and sum those of the phases."""
        q, k, q_table, k_table = ctx.saved_tensors
        q_phases, k_phases = ctx.phases
        q_back, q_offset = _turned_back(q_grad, q, q_table, q_phases)
        k_back, k_offset = _turned_back(k_grad, k, k_table, k_phases)
        q_shape, k_shape = ctx.shapes
        return q_back.sum_to_size(q_shape), k_back.sum_to_size(k_shape), q_offset, k_offset, None, None


def _turned_back(grad: Tensor, y: Tensor, table: Tensor, phases: BankPhases) -> tuple[Tensor, Tensor]:
    """Return the gradients with respect to one input and to its offset, some samples at a time."""
    rows = max(1, 2 * BLOCK // max(1, y[0].numel()))
    weight = (phases.since * phases.per_offset).to(table.real.dtype)
    back, sums = torch.empty_like(grad, memory_format=torch.contiguous_format), []
    with torch.autocast(grad.device.type, enabled=False):
        for start in range(0, len(grad), rows):
            some = slice(start, start + rows)
            g_bhtp, own = grad[some].contiguous(), slice(None) if len(table) == 1 else some
            back[some] = g_bhtp * table[own].conj()
            parts = torch.view_as_real(y[some].conj() * g_bhtp)
            places = weight[own][:, None].expand(parts.shape[:3]).reshape(-1)
            sums.append(places.to(parts.dtype) @ parts.reshape(len(places), -1))
    return back, torch.stack(sums).sum(0)[1::2].to(torch.float64)
