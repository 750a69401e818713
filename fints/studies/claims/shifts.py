"""Scores under T-RoPE on real dates, and what moving query and key together does to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings import TimeAxis
from fints.encodings.bank import TimeBank
from fints.studies.claims.exact import CLOSE, DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from fints.encodings import Encoding
    from fints.encodings.t_rope import TRope

    FloatArray = NDArray[np.float64]

HEAD, TOKENS = 32, 16
DAYS = tuple(CLOSE + DAY * i for i in range(TOKENS))
"""Places of the keys, in Unix seconds; a query carries the next day's."""

SHIFTS = (DAY, 7 * DAY, 30 * DAY, 365 * DAY, 3653 * DAY, 12_345_678)
"""Seconds by which query and keys are moved together."""


def axis(seconds: Sequence[float] | FloatArray) -> TimeAxis:
    """Return places on the seconds clock; their order on the index clock stays what it is."""
    at = torch.as_tensor(np.asarray(seconds, dtype=np.float64))[None]
    return TimeAxis(seconds=at, index=torch.arange(at.shape[-1])[None])


def vectors(head: int = HEAD) -> tuple[Tensor, Tensor]:
    """Draw queries and keys, one of each per token."""
    generator = torch.Generator().manual_seed(61)
    query, key = torch.randn(2, 1, 1, TOKENS, head, generator=generator, dtype=torch.float64)
    return query, key


def scores(encoding: Encoding, q_shift: float = 0.0, k_shift: float = 0.0) -> FloatArray:
    """Score every query against every key on consecutive days, as shares of ``Σ ‖q‖‖k‖``, shape (T, T)."""
    days = np.array(DAYS, dtype=np.float64)
    query, key = vectors()
    sizes = [v.reshape(*v.shape[:-1], -1, 2).norm(dim=-1) for v in (query, key)]
    turned = encoding.prepare(axis(days + DAY + q_shift), axis(days + k_shift)).layer(0).rotate(query, key)
    found = (turned[0] @ turned[1].mT) / (sizes[0] @ sizes[1].mT)
    return np.asarray(found[0, 0].detach().numpy())


def change(encoding: Encoding, shift: float) -> float:
    """Return the largest change of a score if query and key move together."""
    return float(np.abs(scores(encoding, shift, shift) - scores(encoding)).max())


def largest(encoding: Encoding) -> float:
    """Return the largest change over all shifts."""
    return max(change(encoding, shift) for shift in SHIFTS)


def smallest(encoding: Encoding) -> float:
    """Return the smallest change over all shifts."""
    return min(change(encoding, shift) for shift in SHIFTS)


def with_key(encoding: TRope, sign_of: TimeBank, sign: float) -> TRope:
    """Give the keys another bank's coefficients, times a sign."""
    alpha = [[sign * a for a in row] for row in sign_of.starts]
    config = encoding.config
    encoding.key = TimeBank(alpha, encoding.key.betas, config.epoch, config.learned_per, learnable=False)
    return encoding
