"""Four ways to lose what a cycle plane gains."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from fints.encodings import RopeConfig
from fints.encodings.rope import RotaryEncoding, rope_planes
from fints.studies.claims.bases import TRAINED, constant_basis, cycling, errors, rotary_basis, sines, turning
from fints.studies.claims.claim import Above, Below, Claim, Value, number
from fints.studies.claims.evidence import Evidence
from fints.studies.claims.extrapolation import EXACT, PERIOD
from fints.studies.claims.scan import REFINED, refine
from fints.studies.claims.sources import CYCLE_ROPE
from fints.studies.findings import Table

WINDOW, HEAD = 60, 64
LONG = 60.0
"""A period that the 200 fitted places hold three and a third times."""

DRIFT = (
    f"{CYCLE_ROPE.at('§7, trap 3')}, says that the phase drifts beyond the sample if the period does not divide it; "
    "with a known period it does not, only the estimate of a period suffers"
)

_RANK = 1e-3


def fft_period(period: float) -> float:
    """Return the period of the highest bin of a discrete Fourier transform of the fitted places."""
    spectrum = np.abs(np.fft.rfft(sines({period: 1.0}, TRAINED)))
    return TRAINED / float(1 + spectrum[1:].argmax())


def error_at(assumed: float, period: float) -> float:
    """Return the extrapolation RMSE if a period is taken for another."""
    return errors(rotary_basis(turning([2 * math.pi / assumed])), sines({period: 1.0})).extrapolated


def wrong_periods() -> pd.DataFrame:
    """Tabulate the cost of a period that is off by some per cent."""
    rows = [
        (f"{off} %", *(f"{error_at(PERIOD * (1 + sign * off / 100), PERIOD):.3f}" for sign in (-1, 1)))
        for off in (1, 2, 5, 10)
    ]
    return pd.DataFrame(rows, columns=["off by", "too short", "too long"])


def still_planes(base: float) -> int:
    """Count the planes of a head of 64 channels that turn by less than a quarter within 60 places."""
    return sum(plane.frequency * WINDOW < 1 / 4 for plane in rope_planes(HEAD, base))


def rank(base: float) -> int:
    """Count the directions of 60 places that the planes tell apart: singular values above 1e-3 of the largest."""
    values = np.linalg.svd(rotary_basis(RotaryEncoding(rope_planes(HEAD, base), 1), WINDOW), compute_uv=False)
    return int((values > _RANK * values[0]).sum())


def traps() -> Evidence:
    """Put a number to each trap."""
    default, small = RopeConfig().base, float(WINDOW)
    estimate = fft_period(LONG)
    mended = 2 * math.pi / refine(2 * math.pi / estimate, sines({LONG: 1.0}))
    missed = 100 * abs(estimate / LONG - 1)
    rough, refined = error_at(estimate, LONG), error_at(mended, LONG)
    nothing = errors(constant_basis(), sines({PERIOD: 1.0})).extrapolated
    known = errors(rotary_basis(cycling([LONG])), sines({LONG: 1.0})).extrapolated
    claims = [
        Claim(
            "a period 1 % too long costs, as a share of the error of no position",
            Above(0.5),
            error_at(20.2, PERIOD) / nothing,
            CYCLE_ROPE.at("§7, trap 2"),
        ),
        Claim(
            "a period 2 % too long costs more than no position",
            Above(nothing),
            error_at(20.4, PERIOD),
            CYCLE_ROPE.at("§7, trap 2"),
        ),
        Claim("period 20, which divides the sample: FFT estimate", Value("20"), fft_period(PERIOD)),
        Claim(
            "period 60, which does not divide the sample, known: extrapolation RMSE",
            Below(EXACT),
            known,
            CYCLE_ROPE.at("§7, trap 3"),
            refutes=DRIFT,
        ),
        Claim("period 60 from the FFT's highest bin: error, %", Above(10), missed),
        Claim("period 60 from the FFT's highest bin: extrapolation RMSE", Above(nothing), rough),
        Claim("period 60 from that bin, refined: extrapolation RMSE", Below(REFINED), refined),
        Claim(
            f"base {default:g}, {WINDOW} places: planes of {HEAD // 2} that turn less than a quarter",
            Above(HEAD / 4),
            still_planes(default),
            CYCLE_ROPE.at("§7, trap 4"),
        ),
        Claim(
            f"base {small:g}, {WINDOW} places: planes that turn less than a quarter",
            Below(HEAD / 16),
            still_planes(small),
            CYCLE_ROPE.at("§7, trap 4"),
        ),
        Claim(
            f"directions of {WINDOW} places that base 60 tells apart, over those of base 10000",
            Above(1.2),
            rank(small) / rank(default),
            CYCLE_ROPE.at("§7, trap 4"),
        ),
    ]
    return Evidence(
        title="Four traps",
        text=(
            f"The traps are those of {CYCLE_ROPE.at('§7')}. An unknown period: the second table gives the "
            "extrapolation RMSE if a period of 20 is some per cent off. A razor-sharp valley: see the scan. A period "
            "that does not divide the sample: known, it costs nothing; what suffers is its estimate, as the FFT of "
            f"{TRAINED} places has bins at {TRAINED}/3 and {TRAINED}/4 but none at 60. A base of {default:g} on short "
            f"windows: within {WINDOW} places {still_planes(default)} of {HEAD // 2} planes of a head of {HEAD} "
            f"channels turn by less than a quarter, with base {small:g} only {still_planes(small)}. The cycle "
            "encoding takes those slow planes for its cycles."
        ),
        claims=claims,
        holds=(
            f"A period that is 2 % off is worse than no position; one that does not divide the sample costs nothing if "
            f"it is known ({number(known, 1)}), but its FFT estimate is {missed:.0f} % off (RMSE "
            f"{rough:.2f}) until refined ({number(refined, 1)})."
        ),
        tables=[Table("Extrapolation RMSE of a cycle of 20 whose period is taken wrongly.", wrong_periods())],
    )
