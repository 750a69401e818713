"""What learned frequencies have come to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from fints.encodings.bank import TimeBank
from fints.encodings.cycle import LearnedCycles
from fints.encodings.rfr import LearnedHeadRotary

if TYPE_CHECKING:
    from torch import Tensor, nn

    from fints.encodings.base import Encoding


def effective_periods(encoding: Encoding) -> dict[str, tuple[float, ...]]:
    """Return the periods that an encoding has learned.

    Parameters
    ----------
    encoding : Encoding

    Returns
    -------
    dict of str to tuple of float
        By name of the parameter (``offset``, ``query.offset``, ``parts.1.offset`` …), one period per element of it in
        the parameter's own order, in units of the clock that its plane reads. Infinite where a plane stands still.
        Empty if nothing is learned.
    """
    found = {}
    with torch.no_grad():
        for name, module in encoding.named_modules():
            periods = _periods(module)
            if periods is not None:
                found[f"{name}.offset".removeprefix(".")] = tuple(periods.flatten().tolist())
    return found


def _periods(module: nn.Module) -> Tensor | None:
    match module:
        case LearnedCycles():
            return module.periods()
        case LearnedHeadRotary():
            return 1 / module.frequencies()[..., -module.offset.shape[-1] :].abs()
        case TimeBank(offset=offset) if offset is not None:
            betas = torch.tensor(module.betas, dtype=torch.float64, device=offset.device)
            return 2 * math.pi * betas / module.alpha(offset.device).abs()
        case _:
            return None
