"""Tables as plain text cells, the same for the page and for the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.forecast import quantile_name
from fints.plan import period_text
from fints.report.units import MINUS, signed_percent, unit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.report.nightly import NightlyReport, TargetReport
    from fints.report.units import Unit

USUAL_BARS = 60
"""Bars whose median is called usual; on intraday data, sessions at the same time of day."""

MOST_FINDINGS = 60
_DAY = 24 * 3600 * 10**9  # nanoseconds
SEVERITIES = ("quarantine", "suspect", "gap")
ERRORS = ("RMSE", "MAE", "MASE", "CRPS")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Parameters
    ----------
    text : str
    number : bool
        Set flush right, in figures of equal width.
    strong : bool
        Set in bold: the best of its column, or the reader's first look.
    span : int
        Columns that it covers.
    """

    text: str
    number: bool = False
    strong: bool = False
    span: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Parameters
    ----------
    columns : tuple of str
    rows : tuple of tuple of Cell
    caption : str
        What it shows, for readers and for screen readers.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers."""
        whole = [row for row in self.rows if len(row) == len(self.columns)]
        return tuple(any(row[i].number for row in whole) for i in range(len(self.columns)))


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """The forecasts of one series in shown units.

    Parameters
    ----------
    ds : pandas.DatetimeIndex, shape (h,)
    middle, low80, high80, low95, high95 : ndarray, shape (h,)
        Median and bands.
    usual : ndarray, shape (h,)
        Median of the recent past; NaN where the unit knows no ratio.
    """

    ds: pd.DatetimeIndex
    middle: NDArray[np.float64]
    low80: NDArray[np.float64]
    high80: NDArray[np.float64]
    low95: NDArray[np.float64]
    high95: NDArray[np.float64]
    usual: NDArray[np.float64]

    @classmethod
    def of(cls, target: TargetReport, unique_id: str) -> Shown:
        """Read the forecasts of a series."""
        unit = unit_of(target.target)
        rows = target.ahead(unique_id)
        at = {p: unit.natural(rows[quantile_name(p)].to_numpy(float)) for p in (0.025, 0.1, 0.5, 0.9, 0.975)}
        past = target.past(unique_id)
        usual = _usual(past, rows, unit)
        return cls(pd.DatetimeIndex(rows["ds"]), at[0.5], at[0.1], at[0.9], at[0.025], at[0.975], usual)


def _usual(past: pd.DataFrame, rows: pd.DataFrame, unit: Unit) -> NDArray[np.float64]:
    if not unit.ratio:
        return np.full(len(rows), np.nan)
    # same time of day: on daily bars all rows share midnight
    clock, asked = (frame["ds"].to_numpy("datetime64[ns]").astype(np.int64) % _DAY for frame in (past, rows))
    y = past["y"].to_numpy(float)
    known = {moment: y[clock == moment][-USUAL_BARS:] for moment in np.unique(asked)}
    recent = {moment: float(np.median(values)) if len(values) else np.nan for moment, values in known.items()}
    return unit.natural(np.array([recent[moment] for moment in asked], dtype=np.float64))


def band(unit: Unit, low: float, high: float) -> str:
    """Write a band, the unit once where both ends share it: 2.90–3.81 B."""
    (first, *scale), (last, *other) = unit.write(low).split(" "), unit.write(high).split(" ")
    start = first if scale == other else unit.write(low)
    dash = " – " if MINUS in first + last or scale != other else "–"
    return start + dash + " ".join([last, *other])


def against_usual(shown: Shown, step: int) -> str:
    """Say how far a forecast lies from what is usual."""
    usual = shown.usual[step]
    return signed_percent(shown.middle[step] / usual) if np.isfinite(usual) else "–"


def forecasts(report: NightlyReport, target: TargetReport, unique_id: str) -> Table:
    """Every forecast bar of a series, in shown units, with the model's own scale beside it."""
    unit, shown = unit_of(target.target), Shown.of(target, unique_id)
    mean = target.ahead(unique_id)["mean"].to_numpy(float)
    rows = tuple(
        (
            Cell(report.stamp(ds) + (" (over)" if target.is_over(unique_id, ds) else "")),
            Cell(unit.write(shown.middle[i]), number=True, strong=True),
            Cell(band(unit, shown.low80[i], shown.high80[i]), number=True),
            Cell(band(unit, shown.low95[i], shown.high95[i]), number=True),
            Cell(against_usual(shown, i), number=True),
            Cell(f"{mean[i]:.4f}".replace("-", MINUS), number=True),
        )
        for i, ds in enumerate(shown.ds)
    )
    columns = (report.bar_word.capitalize(), "Median", "80 % band", "95 % band", "vs usual", f"mean {target.target}")
    return Table(columns, rows, f"Forecast of {unit.title.lower()} of {unique_id} by {target.model}")


