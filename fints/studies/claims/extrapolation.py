"""Which bases continue a cycle past the places they were fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.studies.claims.bases import (
    SPAN,
    TRAINED,
    constant_basis,
    cycling,
    errors,
    linear_basis,
    predict,
    rotary_basis,
    sines,
)
from fints.studies.claims.claim import Below, Claim, Value, number
from fints.studies.claims.evidence import Evidence
from fints.studies.claims.sources import CYCLE_ROPE
from fints.studies.findings import Line, LineChart

if TYPE_CHECKING:
    from numpy.typing import NDArray

PERIOD = 20.0
MIXED = {5.0: 0.5, 20.0: 0.3, 60.0: 0.2}
"""Amplitudes of the three cycles, by period."""

EXACT = 1e-12
_SHOWN = slice(TRAINED - 40, TRAINED + 60)


def extrapolation() -> Evidence:
    """Fit one and three cycles on 200 places and predict the next 200."""
    y, mixed = sines({PERIOD: 1.0}), sines(MIXED)
    cycle, three = rotary_basis(cycling([PERIOD])), rotary_basis(cycling(list(MIXED)))
    constant, linear = constant_basis(), linear_basis()
    nothing, straight, turning = (errors(basis, y).extrapolated for basis in (constant, linear, cycle))
    found = errors(three, mixed)
    claims = [
        Claim("one cycle, no position: extrapolation RMSE", Value("0.7071"), nothing, CYCLE_ROPE.at("§4")),
        Claim("one cycle, linear position [1, t]: extrapolation RMSE", Value("0.7300"), straight, CYCLE_ROPE.at("§4")),
        Claim("one cycle, [cos, sin](2πt/20): extrapolation RMSE", Below(EXACT), turning, CYCLE_ROPE.at("§4")),
        Claim("three cycles, six columns: RMSE where fitted", Below(EXACT), found.fitted, CYCLE_ROPE.at("§6")),
        Claim("three cycles, six columns: extrapolation RMSE", Below(EXACT), found.extrapolated, CYCLE_ROPE.at("§6")),
    ]
    lines = {"no position": constant, "linear position": linear, "cycle planes": cycle}
    return Evidence(
        title="Least squares: which encoding continues a cycle",
        text=(
            f"The series is sin(2πt/20) at t = 0 … {SPAN - 1}; least squares sees the first {TRAINED} places and "
            f"predicts the others. Each basis is what the encoding itself adds or turns by. The second series is "
            f"0.5 sin(2πt/5) + 0.3 sin(2πt/20) + 0.2 sin(2πt/60), on the cosine and sine of three planes."
        ),
        claims=claims,
        holds=(
            f"Planes that turn with a known cycle continue it exactly (RMSE {number(turning, 1)}) where no position "
            f"gives {nothing:.4f} and linear position {straight:.4f}; three cycles in six columns are continued as "
            f"exactly ({number(found.extrapolated, 1)})."
        ),
        charts=[_picture(y, {name: predict(basis, y) for name, basis in lines.items()})],
    )


def _picture(y: NDArray[np.float64], predictions: dict[str, NDArray[np.float64]]) -> LineChart:
    t = np.arange(SPAN, dtype=np.float64)[_SHOWN]
    drawn = [Line(name, t, values[_SHOWN]) for name, values in predictions.items()]
    truth = Line("series", t, y[_SHOWN], reference=True)
    title = f"Fitted up to place {TRAINED - 1}, extrapolated from {TRAINED} on"
    return LineChart("extrapolation", title, "place t", "value", [truth, *drawn])
