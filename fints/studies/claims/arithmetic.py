"""What floating point leaves of phases and of a folded bias."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings import TimeAxis, attend
from fints.encodings.alibi import AlibiConfig, AlibiEncoding, alibi_slopes
from fints.encodings.bank import TimeBank, geometric_betas
from fints.encodings.bank_rotation import bank_phases
from fints.encodings.t_rope import TRope, TRopeConfig
from fints.studies.claims.claim import Above, Below, Claim, Value, number
from fints.studies.claims.evidence import Evidence
from fints.studies.claims.exact import LAST, exact_phases
from fints.studies.claims.sources import ALIBI, T_ROPE
from fints.studies.findings import Line, LineChart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

BETAS = geometric_betas(1e2, 1e8, 13)
MICRORADIAN, COSINE, FOLDED = 1e-6, 2.6e-7, 7e-6
DATES = 250


def dates_drawn() -> list[int]:
    """Draw whole seconds between 1970 and 2100."""
    return [int(t) for t in np.random.default_rng(81).integers(0, LAST, DATES)]


def ours(alpha: Sequence[float], seconds: Sequence[int], *, half: bool = False) -> FloatArray:
    """Return the angles of the encoding's tables, shape (T, P); `half` casts the module and runs under autocast."""
    bank = TimeBank([alpha], BETAS, 0.0, 1e9, learnable=True)
    at = torch.tensor(seconds, dtype=torch.float64)[None]
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
        table = bank_phases(bank.bfloat16() if half else bank, at)[0].table()[0, 0]
    return np.asarray(np.angle(table.numpy().astype(np.complex128)))


def naive(alpha: Sequence[float], seconds: Sequence[int]) -> FloatArray:
    """Return ``α t / β`` formed in float32, shape (T, P)."""
    t = np.array(seconds, dtype=np.float32)[:, None]
    product = np.array(alpha, dtype=np.float32) * t / np.array(BETAS, dtype=np.float32)
    return product.astype(np.float64)


def apart(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return how far angles are apart, at most π."""
    return np.asarray(np.abs(np.angle(np.exp(1j * (one - other)))))


def fold_error() -> float:
    """Return the largest error of causal attention with ALiBi folded into a channel: 512 bars, 8 heads of 64."""
    heads, bars, width = 8, 512, 64
    q, k, v = torch.randn(3, 1, heads, bars, width, generator=torch.Generator().manual_seed(0))
    at = TimeAxis(index=torch.arange(bars)[None])
    layer = AlibiEncoding(AlibiConfig(), heads, 1).prepare(at, at).layer(0)
    place = torch.arange(bars, dtype=torch.float64)
    slopes = torch.tensor(alibi_slopes(heads), dtype=torch.float64)[:, None, None]
    logits = q.double() @ k.double().mT / math.sqrt(width) - slopes * (place[:, None] - place).abs()
    later = torch.ones(bars, bars, dtype=torch.bool).triu(1)
    expected = logits.masked_fill(later, -math.inf).softmax(-1) @ v.double()
    return float((attend(q, k, v, layer, is_causal=True).double() - expected).abs().max())


def arithmetic() -> Evidence:
    """Measure phases against rational arithmetic, and the fold against float64."""
    seconds = dates_drawn()
    ones, fast = [1.0] * len(BETAS), list(BETAS)
    truth, truth_fast = exact_phases(ones, BETAS, seconds), exact_phases(fast, BETAS, seconds)
    found, rough = ours(ones, seconds), naive(ones, seconds)
    learned = TRope(TRopeConfig(multiscale=False, beta_min=100, beta_max=100, sigma=0), 2, 1)
    learned.query = TimeBank([[0.012]], (100.0,), 0.0, 1e9, learnable=True)
    spacing = float(np.spacing(np.float32(1.7e9)))
    lost = float(apart(rough, truth)[:, 0].max())
    kept = [
        float(apart(angles, true).max())
        for angles, true in (
            (found, truth),
            (ours(fast, seconds), truth_fast),
            (ours(fast, seconds, half=True), truth_fast),
        )
    ]
    folded = fold_error()
    claims = [
        Claim("float32 resolves Unix seconds of 2023 to, s", Value("128"), spacing, T_ROPE.at("note")),
        Claim(
            "float32 resolves a phase of 1.7e7 rad to, rad",
            Value("2"),
            float(np.spacing(np.float32(1.7e7))),
            T_ROPE.at("note"),
        ),
        Claim("float32 phases at β = 100 s: largest error, rad", Above(1.0), lost),
        Claim(
            "float32 phases at β = 100 s: largest error of the cosine",
            Above(1.43),
            float(np.abs(np.cos(rough) - np.cos(truth))[:, 0].max()),
        ),
        Claim("ours over β = 1e2 … 1e8 s: largest error, rad", Below(MICRORADIAN), kept[0]),
        Claim(
            "ours over β = 1e2 … 1e8 s: largest error of the cosine",
            Below(COSINE),
            float(np.abs(np.cos(found) - np.cos(truth)).max()),
        ),
        Claim("ours at 1 rad/s in every plane: largest error, rad", Below(MICRORADIAN), kept[1]),
        Claim(
            "ours, module cast to bfloat16 and under autocast: largest error, rad",
            Below(MICRORADIAN),
            kept[2],
        ),
        Claim(
            "effective period of α = 0.012 at β = 100 s, hours",
            Value("14.5"),
            float(learned.periods()[0]) / 3600,
            T_ROPE.at("note"),
        ),
        Claim(
            "parameters that T-RoPE adds: 2 layers, 128 channels",
            Value("256"),
            parameters(128, 2),
            T_ROPE.at("appendix B.2"),
        ),
        Claim("ALiBi folded into one channel: largest error of attention", Below(FOLDED), folded),
    ]
    return Evidence(
        title="Arithmetic",
        text=(
            f"Phases α t/β of {T_ROPE.tag} at {DATES} seconds drawn between 1970 and 2100, judged by rational "
            "arithmetic. Formed in float32 they are noise at the short end of the bank. The encodings form them in "
            f"float64, take whole turns off, and leave the trigonometry to float32. The bias of {ALIBI.tag} is "
            "carried by one more channel of queries and keys where attention is causal, and compared with attention "
            "in float64 on standard normal queries, keys and values: 512 bars, 8 heads of 64 channels."
        ),
        claims=claims,
        holds=(
            f"Phases are right to {number(max(kept))} rad for every date from 1970 to 2100, in bfloat16 modules too, "
            f"where float32 is up to {lost:.1f} rad off; a folded ALiBi bias costs {number(folded, 1)}."
        ),
        charts=[_picture(apart(rough, truth).max(axis=0), apart(found, truth).max(axis=0))],
    )


def parameters(head: int, layers: int) -> float:
    """Count the parameters that T-RoPE adds."""
    return float(sum(p.numel() for p in TRope(TRopeConfig(), head, layers).parameters()))


def _picture(rough: FloatArray, fine: FloatArray) -> LineChart:
    scale = np.array(BETAS)
    lines = [Line("float32", scale, rough), Line("fints", scale, fine)]
    title = "Largest phase error between 1970 and 2100, α = 1"
    return LineChart("phase_error", title, "time scale β, s", "error, rad", lines, log_x=True, log_y=True)
