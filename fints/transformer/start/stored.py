"""A linear start as plain values that JSON holds exactly, and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.transformer.start.linear import Coefficients, LinearStart, Unit
from fints.transformer.start.memory import N_FADES

if TYPE_CHECKING:
    from collections.abc import Mapping


def to_plain(start: LinearStart) -> dict[str, object]:
    """Return plain values."""
    return {
        "anchor": start.anchor,
        "ridge": None if math.isinf(start.ridge) else start.ridge,
        "phase": start.phase,
        "shared": _coefficients_to_plain(start.shared),
        "own": {name: _coefficients_to_plain(own) for name, own in start.own.items()},
        "units": {name: [unit.spread, unit.mean] for name, unit in start.units.items()},
    }


def from_plain(value: Mapping[str, Any]) -> LinearStart:
    """Rebuild a start from `to_plain`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the values are not those that `to_plain` makes.
    """
    if value["anchor"] not in ("level", "zero"):
        raise ValueError(f"a start's anchor is 'level' or 'zero', not {value['anchor']!r}")
    return LinearStart(
        anchor=value["anchor"],
        ridge=math.inf if value["ridge"] is None else float(value["ridge"]),
        phase=bool(value["phase"]),
        shared=_coefficients_from_plain(value["shared"]),
        own={str(name): _coefficients_from_plain(own) for name, own in value["own"].items()},
        units={str(name): Unit(*map(float, unit)) for name, unit in value["units"].items()},
    )


def _coefficients_to_plain(coefficients: Coefficients) -> dict[str, object]:
    return {"calendar": coefficients.calendar.tolist(), "weights": coefficients.weights.tolist()}


def _coefficients_from_plain(value: Mapping[str, Any]) -> Coefficients:
    calendar, weights = (np.array(value[key], dtype=np.float64) for key in ("calendar", "weights"))
    if calendar.ndim != 1 or weights.ndim != 2 or weights.shape[1] != N_FADES:
        raise ValueError(
            f"a start's regression has effects of shape (n,) and weights of shape (m, {N_FADES}), "
            f"not {calendar.shape} and {weights.shape}"
        )
    if not (np.isfinite(calendar).all() and np.isfinite(weights).all()):
        raise ValueError("a start's regression has coefficients that are not finite")
    return Coefficients(calendar, weights)
