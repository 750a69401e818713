"""Planes of many time scales whose frequencies are learned, exact at any date.

A phase is α·t/β with t in Unix seconds. At a rate of 1 rad/s it reaches 4e9 rad in 2100, where even the rounding of one
float64 product is 0.4e-6 rad; so frequency and product are carried in two parts, and whole turns are taken off the
larger one, which is exact.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TURN = 2 * Fraction("3.14159265358979323846264338327950288419716939937510")
_SPLIT = 2.0**27 + 1
_COARSE = 2.0**33 + 1


def geometric_betas(beta_min: float, beta_max: float, planes: int) -> tuple[float, ...]:
    """Space time scales β geometrically over the planes, the shortest first."""
    if planes == 1:
        return (beta_min,)
    ratio = math.log(beta_max / beta_min) / (planes - 1)
    return tuple(beta_min * math.exp(ratio * j) for j in range(planes))


class ExactModule(nn.Module):
    """A module whose float64 parameters stay float64 when it, or one that holds it, is cast."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move parameters between devices, but never cast them."""

        def move(tensor: Tensor) -> Tensor:
            moved = fn(tensor)
            return moved if moved.dtype == tensor.dtype else tensor.to(moved.device)

        super()._apply(move, recurse)  # type: ignore[no-untyped-call]
        return self


class TimeBank(ExactModule):
    """Coefficients α of a bank of time scales β, one row per layer.

    The learned parameter is the departure from the start, in radians per `unit`: ``α = start + offset · β / unit``. So
    the derivative of a phase with respect to it is (t − epoch) / unit, of size 1 in every plane, where with respect to
    α it would run from 17 to 1.7e7 over the default bank. Weight decay draws to the start, not to zero.

    The start lives in Python floats and the offset in float64, whatever the module is cast to.

    Parameters
    ----------
    starts : sequence of sequence of float
        α at the start, by layer and plane.
    betas : sequence of float
        Time scales in seconds, by plane.
    epoch : float
        Unix seconds at which every phase is zero.
    unit : float
        Seconds; the size of t − epoch.
    learnable : bool
    """

    def __init__(
        self, starts: Sequence[Sequence[float]], betas: Sequence[float], epoch: float, unit: float, *, learnable: bool
    ) -> None:
        super().__init__()
        self.starts = tuple(tuple(row) for row in starts)
        self.betas = tuple(betas)
        self.epoch, self.unit = epoch, unit
        self._per_alpha = [_two_parts(1 / (_TURN * Fraction(beta))) for beta in betas]
        size = (len(self.starts), len(self.betas))
        self.offset = nn.Parameter(torch.zeros(size, dtype=torch.float64)) if learnable else None

    def reset_parameters(self) -> None:
        """Go back to the start; call it after `to_empty` if no state is loaded."""
        if self.offset is not None:
            nn.init.zeros_(self.offset)

    def alpha(self, device: torch.device | str | None = None) -> Tensor:
        """Return α of every layer and plane, shape (L, P), float64."""
        start = torch.tensor(self.starts, dtype=torch.float64, device=device)
        if self.offset is None:
            return start
        scale = torch.tensor(self.betas, dtype=torch.float64, device=device) / self.unit
        return start + self.offset * scale

    def frequencies(self, device: torch.device | str | None = None) -> tuple[Tensor, Tensor]:
        """Return the frequency of every layer and plane in turns per second, in two parts whose sum it is.

        Returns
        -------
        coarse, fine : Tensor, shape (L, P), float64
            The product of the coarse part, which carries no gradient, and whole seconds is exact; the other part is
            small.
        """
        alpha = self.alpha(device)
        per_alpha = torch.tensor(self._per_alpha, dtype=torch.float64, device=device)
        frequency, rest = _product(alpha, per_alpha[:, 0])
        rest = rest + alpha.detach() * per_alpha[:, 1]
        # 20 bits of frequency times 33 bits of seconds fit a float64.
        coarse = _leading(frequency.detach(), _COARSE)
        return coarse, (frequency - coarse) + rest


def _two_parts(value: Fraction) -> tuple[float, float]:
    high = float(value)
    return high, float(value - Fraction(high))


def _leading(x: Tensor, split: float) -> Tensor:
    """Return the leading bits of each number (Veltkamp): 53 − s of them for ``split = 2^s + 1``."""
    scaled = x * split
    return scaled - (scaled - x)


def _product(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return a product and its rounding error (Dekker, 1971); the gradient flows through the product alone."""
    product = a * b
    x, y = a.detach(), b.detach()
    x_high, y_high = _leading(x, _SPLIT), _leading(y, _SPLIT)
    x_low, y_low = x - x_high, y - y_high
    error = ((x_high * y_high - product.detach()) + x_high * y_low + x_low * y_high) + x_low * y_low
    return product, error
