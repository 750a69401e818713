"""T-RoPE as it is published: α itself is the parameter, decayed and trained like any weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from fints.encodings.bank import TimeBank
from fints.encodings.base import Encoding, Terms
from fints.encodings.rotation import TURN, Rotation, rotation_table
from fints.encodings.t_rope import TRope
from fints.errors import ConfigError
from fints.studies.comparison import ArmTrial
from fints.studies.remade import remade

if TYPE_CHECKING:
    from torch import Tensor, nn

    from fints.encodings.base import TimeAxis
    from fints.transformer import CycleTransformer

VERSION = 1
"""Raise it when a change of the code changes results: what was kept from before is then done again."""


class RawBank(TimeBank):
    """A bank whose parameter is α itself.

    Parameters
    ----------
    bank : TimeBank
        Whose time scales and first coefficients it takes.
    """

    def __init__(self, bank: TimeBank) -> None:
        super().__init__(bank.starts, bank.betas, bank.epoch, bank.unit, learnable=True)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Go back to the first coefficients."""
        assert self.offset is not None
        with torch.no_grad():
            self.offset.copy_(torch.tensor(self.starts, dtype=torch.float64))

    def alpha(self, device: torch.device | str | None = None) -> Tensor:
        """Return α of every layer and plane, shape (L, P), float64."""
        assert self.offset is not None
        return self.offset.to(device)

    def tables(self, seconds: Tensor, sign: int) -> list[Tensor]:
        """Return the table of every layer, shape (B or 1, 1, T, P)."""
        per_alpha = sign / (TURN * torch.tensor(self.betas, dtype=torch.float64, device=seconds.device))
        since = seconds[..., None] - self.epoch
        return [rotation_table(since * (row * per_alpha))[:, None] for row in self.alpha(seconds.device)]


class RawTRope(Encoding):
    """T-RoPE whose α are plain parameters: no rescaling, no rate of their own, and decayed as matrices are.

    Parameters
    ----------
    exact : TRope
        Whose settings and first coefficients it takes.
    """

    def __init__(self, exact: TRope) -> None:
        super().__init__(exact.n_layers)
        self.shifted_query, self.built = exact.shifted_query, exact.built
        self.sign = -1 if exact.config.non_stationary else 1
        self.query, self.key = RawBank(exact.query), RawBank(exact.key)

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute the tables of every layer from the seconds clock."""
        queries = self.query.tables(q_at.clock("seconds"), 1)
        keys = self.key.tables(k_at.clock("seconds"), self.sign)
        return Terms(tuple(Rotation(q, k) for q, k in zip(queries, keys, strict=True)))

    def frequency_parameters(self) -> list[nn.Parameter]:
        """Return none: to the optimiser its coefficients are weights like any other."""
        return []


def raw(encoding: Encoding) -> Encoding:
    """Return the same T-RoPE with α as plain parameters.

    Raises
    ------
    ConfigError
        If it is another encoding, or shares its coefficients.
    """
    if not isinstance(encoding, TRope) or encoding.config.shared:
        raise ConfigError(f"{type(encoding).__name__} has no raw variant; take t_rope with coefficients not shared")
    return RawTRope(encoding)


@dataclass(frozen=True, slots=True)
class RawTrial(ArmTrial):
    """T-RoPE with plain parameters, trained once on a task."""

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result."""
        return {"coefficients": ["raw", VERSION], **ArmTrial.settings(self)}

    def model(self) -> CycleTransformer:
        """Return the model before training."""
        return remade(ArmTrial.model(self), raw)
