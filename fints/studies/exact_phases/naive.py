"""T-RoPE with the phases that plain float32 arithmetic makes of Unix seconds: what the product must never do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from fints.encodings.base import Encoding, Terms
from fints.encodings.rotation import Rotation
from fints.encodings.t_rope import TRope
from fints.errors import ConfigError
from fints.studies.comparison import ArmTrial
from fints.studies.remade import remade

if TYPE_CHECKING:
    from torch import Tensor

    from fints.encodings.bank import TimeBank
    from fints.encodings.base import TimeAxis
    from fints.transformer import CycleTransformer

VERSION = 1
"""Raise it when a change of the code changes results: what was kept from before is then done again."""


def naive_angles(seconds: Tensor, alpha: Tensor, betas: Tensor) -> Tensor:
    """Compute the angles α·(t/β), every step of it in float32.

    Parameters
    ----------
    seconds : Tensor, shape (B or 1, T), float64
        Unix time.
    alpha, betas : Tensor, shape (P,)

    Returns
    -------
    Tensor, shape (B or 1, T, P), float32
    """
    return alpha.float() * (seconds.float()[..., None] / betas.float())


class NaiveTRope(Encoding):
    """T-RoPE whose places, angles and trigonometry are float32; its coefficients are learned as T-RoPE's are.

    Parameters
    ----------
    exact : TRope
        Whose settings and coefficients it takes.

    Raises
    ------
    ConfigError
        If its phases do not count from 1970.
    """

    def __init__(self, exact: TRope) -> None:
        super().__init__(exact.n_layers)
        if exact.config.epoch:
            raise ConfigError(f"float32 phases count from 1970; got an epoch of {exact.config.epoch:g}; leave it at 0")
        self.shifted_query, self.built = exact.shifted_query, exact.built
        self.sign = -1.0 if exact.config.non_stationary else 1.0
        self.query, self.key = exact.query, exact.key

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute the tables of every layer from the seconds clock."""
        queries = _tables(self.query, q_at.clock("seconds"), 1.0)
        keys = _tables(self.key, k_at.clock("seconds"), self.sign)
        return Terms(tuple(Rotation(q, k) for q, k in zip(queries, keys, strict=True)))


def _tables(bank: TimeBank, seconds: Tensor, sign: float) -> list[Tensor]:
    betas = torch.tensor(bank.betas, device=seconds.device)
    angles = [sign * naive_angles(seconds, alpha, betas) for alpha in bank.alpha(seconds.device)]
    return [torch.complex(angle.cos(), angle.sin())[:, None] for angle in angles]


def naive(encoding: Encoding) -> Encoding:
    """Return the same T-RoPE with float32 phases.

    Raises
    ------
    ConfigError
        If it is another encoding.
    """
    if not isinstance(encoding, TRope):
        raise ConfigError(f"{type(encoding).__name__} has no float32 variant; take t_rope")
    return NaiveTRope(encoding)


@dataclass(frozen=True, slots=True)
class NaiveTrial(ArmTrial):
    """T-RoPE with float32 phases, trained once on a task."""

    def settings(self) -> dict[str, object]:
        """Return everything that decides the result."""
        return {"phases": ["float32", VERSION], **ArmTrial.settings(self)}

    def model(self) -> CycleTransformer:
        """Return the model before training."""
        return remade(ArmTrial.model(self), naive)
