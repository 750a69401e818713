"""Scores of queries and keys that differ in nothing but their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings import RopeConfig
from fints.encodings.rope import RotaryEncoding, rope_planes
from fints.studies.claims.bases import cycling, linear_basis, places
from fints.studies.claims.claim import Above, Below, Claim, Value, number
from fints.studies.claims.evidence import Evidence
from fints.studies.claims.extrapolation import PERIOD
from fints.studies.claims.sources import CYCLE_ROPE, ROPE
from fints.studies.findings import HeatMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

SIDE = 40
TABLE = 1e-6
"""What float32 tables leave of an exact score."""

STRIPES = (
    f"{CYCLE_ROPE.at('§2')} and §3 see the stripes of equal score along the anti-diagonals; they run along the main "
    "diagonals"
)


def absolute_scores() -> FloatArray:
    """Return the products of the places that absolute linear positions add, shape (40, 40)."""
    place = linear_basis(SIDE)[:, 1]
    return np.outer(place, place)


def rotary_scores(encoding: RotaryEncoding) -> FloatArray:
    """Turn the same unit vector to every place, as query and as key, and multiply: shape (40, 40)."""
    at = places(SIDE)
    unit = torch.zeros(1, 1, SIDE, 2 * len(encoding.planes), dtype=torch.float64)
    unit[..., 0::2] = len(encoding.planes) ** -0.5
    query, key = encoding.prepare(at, at).layer(0).rotate(unit, unit)
    return (query @ key.mT)[0, 0].numpy()


def expansion_error() -> float:
    """Compare the scores of a query and a key with ``⟨q, k⟩ cos θ(t − s) + ⟨q⊥, k⟩ sin θ(t − s)``.

    Returns
    -------
    float
        Largest difference, as a share of ``‖q‖‖k‖``; ``q⊥ = (−q₂, q₁)``.
    """
    q, k = torch.tensor([1.1, -0.4], dtype=torch.float64), torch.tensor([0.3, 0.9], dtype=torch.float64)
    at = places(SIDE)
    terms = cycling([PERIOD]).prepare(at, at).layer(0)
    query, key = terms.rotate(q.expand(1, 1, SIDE, 2), k.expand(1, 1, SIDE, 2))
    place = torch.arange(SIDE, dtype=torch.float64)
    angle = 2 * torch.pi * (place[:, None] - place) / PERIOD
    expected = (q @ k) * angle.cos() + (q[0] * k[1] - q[1] * k[0]) * angle.sin()
    return float(((query @ key.mT)[0, 0] - expected).abs().max() / (q.norm() * k.norm()))


def largest_step(scores: FloatArray, direction: tuple[int, int]) -> float:
    """Return the largest change from a cell to its neighbour (1, 1) or (1, −1) away."""
    later = scores[1:]
    moved = later[:, 1:] - scores[:-1, :-1] if direction == (1, 1) else later[:, :-1] - scores[:-1, 1:]
    return float(np.abs(moved).max())


def score_maps() -> Evidence:
    """Compare the maps of three encodings with their closed forms."""
    m, n = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    absolute = absolute_scores()
    rope = rotary_scores(RotaryEncoding(rope_planes(2, RopeConfig().base), 1))
    cycle = rotary_scores(cycling([PERIOD]))
    period = int(PERIOD)
    along = {name: largest_step(scores, (1, 1)) for name, scores in (("RoPE", rope), ("cycle", cycle))}
    across = {name: largest_step(scores, (1, -1)) for name, scores in (("RoPE", rope), ("cycle", cycle))}
    claims = [
        Claim(
            "absolute positions score m·n: largest difference",
            Below(TABLE),
            float(np.abs(absolute - m * n).max()),
            CYCLE_ROPE.at("§1"),
        ),
        Claim("absolute positions: score of places 1 and 2", Value("2"), float(absolute[1, 2]), CYCLE_ROPE.at("§1")),
        Claim(
            "absolute positions: score of places 20 and 21", Value("420"), float(absolute[20, 21]), CYCLE_ROPE.at("§1")
        ),
        Claim(
            "RoPE's first plane scores cos(m − n): largest difference",
            Below(TABLE),
            _apart(rope, np.cos(m - n)),
            CYCLE_ROPE.at("§2"),
        ),
        Claim(
            "a cycle plane scores cos(2π(m − n)/20): largest difference",
            Below(TABLE),
            _apart(cycle, np.cos(2 * np.pi * (m - n) / PERIOD)),
            CYCLE_ROPE.at("§3"),
        ),
        Claim(
            "any q and k: ⟨q, k⟩ cos + ⟨q⊥, k⟩ sin: largest difference",
            Below(TABLE),
            expansion_error(),
            CYCLE_ROPE.at("§2"),
        ),
        Claim(
            "a cycle plane, keys one period on: largest change",
            Below(TABLE),
            _apart(cycle[period:], cycle[:-period]),
            CYCLE_ROPE.at("§3"),
        ),
    ]
    for name, step in along.items():
        claims += [
            Claim(f"{name}: largest step along a main diagonal", Below(TABLE), step, CYCLE_ROPE.at("§2, §3")),
            Claim(
                f"{name}: largest step along an anti-diagonal",
                Above(0.1),
                across[name],
                CYCLE_ROPE.at("§2, §3"),
                refutes=STRIPES,
            ),
        ]
    return Evidence(
        title="Score maps",
        text=(
            f"Queries and keys at the places 0 … {SIDE - 1} are the same vector; only their places differ. Absolute "
            "positions score higher the farther both places are from zero. Rotations score by distance, so equal "
            f"colours run along the main diagonals, on which m − n is constant ({ROPE.tag}). They do not run along the "
            f"anti-diagonals, as {CYCLE_ROPE.tag} has it: there the scores change at every step."
        ),
        claims=claims,
        holds=(
            f"The score maps are m·n, cos(m − n) and cos(2π(m − n)/20); the stripes of the last two run along the main "
            f"diagonals (steps of {number(max(along.values()), 1)}), not along the anti-diagonals (steps up to "
            f"{max(across.values()):.2f})."
        ),
        charts=[
            HeatMap("scores_absolute", "Absolute linear position: m·n", "key n", "query m", absolute),
            HeatMap("scores_rope", "RoPE: cos(m − n)", "key n", "query m", rope),
            HeatMap("scores_cycle", "Cycle of 20: cos(2π(m − n)/20)", "key n", "query m", cycle),
        ],
    )


def _apart(scores: FloatArray, expected: FloatArray) -> float:
    return float(np.abs(scores - expected).max())
