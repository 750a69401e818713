"""What became of earlier forecasts: tables and sentences for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.report.tables import Cell, Table
from fints.report.units import MINUS, unit_of
from fints.report.verification_figures import coverage_over_time, error_by_step

if TYPE_CHECKING:
    from fints.report.figures import Drawing
    from fints.report.units import Unit
    from fints.verification import TargetVerification, Verification

MOST_SERIES = 40


@dataclass(frozen=True, slots=True)
class LookbackSection:
    """What stands under one target.

    Parameters
    ----------
    unit : Unit
    target : str
    anchor : str
    live : bool
    sentences : tuple of str
    table, bands, series : Table, optional
        None where nothing is scored.
    note : str
        Which series the last one leaves out.
    drawings : tuple of Drawing
    """

    unit: Unit
    target: str
    anchor: str
    live: bool
    sentences: tuple[str, ...]
    table: Table | None = None
    bands: Table | None = None
    series: Table | None = None
    note: str = ""
    drawings: tuple[Drawing, ...] = ()


def lookback_sections(verification: Verification | None, bar_word: str) -> tuple[LookbackSection, ...]:
    """Lay out what became of the forecasts of every target; nothing where nobody looked back."""
    targets = verification.targets if verification is not None else ()
    return tuple(_section(target, bar_word, f"lookback-{i + 1}") for i, target in enumerate(targets))


def _section(target: TargetVerification, bar_word: str, anchor: str) -> LookbackSection:
    unit = unit_of(target.target)
    if not target.scored:
        return LookbackSection(unit, target.target, anchor, target.live, target.sentences)
    left_out = len(target.by_series) - MOST_SERIES
    note = f"The {MOST_SERIES} series with the largest error; {left_out} more are in --json." if left_out > 0 else ""
    drawings = (coverage_over_time(target), error_by_step(target, bar_word))
    return LookbackSection(
        unit=unit,
        target=target.target,
        anchor=anchor,
        live=target.live,
        sentences=target.sentences,
        table=_figures(target, bar_word),
        bands=_bands(target, bar_word),
        series=_by_series(target),
        note=note,
        drawings=tuple(drawing for drawing in drawings if drawing is not None),
    )


def _figures(target: TargetVerification, bar_word: str) -> Table:
    rows = []
    for _, line in target.table.iterrows():
        steps = str(line["steps"])
        rows.append(
            (
                *_named(line, bar_word),
                Cell(f"{int(line['n_nights'])}", number=True),
                Cell(f"{int(line['n'])}", number=True),
                Cell(_error(line, "MAE"), number=True, strong=steps == "all"),
                Cell(_error(line, "RMSE"), number=True),
                Cell(_error(line, "CRPS"), number=True),
            )
        )
    columns = (
        *("Nights", f"{bar_word.capitalize()}s", "count", "forecasts"),
        *("MAE (promised)", "RMSE (promised)", "CRPS (promised)"),
    )
    caption = (
        f"Errors of earlier forecasts of {target.target}, and what was promised: MAE and CRPS are means over nights of "
        "each night's mean"
    )
    return Table(columns, tuple(rows), caption)


def _bands(target: TargetVerification, bar_word: str) -> Table:
    rows = tuple(
        (
            *_named(line, bar_word),
            Cell(_number(line["bias"], sign=True) + _range(line, "bias"), number=True),
            Cell(_share(line, "cov80"), number=True, strong=line["steps"] == "all"),
            Cell(_share(line, "cov95"), number=True, strong=line["steps"] == "all"),
        )
        for _, line in target.table.iterrows()
    )
    bands = ("in 80 % band (promised)", "in 95 % band (promised)")
    columns = ("Nights", f"{bar_word.capitalize()}s", "mean error", *bands)
    caption = f"Mean error and bands of earlier forecasts of {target.target}: means over nights of each night's mean"
    return Table(columns, rows, caption)


def _named(line: pd.Series, bar_word: str) -> tuple[Cell, Cell]:
    steps = str(line["steps"])
    ahead = f"all {bar_word}s" if steps == "all" else f"{steps.replace('-', ' to ')} ahead"
    return Cell("all" if pd.isna(line["nights"]) else f"last {int(line['nights'])}"), Cell(ahead)


def _by_series(target: TargetVerification) -> Table:
    worst = target.by_series.sort_values("MAE", ascending=False, kind="stable").head(MOST_SERIES)
    rows = tuple(
        (
            Cell(str(line["unique_id"])),
            Cell(f"{int(line['n'])}", number=True),
            Cell(_number(line["MAE"]), number=True),
            Cell(_number(line["RMSE"]), number=True),
            Cell(_number(line["bias"], sign=True), number=True),
            Cell(f"{100 * line['cov80']:.1f} %", number=True),
            Cell(f"{100 * line['cov95']:.1f} %", number=True),
        )
        for _, line in worst.iterrows()
    )
    columns = ("Series", "forecasts", "MAE", "RMSE", "mean error", "in 80 % band", "in 95 % band")
    return Table(columns, rows, f"Earlier forecasts of {target.target} by series")


def _error(line: pd.Series, name: str) -> str:
    said = _number(line[name]) + (_range(line, name) if f"{name}_low" in line else "")
    return said + _promised(_number(line[f"{name}_promised"]) if np.isfinite(line[f"{name}_promised"]) else "")


def _share(line: pd.Series, name: str) -> str:
    low, high, promised = (line[f"{name}_{end}"] for end in ("low", "high", "promised"))
    said = f"{100 * line[name]:.1f} %"
    if np.isfinite(low):
        said += f" [{100 * low:.0f}–{100 * high:.0f}]"
    return said + _promised(f"{100 * promised:.1f} %" if np.isfinite(promised) else "")


def _range(line: pd.Series, name: str) -> str:
    low, high = line[f"{name}_low"], line[f"{name}_high"]
    signed = name == "bias"
    return f" [{_number(low, sign=signed)} to {_number(high, sign=signed)}]" if np.isfinite(low) else ""


def _promised(text: str) -> str:
    return f" ({text})" if text else ""


def _number(value: float, *, sign: bool = False) -> str:
    if not np.isfinite(value):
        return "–"
    return (f"{value:+.3f}" if sign else f"{value:.3f}").replace("-", MINUS)
