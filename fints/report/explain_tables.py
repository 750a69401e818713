"""An explanation as tables, in the units that people think in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.explain.decomposition import LEVEL
from fints.explain.sentences import percent
from fints.report.tables import Cell, Table
from fints.report.units import MINUS, signed_percent, unit_of

if TYPE_CHECKING:
    from fints.explain import Decomposition, Gain, Measured

LEAST_SAID = 0.005
"""Relative effect on a forecast below which a part is not named in a sentence."""


def effect(value: float, target: str) -> str:
    """Write what a part adds to a forecast: as a change in percent where the target is a logarithm."""
    if unit_of(target).ratio:
        return signed_percent(float(np.exp(value)))
    return f"{value:+.4f}".replace("-", MINUS)


def stated(value: float, target: str) -> str:
    """Write a level or a forecast in shown units."""
    unit = unit_of(target)
    return str(unit.write(float(unit.natural(np.array([value]))[0])))


def forecast_table(forecast: Decomposition, target: str) -> Table:
    """Parts of the next bar, of the last one, and of all bars on average."""
    h = len(forecast.mean)
    chosen = [("Next bar", np.array([0])), ("Last bar", np.array([h - 1])), (f"Mean of {h} bars", np.arange(h))]
    stamps = pd.DatetimeIndex(forecast.future["ds"])
    names = [f"{name}, {_day(stamps[rows[0]])}" if len(rows) == 1 else name for name, rows in chosen][
        : 3 if h > 1 else 1
    ]
    rows = []
    for term in forecast.terms:
        write = stated if term.name == LEVEL else effect
        cells = [Cell(write(float(term.total[places].mean()), target), number=True) for _, places in chosen]
        in_network = effect(float(term.network.mean()), target) if term.network.any() else "–"
        rows.append((Cell(term.name), *cells[: len(names)], Cell(in_network, number=True)))
    whole = [
        Cell(stated(float(forecast.mean[places].mean()), target), number=True, strong=True) for _, places in chosen
    ]
    rows.append((Cell("forecast", strong=True), *whole[: len(names)], Cell("", number=True)))
    unit = unit_of(target)
    caption = f"Forecast of {unit.title.lower()} of {forecast.unique_id}, divided"
    return Table(("Part", *names, "Of the mean, the network"), tuple(rows), caption)


def gain_table(gain: Gain, loss: str = "RMSE") -> Table:
    """List what carries the gain."""
    tied = [group.tied for group in gain.groups]
    rows = []
    for part, what in zip(gain.parts[loss], [*tied, "network, companion series"], strict=True):
        sure = part.value.told
        rows.append(
            (
                Cell(part.name, strong=sure),
                Cell(what),
                Cell(_signed(part.value), number=True, strong=sure),
                Cell(_signed(part.share) if gain.found(loss) else "–", number=True, strong=sure and gain.found(loss)),
                Cell("–" if part.without is None else _signed(part.without), number=True),
                Cell("–" if part.still is None else _signed(part.still), number=True),
            )
        )
    total = gain.total[loss]
    rows.append(
        (
            Cell("all together", strong=True),
            Cell(""),
            Cell(_signed(total), number=True, strong=True),
            Cell("100 %" if gain.found(loss) else "–", number=True),
            Cell("", number=True),
            Cell("", number=True),
        )
    )
    columns = ("Part", "Tied to it", f"Takes off {loss}", "Of the gain", "Taken out alone", "Planes held still")
    return Table(columns, tuple(rows), f"What takes {loss} below that of {gain.reference}")


def told(forecast: Decomposition, target: str) -> str:
    """Say in one sentence what moves the next bar."""
    first = {term.name: float(term.total[0]) for term in forecast.terms}
    level = first.pop(LEVEL, None)
    ratio = unit_of(target).ratio
    size = max(abs(forecast.mean[0]), 1e-12) if not ratio else 1.0
    moving = sorted(((name, value) for name, value in first.items()), key=lambda item: -abs(item[1]))
    named = [(name, value) for name, value in moving if abs(value) / size >= LEAST_SAID]
    day = _day(pd.DatetimeIndex(forecast.future["ds"])[0])
    start = f"The forecast for {day} is {stated(float(forecast.mean[0]), target)}"
    if level is not None:
        start += f", against a level of {stated(level, target)} in the context"
    if not named:
        return f"{start}; nothing moves it by as much as {percent(LEAST_SAID)}."
    listed = [f"{_the(name)} {effect(value, target)}" for name, value in named]
    return f"{start}: {', '.join(listed)}."


def _the(name: str) -> str:
    return f"the {name}" if "cycle" in name else name


def _day(stamp: pd.Timestamp) -> str:
    return f"{stamp:%a %Y-%m-%d}" if stamp == stamp.normalize() else f"{stamp:%a %Y-%m-%d %H:%M}"


def _signed(number: Measured) -> str:
    """Write a part with its standard error."""
    if not np.isfinite(number.value):
        return "–"
    error = f" ± {percent(number.error).removesuffix(' %')}" if np.isfinite(number.error) else ""
    return f"{percent(number.value).removesuffix(' %')}{error} %".replace("-", MINUS)
