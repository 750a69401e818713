"""T-RoPE's theorems: which scores see the date."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.encodings.t_rope import TRope, TRopeConfig
from fints.encodings.to_rope import ToRope, ToRopeConfig
from fints.studies.claims.claim import Above, Below, Claim, number
from fints.studies.claims.evidence import Evidence
from fints.studies.claims.exact import CLOSE, DAY, exact_phases
from fints.studies.claims.score_maps import TABLE
from fints.studies.claims.season import YEAR, season_chart, target_change
from fints.studies.claims.shifts import (
    DAYS,
    HEAD,
    SHIFTS,
    TOKENS,
    axis,
    change,
    largest,
    scores,
    smallest,
    vectors,
    with_key,
)
from fints.studies.claims.sources import T_ROPE, TO_ROPE
from fints.studies.findings import Line, LineChart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fints.encodings import Encoding

    FloatArray = NDArray[np.float64]

SEEN = 0.1
"""A change of the score, as a share of the largest there can be, that nobody overlooks."""

SINE = (
    f"{T_ROPE.at('eq. 12')}, as its reading note restates it, gives the sine term of an expanded plane the factor "
    f"(q₂k₁ − q₁k₂); it is (q₁k₂ − q₂k₁), as follows from {T_ROPE.at('eq. 7')}"
)

EPOCH = datetime(2000, 1, 1, tzinfo=UTC).timestamp()


def t_rope(config: TRopeConfig) -> TRope:
    """Build T-RoPE of one layer."""
    return TRope(config, HEAD, 1)


def breach_error(encoding: TRope) -> float:
    """Check the proof of theorem 2 in the plane that a shift turns most.

    The query is a unit vector and the key the one that it meets head on; after a shift c their score is
    ``cos((α^q + α^k) c / β)``.

    Returns
    -------
    float
        Largest difference from it over all shifts.
    """
    betas, found = np.array(encoding.query.betas), []
    rate = (np.array(encoding.query.starts[0]) + np.array(encoding.key.starts[0])) / betas
    for shift in SHIFTS:
        turns = rate * shift / (2 * math.pi)
        plane = int(np.abs(turns - np.round(turns)).argmax())
        met = _plane_scores(encoding, plane, 0.0)
        found.append(float(_plane_scores(encoding, plane, shift) @ met) - math.cos(2 * math.pi * turns[plane]))
    return float(np.abs(found).max())


def _plane_scores(encoding: TRope, plane: int, shift: float) -> FloatArray:
    """Score the first channel of a plane, as query, against both, as keys; shape (2,)."""
    query = torch.zeros(1, 1, 2, HEAD, dtype=torch.float64)
    query[..., 2 * plane] = 1.0
    key = torch.zeros_like(query)
    key[..., 0, 2 * plane] = key[..., 1, 2 * plane + 1] = 1.0
    at, k_at = axis([CLOSE + DAY + shift] * 2), axis([CLOSE + shift] * 2)
    turned = encoding.prepare(at, k_at).layer(0).rotate(query, key)
    return (turned[0] * turned[1]).sum(-1)[0, 0].detach().numpy()


def whole_turns() -> float:
    """Return the change of a single plane's score under the shift that turns it by exactly one turn."""
    encoding = t_rope(TRopeConfig(multiscale=False))
    rate = (encoding.query.starts[0][0] + encoding.key.starts[0][0]) / encoding.query.betas[0]
    shift = 2 * math.pi / abs(rate)
    return float(np.abs(_plane_scores(encoding, 0, shift) - _plane_scores(encoding, 0, 0.0)).max())


def sine_error(sign: int) -> float:
    """Compare scores with the expansion of one plane, the sine's factor being ``sign · (q₁k₂ − q₂k₁)``.

    Returns
    -------
    float
        Largest difference, as a share of ``Σ ‖q‖‖k‖``.
    """
    encoding = t_rope(TRopeConfig())
    query, key = (v[0, 0].numpy() for v in vectors())
    phase_q = exact_phases(encoding.query.starts[0], encoding.query.betas, [second + DAY for second in DAYS])
    phase_k = exact_phases(encoding.key.starts[0], encoding.key.betas, DAYS)
    phase = phase_q[:, None] + phase_k[None]
    q1, q2, k1, k2 = query[:, None, 0::2], query[:, None, 1::2], key[None, :, 0::2], key[None, :, 1::2]
    expected = ((q1 * k1 + q2 * k2) * np.cos(phase) + sign * (q1 * k2 - q2 * k1) * np.sin(phase)).sum(-1)
    size = (np.hypot(q1, q2) * np.hypot(k1, k2)).sum(-1)
    return float(np.abs(scores(encoding) - expected / size).max())


