"""Targets in the units that people think in."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Transform = Callable[[NDArray[np.float64]], NDArray[np.float64]]

MINUS = "−"

_THOUSANDS = ((1e12, " T"), (1e9, " B"), (1e6, " M"), (1e3, " k"))


def compact(value: float) -> str:
    """Write a number in three digits: 3.42 B, 870 M, 0.0123."""
    if not np.isfinite(value):
        return "–"
    magnitude = abs(value)
    for size, letter in _THOUSANDS:
        if magnitude >= 0.9995 * size:
            return _sign(value) + _digits(magnitude / size) + letter
    return _sign(value) + _digits(magnitude)


def percent(value: float) -> str:
    """Write a number that is already in percent, in three digits."""
    return f"{_sign(value)}{_digits(abs(value))} %" if np.isfinite(value) else "–"


def signed_percent(ratio: float) -> str:
    """Write a ratio as a change: 1.12 is +12 %."""
    change = round((ratio - 1) * 100)
    return f"{'+' if change > 0 else MINUS if change < 0 else '±'}{abs(change)} %"


def decimal(value: float) -> str:
    """Write a plain number in three or four digits."""
    return _sign(value) + _digits(abs(value)) if np.isfinite(value) else "–"


def _digits(magnitude: float) -> str:
    if magnitude == 0:
        return "0"
    rounded = float(f"{magnitude:.3g}")
    places = int(np.clip(2 - np.floor(np.log10(rounded)), 0, 6))
    return f"{magnitude:.{places}f}"


def _sign(value: float) -> str:
    return MINUS if value < 0 else ""


def _identity(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values


def _percent_of_log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 100 * np.expm1(values)


def _percent_volatility(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 100 * np.exp(values)


def _percent(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 100 * values


@dataclass(frozen=True, slots=True)
class Unit:
    """How values of a target are shown.

    Parameters
    ----------
    title : str
        What is shown: ``"Volume"``.
    unit : str
        Its unit in words: ``"shares"``; empty where the title says enough.
    natural : callable
        From the target's scale to the one shown; increasing, so that quantiles stay quantiles.
    write : callable
        A shown value as text.
    ratio : bool
        Whether "12 % more than usual" makes sense, and a logarithmic axis with it.
    note : str
        How the shown scale came about, for the reader.
    """

    title: str
    unit: str
    natural: Transform
    write: Callable[[float], str]
    ratio: bool
    note: str


UNITS: Mapping[str, Unit] = MappingProxyType(
    {
        "log_volume": Unit(
            "Volume", "shares", np.exp, compact, True, "The model forecasts the logarithm of volume; shown as shares."
        ),
        "log_dollar_volume": Unit(
            "Traded value",
            "currency units",
            np.exp,
            compact,
            True,
            "The model forecasts the logarithm of price × volume; shown in the currency of the quotes.",
        ),
        "log_range": Unit(
            "Volatility",
            "% per bar",
            _percent_volatility,
            percent,
            True,
            "The model forecasts the log of Parkinson's volatility, from high and low; shown in percent per bar.",
        ),
        "log_range_gk": Unit(
            "Volatility",
            "% per bar",
            _percent_volatility,
            percent,
            True,
            "The model forecasts the logarithm of Garman and Klass's volatility; shown in percent per bar.",
        ),
        "log_return": Unit(
            "Return", "%", _percent_of_log, percent, False, "The model forecasts the log return; shown in percent."
        ),
        "abs_return": Unit(
            "Absolute return", "%", _percent, percent, False, "The size of the log return, shown in percent."
        ),
        "log_close": Unit(
            "Close", "", np.exp, compact, False, "The model forecasts the logarithm of the close; shown as a price."
        ),
    }
)


def unit_of(target: str) -> Unit:
    """Return how a target is shown; one that is not known here is shown as it is."""
    title = target.replace("_", " ")
    return UNITS.get(target, Unit(title[:1].upper() + title[1:], "", _identity, decimal, False, ""))
