"""Planes of many time scales whose frequencies are learned, exact at any date.

A phase is α·t/β with t in Unix seconds. At a rate of 1 rad/s it reaches 4e9 rad in 2100, where even the rounding of one
float64 product is 0.4e-6 rad; so frequency and product are carried in two parts, and whole turns are taken off the
larger one, which is exact.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor, nn

from fints.errors import EncodingError

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
    """A module whose float64 parameters stay float64 when it, or one that holds it, is cast.

    They are departures from a start that is no parameter, so the state holds the start as well (``_extra_state``), and
    one that departs from another start is refused.
    """

    @abstractmethod
    def start(self) -> Tensor:
        """Return the numbers that the parameters depart from, shape (n,), float64, on the CPU."""

    def get_extra_state(self) -> Tensor:
        """Return the start, for the state."""
        return self.start()

    def set_extra_state(self, state: Tensor) -> None:
        """Compare the start of a state with this one's.

        Raises
        ------
        EncodingError
            If they differ.
        """
        own, given = self.start().tolist(), state.tolist()
        differ = next((pair for pair in zip(own, given, strict=False) if not math.isclose(*pair, rel_tol=1e-9)), None)
        if differ is None and len(own) == len(given):
            return
        what = (
            f"{len(given)} numbers, not {len(own)}"
            if differ is None
            else f"{differ[1]:.6g} where it has {differ[0]:.6g}"
        )
        raise EncodingError(
            f"the state of learned frequencies departs from another start than this {type(self).__name__}: {what}; "
            "build it with the plan, the seed and the settings of the model that was saved"
        )

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:  # noqa: ANN401
        # States that were saved before they held the start.
        state_dict.setdefault(f"{prefix}_extra_state", self.get_extra_state())
        super()._load_from_state_dict(state_dict, prefix, *rest)

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

    def start(self) -> Tensor:
        """See `ExactModule.start`: epoch and unit, the time scales, then α by layer and plane."""
        numbers = [self.epoch, self.unit, *self.betas, *chain.from_iterable(self.starts)]
        return torch.tensor(numbers, dtype=torch.float64, device="cpu")

    def extra_repr(self) -> str:
        """Say how many planes of which time scales it has, for the printed model."""
        size = f"{len(self.starts)} layers of {len(self.betas)} planes"
        learned = "fixed" if self.offset is None else "learned"
        return f"{size}, beta={self.betas[0]:.4g} … {self.betas[-1]:.4g} s, {learned}"

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