def dates() -> Evidence:
    """Move queries and keys by real seconds and see which scores change."""
    full, shared = t_rope(TRopeConfig()), t_rope(TRopeConfig(shared=True))
    paired = t_rope(TRopeConfig(shared=True, non_stationary=False))
    separate = t_rope(TRopeConfig(non_stationary=False))
    mirrored = with_key(t_rope(TRopeConfig(non_stationary=False)), full.key, -1.0)
    opposite = with_key(t_rope(TRopeConfig()), full.query, -1.0)
    to_rope = ToRope(ToRopeConfig(), HEAD, 1, 1)
    unseen, seen = largest(paired), smallest(full)
    same = _apart(mirrored, full)
    printed = sine_error(-1)
    moved = t_rope(TRopeConfig(epoch=EPOCH)), t_rope(TRopeConfig(shared=True, non_stationary=False, epoch=EPOCH))
    from_2000, kept = (_apart(one, other) for one, other in zip(moved, (full, paired), strict=True))
    years = max(target_change(YEAR * n) for n in (1, 2, 5, 10, 30))
    half = target_change(YEAR / 2)
    claims = [
        Claim("shared α, standard key: largest change", Below(TABLE), unseen, T_ROPE.at("theorem 1")),
        Claim("TO-RoPE, the order kept: largest change", Below(TABLE), largest(to_rope), T_ROPE.at("remark 2")),
        Claim("T-RoPE in full: smallest change", Above(SEEN), seen, T_ROPE.at("theorem 2")),
        Claim("shared α, transposed key: smallest change", Above(SEEN), smallest(shared), T_ROPE.at("theorem 2")),
        Claim(
            "the plane of the proof against cos((α^q + α^k)c/β)",
            Below(TABLE),
            breach_error(full),
            T_ROPE.at("theorem 2"),
        ),
        Claim("a plane moved by one whole turn: change", Below(TABLE), whole_turns(), T_ROPE.at("theorem 2")),
        Claim("separate α, standard key: smallest change", Above(SEEN), smallest(separate), T_ROPE.at("remark 1")),
        Claim(
            "the transposed key is a standard one with −α^k: largest difference", Below(TABLE), same, T_ROPE.at("note")
        ),
        Claim("α^k = −α^q: largest change", Below(TABLE), largest(opposite), T_ROPE.at("remark 3")),
        Claim("seconds counted from 2000 instead of 1970, T-RoPE: change", Above(SEEN), from_2000),
        Claim("seconds counted from 2000, shared α, standard key: change", Below(TABLE), kept),
        Claim(
            "targets 1 … 30 periods of 365 days later: largest change", Below(TABLE), years, T_ROPE.at("corollary 1")
        ),
        Claim("targets half a period later: change", Above(SEEN), half, T_ROPE.at("corollary 1")),
        Claim(
            "one plane expanded, sine term (q₁k₂ − q₂k₁) sin: largest difference",
            Below(TABLE),
            sine_error(1),
            T_ROPE.at("eq. 7, 9"),
        ),
        Claim(
            "one plane expanded as printed, (q₂k₁ − q₁k₂) sin: largest difference",
            Above(SEEN),
            printed,
            T_ROPE.at("eq. 12"),
            refutes=SINE,
        ),
    ]
    lines = {
        "T-RoPE (theorem 2)": full,
        "separate α, standard key (remark 1)": separate,
        "shared α, standard key (theorem 1)": paired,
        "α^k = −α^q (remark 3)": opposite,
    }
    return Evidence(
        title="T-RoPE: which scores see the date",
        text=(
            f"Queries and keys of {HEAD} channels stand on {TOKENS} consecutive days from an early close, 2018-12-24 "
            f"18:00 UTC; a query carries the next day's place. Both are moved together by {len(SHIFTS)} shifts "
            "between a day and ten years, in Unix seconds, and the largest change of a score is given as a share of "
            "Σ‖q‖‖k‖; what stays below 1e-6 is the rounding of float32 tables. Separate coefficients on a standard "
            "key see the date as well as the transposed key does: it is the same family of functions with the sign "
            "of α^k turned round. Where scores see the date, they see the epoch that phases are counted from, which "
            f"therefore belongs to a saved model. {TO_ROPE.tag} shares its coefficients, so it forgets the date. The "
            f"expansion of one plane in {T_ROPE.at('eq. 12')} has the sign of its sine term wrong."
        ),
        claims=claims,
        holds=(
            f"T-RoPE's scores see the date (they change by at least {seen:.2f} of the largest score) and those of "
            f"shared coefficients on a standard key do not ({number(unseen, 1)}); the transposed key says nothing "
            f"that a standard key with −α^k does not say (difference {number(same, 1)})."
        ),
        charts=[_by_shift(lines), season_chart()],
    )


def _apart(one: Encoding, other: Encoding) -> float:
    return float(np.abs(scores(one) - scores(other)).max())


def _by_shift(encodings: Mapping[str, Encoding]) -> LineChart:
    days = np.unique(np.round(np.geomspace(1, 3650, 40)))
    # The two that see distances only lie on top of each other.
    lines = [
        Line(name, days, np.array([change(e, d * DAY) for d in days]), marks="remark 3" in name)
        for name, e in encodings.items()
    ]
    return LineChart(
        "date_shift",
        "Change of the score when query and key move together",
        "shift, days",
        "change, share of the largest score",
        lines,
        log_x=True,
        log_y=True,
    )
