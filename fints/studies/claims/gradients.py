"""T-RoPE's Algorithm 3: gradients of learned angles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings.bank_rotation import bank_phases
from fints.encodings.t_rope import TRope, TRopeConfig
from fints.studies.claims.claim import Below, Claim, Near, Value, number
from fints.studies.claims.evidence import Evidence
from fints.studies.claims.exact import CLOSE, DAY, exact_phases
from fints.studies.claims.shifts import axis
from fints.studies.claims.sources import T_ROPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    FloatArray = NDArray[np.float64]

HEAD, TOKENS = 16, 12
AGREES = 1e-6
NOW = 1.7e9
"""Unix seconds, November 2023."""

STANDARD, TRANSPOSED = 1, -1
_STEP = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Queries or keys with what the loss hands down to them.

    Parameters
    ----------
    x, g : ndarray, shape (T, D)
        Vectors, and the loss's gradient with respect to the rotated ones.
    phase : ndarray, shape (T, P)
    way : {1, -1}
        Standard, or transposed.
    """

    x: FloatArray
    g: FloatArray
    phase: FloatArray
    way: int

    def rotated(self, phase: FloatArray) -> FloatArray:
        """Rotate by some phases (Algorithm 2), shape (T, D)."""
        x0, x1, c, s = self.x[:, 0::2], self.x[:, 1::2], np.cos(phase), self.way * np.sin(phase)
        return np.stack((x0 * c - x1 * s, x0 * s + x1 * c), axis=-1).reshape(self.x.shape)

    def gradients(self) -> tuple[FloatArray, FloatArray]:
        """Apply Algorithm 3: gradients of the vectors, shape (T, D), and of the phases, shape (T, P)."""
        c, s = np.cos(self.phase), np.sin(self.phase)
        x0, x1, g0, g1 = self.x[:, 0::2], self.x[:, 1::2], self.g[:, 0::2], self.g[:, 1::2]
        if self.way == STANDARD:
            dx = (g0 * c + g1 * s, -g0 * s + g1 * c)
            return np.stack(dx, axis=-1).reshape(self.x.shape), g0 * (-x0 * s - x1 * c) + g1 * (x0 * c - x1 * s)
        dx = (g0 * c - g1 * s, g0 * s + g1 * c)
        return np.stack(dx, axis=-1).reshape(self.x.shape), g0 * (-x0 * s + x1 * c) + g1 * (-x1 * s - x0 * c)

    def differences(self) -> FloatArray:
        """Differentiate the loss by the phases, by central differences, shape (T, P)."""
        losses = []
        for step in (_STEP, -_STEP):
            product = self.g * self.rotated(self.phase + step)
            losses.append(product[:, 0::2] + product[:, 1::2])
        return np.asarray((losses[0] - losses[1]) / (2 * _STEP))


def relative(found: FloatArray, expected: FloatArray) -> float:
    """Return the largest difference over the largest expected size."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def autograd(encoding: TRope, seconds: Sequence[int]) -> tuple[list[Side], list[FloatArray], list[FloatArray]]:
    """Differentiate a loss that is linear in the rotated queries and keys.

    Returns
    -------
    sides : list of Side
        Queries, and keys.
    vectors, coefficients : list of ndarray, shape (T, D) and (P,)
        Autograd's gradients of either side's vectors and of its α.
    """
    generator = torch.Generator().manual_seed(71)
    q, k, gq, gk = torch.randn(4, 1, 1, len(seconds), HEAD, generator=generator, dtype=torch.float64)
    q.requires_grad_()
    k.requires_grad_()
    at = axis(seconds)
    turned = encoding.prepare(at, at).layer(0).rotate(q, k)
    *dx, dq, dk = torch.autograd.grad(turned, (q, k, *encoding.parameters()), (gq, gk))
    ways = ((q, gq, encoding.query, STANDARD), (k, gk, encoding.key, TRANSPOSED))
    sides = [
        Side(_rows(x), _rows(g), exact_phases(bank.starts[0], bank.betas, seconds), way) for x, g, bank, way in ways
    ]
    per_alpha = encoding.query.unit / np.array(encoding.query.betas)
    return sides, [_rows(d) for d in dx], [d[0].numpy() * per_alpha for d in (dq, dk)]


def _rows(tensor: Tensor) -> FloatArray:
    return np.asarray(tensor.detach()[0, 0].numpy())


def pace_ratio(encoding: TRope) -> float:
    """Return the largest over the smallest derivative of a phase with respect to the learned parameter."""
    turns = bank_phases(encoding.query, torch.tensor([[NOW]], dtype=torch.float64))[0].turns()
    pace = torch.autograd.grad(turns.sum(), list(encoding.query.parameters()))[0].abs()
    return float(pace.max() / pace.min())


def gradients() -> Evidence:
    """Compare Algorithm 3 with autograd and with finite differences."""
    encoding = TRope(TRopeConfig(), HEAD, 1)
    seconds = [CLOSE + DAY * i for i in range(TOKENS)]
    scale = np.array(seconds, dtype=np.float64)[:, None] / np.array(encoding.query.betas)
    claims = []
    for name, side, dx, by_alpha in zip(("standard", "transposed"), *autograd(encoding, seconds), strict=True):
        vectors, phases = side.gradients()
        expected = (phases * scale).sum(axis=0)
        claims += [
            Claim(
                f"{name}: dx, autograd against Algorithm 3",
                Below(AGREES),
                relative(dx, vectors),
                T_ROPE.at("Algorithm 3"),
            ),
            Claim(
                f"{name}: ∂L/∂α, autograd against eq. 13",
                Below(AGREES),
                relative(by_alpha / scale[0], expected / scale[0]),
                T_ROPE.at("eq. 13"),
            ),
            Claim(
                f"{name}: dΦ, finite differences against Algorithm 3",
                Below(AGREES),
                relative(side.differences(), phases),
                T_ROPE.at("Algorithm 3"),
            ),
        ]
    worst = max(c.computed for c in claims)
    claims += [
        Claim("∂φ/∂α = t/β in the slowest plane, t = 1.7e9 s", Value("17"), NOW / encoding.query.betas[-1]),
        Claim("∂φ/∂α = t/β in the fastest", Value("1.7e7"), NOW / encoding.query.betas[0]),
        Claim("largest over smallest derivative by what is learned here", Near(1.0, AGREES), pace_ratio(encoding)),
    ]
    return Evidence(
        title="T-RoPE: gradients of learned angles",
        text=(
            f"A loss that is linear in the rotated queries and keys, {TOKENS} days, {HEAD // 2} planes. Autograd goes "
            f"through the encoding itself, {T_ROPE.at('Algorithm 3')} through phases from rational arithmetic. By α a "
            "phase's derivative t/β spans six decades over the bank; what is learned here is the departure from the "
            "start in radians per 1e9 s, whose derivative is the same in every plane."
        ),
        claims=claims,
        holds=(
            f"{T_ROPE.at('Algorithm 3')} is right: autograd and finite differences agree with it to {number(worst, 1)}."
        ),
    )
