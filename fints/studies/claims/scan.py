"""The valley of the frequency scan, its floor and its width."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.periods.lines import Tone, fit_lines
from fints.periods.samples import Samples
from fints.periods.whitening import Whitening
from fints.studies.claims.bases import SPAN, TRAINED, constant_basis, errors, rotary_basis, sines, turning
from fints.studies.claims.claim import Below, Claim, Near, Value, number
from fints.studies.claims.evidence import Evidence
from fints.studies.claims.extrapolation import PERIOD
from fints.studies.claims.sources import CYCLE_ROPE
from fints.studies.findings import Line, LineChart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

TRUTH = 2 * math.pi / PERIOD
GRID = np.linspace(0.02, 0.6, 120)
REFINED = 1e-6
_FINE = np.linspace(0.02, 0.6, 2401)
_NEAR = TRUTH + np.linspace(-0.012, 0.012, 2401)


def scan(thetas: Sequence[float] | FloatArray, y: FloatArray) -> FloatArray:
    """Return the extrapolation RMSE of one plane at each angle per place, shape (n,)."""
    basis = rotary_basis(turning(thetas))
    n = len(thetas)
    return np.array([errors(basis[:, [i, n + i]], y).extrapolated for i in range(n)])


def refine(theta: float, y: FloatArray) -> float:
    """Move an angle per place to the least-squares optimum near it, on the fitted places alone."""
    slot = np.arange(TRAINED)
    place = slot.astype(np.float64)
    samples = Samples("scan", place, place, y[:TRAINED], slot, 1.0)
    (found,) = fit_lines(Whitening(samples), samples.value, [Tone("session", theta / (2 * math.pi))]).tones
    return 2 * math.pi * found.frequency


@dataclass(frozen=True, slots=True)
class Valley:
    """Where the error of a scan is less than half of what no position gives.

    Parameters
    ----------
    width : float
        In radians per place, as scanned.
    expected : float
        The same to first order: a plane off by δ is in phase at the middle of the fitted places and off by
        ``δ (t − middle)`` beyond, so its RMSE is ``|δ| √(mean (t − middle)²)`` times that of no position.
    """

    width: float
    expected: float


def valley(y: FloatArray) -> Valley:
    """Measure the valley around the true frequency."""
    half = errors(constant_basis(), y).extrapolated / 2
    inside = _NEAR[scan(_NEAR, y) < half]
    beyond = np.arange(TRAINED, SPAN) - (TRAINED - 1) / 2
    return Valley(float(np.ptp(inside)) if len(inside) else 0.0, 1 / math.sqrt(float(np.mean(beyond**2))))


def frequency_scan() -> Evidence:
    """Scan 120 frequencies, then refine the best."""
    y = sines({PERIOD: 1.0})
    rmse = scan(GRID, y)
    best, worst = int(rmse.argmin()), int(rmse.argmax())
    refined = refine(float(GRID[best]), y)
    floor = float(scan([refined], y)[0])
    found, step = valley(y), float(GRID[1] - GRID[0])
    claims = [
        Claim("lowest RMSE of the 120 frequencies", Value("0.2500"), float(rmse[best]), CYCLE_ROPE.at("§5, script")),
        Claim("θ of the lowest RMSE", Value("0.3124"), float(GRID[best]), CYCLE_ROPE.at("§5, script")),
        Claim("true θ = 2π/20", Value("0.3142"), TRUTH, CYCLE_ROPE.at("§5, script")),
        Claim("RMSE at θ = 0.02", Value("0.7092"), float(rmse[0]), CYCLE_ROPE.at("§5, script")),
        Claim("RMSE at θ = 0.6", Value("0.7071"), float(rmse[-1]), CYCLE_ROPE.at("§5, script")),
        Claim("highest RMSE", Value("1.1181"), float(rmse[worst]), CYCLE_ROPE.at("§5, script")),
        Claim("θ of the highest RMSE", Value("0.3027"), float(GRID[worst]), CYCLE_ROPE.at("§5, script")),
        Claim("extrapolation RMSE after continuous refinement", Below(REFINED), floor),
        Claim("error of the refined θ", Below(REFINED), abs(refined - TRUTH)),
        Claim("width of the valley below half the error of no position", Near(found.expected, 3e-4), found.width),
    ]
    return Evidence(
        title="The frequency scan and its valley",
        text=(
            "One plane, its angle θ per place taken from a grid of 120 values between 0.02 and 0.6; the error is that "
            f"of extrapolation. {CYCLE_ROPE.tag} prints the lowest RMSE, those of both ends and the true θ to three "
            "digits; the fourth, the θ of the lowest RMSE and the highest RMSE are what the script printed there "
            "gives. The best grid point is then refined by Gauss-Newton steps on the fitted places alone, "
            f"with the code that refines detected periods. The valley is {found.width:.4f} rad wide at half the error "
            f"of no position, and the grid's step is {step:.4f}: the grid can only just hit it, and its lowest point "
            f"is {float(rmse[best]):.2f} because it misses the truth by {abs(float(GRID[best]) - TRUTH):.4f} rad. "
            f"In periods the valley reaches from {2 * math.pi / (TRUTH + found.width / 2):.2f} to "
            f"{2 * math.pi / (TRUTH - found.width / 2):.2f} places around 20."
        ),
        claims=claims,
        holds=(
            f"The scan has its published valley ({rmse[best]:.4f} at θ = {GRID[best]:.4f}), as wide "
            f"as {found.width / step:.2f} steps of its grid; refined, it reaches {number(floor, 1)}."
        ),
        charts=_pictures(y, rmse, refined, floor),
    )


def _pictures(y: FloatArray, rmse: FloatArray, refined: float, floor: float) -> list[LineChart]:
    fine, near = scan(_FINE, y), scan(_NEAR, y)
    close = np.abs(GRID - TRUTH) < np.ptp(_NEAR) / 2
    axes = ("θ, radians per place", "extrapolation RMSE")
    point = Line("refined", np.array([refined]), np.array([floor]), marks=True)
    return [
        LineChart(
            "scan",
            "Extrapolation error by frequency",
            *axes,
            [Line("every θ", _FINE, fine, reference=True), Line("grid", GRID, rmse, marks=True), point],
        ),
        LineChart(
            "valley",
            f"The valley around θ = 2π/{PERIOD:g}",
            *axes,
            [Line("every θ", _NEAR, near, reference=True), Line("grid", GRID[close], rmse[close], marks=True), point],
        ),
    ]