def leaderboard(target: TargetReport) -> Table:
    """Hold-out scores of the models, the best of each column in bold."""
    board = target.leaderboard
    coverage = [c for c in board.columns if str(c).startswith("cov")]
    rows: list[tuple[Cell, ...]] = []
    for _, line in board.iterrows():
        problem = line.get("problem", "")
        if isinstance(problem, str) and problem:
            rows.append((Cell(str(line["model"])), Cell(problem, span=len(ERRORS) + len(coverage))))
            continue
        errors = [Cell(f"{line[c]:.4f}", number=True, strong=_is_best(board[c], line[c])) for c in ERRORS]
        held = [
            Cell(
                f"{100 * line[c]:.1f} %",
                number=True,
                strong=_is_best((board[c] - _nominal(c)).abs(), abs(line[c] - _nominal(c))),
            )
            for c in coverage
        ]
        rows.append((Cell(str(line["model"]), strong=line["model"] == target.model), *errors, *held))
    columns = ("Model", *ERRORS, *(f"in {100 * _nominal(c):g} % band" for c in coverage))
    return Table(columns, tuple(rows), f"Hold-out comparison on {target.target}")


def _nominal(column: str) -> float:
    return float(column.removeprefix("cov")) / 100


def _is_best(column: pd.Series, value: float) -> bool:
    least = pd.to_numeric(column).min()
    return bool(np.isfinite(value) and value <= least + 1e-12)


def plan(frame: pd.DataFrame, target: str) -> Table:
    """List the cycles that the encodings are seeded with: a frame as `FrequencyPlan.to_frame` gives."""
    rows = tuple(
        (
            Cell(period_text(line["period"], line["clock"]), strong=True),
            Cell(_listed(line.get("harmonics"))),
            Cell(str(line.get("origin", ""))),
            Cell(_p_value(line.get("p_value")), number=True),
            Cell(str(line.get("reason", "") or "")),
        )
        for _, line in frame.iterrows()
    )
    return Table(("Cycle", "Harmonics", "Origin", "p", "Why"), rows, f"Frequency plan for {target}")


def _listed(harmonics: object) -> str:
    if isinstance(harmonics, (list, tuple, np.ndarray)):
        return ", ".join(str(int(h)) for h in harmonics)
    return "" if harmonics is None else str(harmonics)


def _p_value(value: object) -> str:
    if not isinstance(value, (int, float)) or not np.isfinite(value):
        return "–"
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"  # noqa: PLR2004 — three digits are enough


def findings(report: NightlyReport) -> Table:
    """List findings about the data, gravest and latest first; a long list is cut."""
    frame = report.findings
    rows: list[tuple[Cell, ...]] = []
    if len(frame):
        rank = frame["severity"].map({name: i for i, name in enumerate(SEVERITIES)}).fillna(len(SEVERITIES))
        ordered = frame.assign(rank=rank).sort_values(["rank", "session"], ascending=[True, False])
        rows = [
            (
                Cell(str(line["severity"]), strong=line["severity"] == SEVERITIES[0]),
                Cell(str(line["symbol"])),
                Cell("–" if pd.isna(line["session"]) else f"{line['session']:%Y-%m-%d}"),
                Cell(str(line["kind"])),
                Cell(str(line["reason"])),
            )
            for _, line in ordered.head(MOST_FINDINGS).iterrows()
        ]
    caption = f"{len(frame)} findings" + (f", the first {MOST_FINDINGS} shown" if len(frame) > MOST_FINDINGS else "")
    return Table(("Severity", "Series", "Session", "Kind", "Reason"), tuple(rows), caption)


def problems(report: NightlyReport) -> Table:
    """Series left out or shortened, and why."""
    rows = tuple(
        (
            Cell(str(line["unique_id"]), strong=True),
            Cell(str(line.get("target", "") or "")),
            Cell("left out" if line.get("left_out", True) else "some bars left out"),
            Cell(str(line["reason"])),
        )
        for _, line in report.problems.iterrows()
    )
    return Table(("Series", "Target", "Consequence", "Reason"), rows, "Series left out or shortened")
