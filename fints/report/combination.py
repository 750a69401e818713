"""The members of a combination, and how its bands held: tables and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.report.tables import Cell, Table
from fints.report.units import MINUS

if TYPE_CHECKING:
    import pandas as pd

    from fints.report.nightly import TargetReport


def members(target: TargetReport, bar_word: str) -> Table | None:
    """Weight of every member by stretch of the horizon, and what it is worth; None where nothing is averaged.

    Parameters
    ----------
    target : TargetReport
    bar_word : str
        What one bar is called.
    """
    frame = target.weights
    if len(frame) == 0 or frame["member"].nunique() + len(target.dropped) < 2:
        return None
    ends = frame.drop_duplicates("first")
    stretches = [*zip(ends["first"].astype(int), ends["last"].astype(float), strict=True)]
    shares = frame.pivot_table(index="member", columns="first", values="weight", sort=False)
    worths = [_worth(target.value, column) for column in ("without", "alone")]
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(frame["member"]):
        weights = [
            Cell(f"{shares.loc[name, first]:.0%}", number=True, strong=shares.loc[name, first] == shares[first].max())
            for first, _ in stretches
        ]
        worth = [Cell(_percent(own.get(str(name))), number=True) for own in worths]
        rows.append((Cell(str(name)), *weights, *worth))
    for name, cause in target.dropped.items():
        rows.append((Cell(str(name)), Cell(f"dropped: {cause}", span=len(stretches) + 2)))
    names = [f"Weight, {_stretch(first, last, bar_word, len(stretches))}" for first, last in stretches]
    columns = ("Member", *names, "Loss without it", "Loss alone")
    return Table(columns, tuple(rows), f"Members of {target.model} on {target.target}")


def _worth(value: pd.DataFrame, column: str) -> dict[str, float]:
    if not len(value):
        return {}
    return dict(zip(value["member"].astype(str), value[column].astype(float), strict=True))


def _stretch(first: int, last: float, bar_word: str, count: int) -> str:
    if count == 1:
        return f"all {bar_word}s"
    return f"{bar_word}s {first} on" if np.isnan(last) else f"{bar_word}s {first} to {last:g}"


def _percent(worth: float | None) -> str:
    if worth is None or not np.isfinite(worth):
        return "–"
    return f"{100 * worth:+.1f} %".replace("-", MINUS)


def in_words(target: TargetReport) -> tuple[str, ...]:
    """Say who takes part with what mean weight, and who was dropped and why."""
    frame = target.weights
    said = []
    if len(frame) and frame["member"].nunique() > 1:
        mean = frame.groupby("member", sort=False)["weight"].mean().sort_values(ascending=False, kind="stable")
        listed = ", ".join(f"{name} {weight:.0%}" for name, weight in mean.items())
        said.append(f"{target.model}: {listed} (weights averaged over the horizon's stretches).")
    said += [f"{name} was dropped from {target.model}: {cause}." for name, cause in target.dropped.items()]
    return tuple(said)


def coverage(target: TargetReport, bar_word: str) -> Table | None:
    """Share of the hold-out inside the bands, by horizon, series and the volatility before; None without a hold-out."""
    if not len(target.coverage):
        return None
    rows = tuple(
        (
            Cell(_group(str(line["by"]), str(line["group"]), bar_word)),
            Cell(f"{100 * line['cov80']:.1f} %", number=True),
            Cell(f"{100 * line['cov95']:.1f} %", number=True),
            Cell(f"{int(line['n'])}", number=True),
        )
        for _, line in target.coverage.iterrows()
    )
    columns = ("Forecasts", "in 80 % band", "in 95 % band", "count")
    return Table(columns, rows, f"Coverage of {target.model} on {target.target}")


def _group(by: str, group: str, bar_word: str) -> str:
    if by == "horizon":
        return f"{bar_word}s {group.replace('-', ' to ')} ahead" if "-" in group else f"{bar_word} {group} ahead"
    return f"{group} before the cutoff" if by == "regime" else group


def events(target: TargetReport) -> Table | None:
    """Score each kind of event beside ordinary days; None without a hold-out."""
    if not len(target.events):
        return None
    rows: list[tuple[Cell, ...]] = []
    for _, line in target.events.iterrows():
        sessions = Cell(str(int(line["sessions"])), number=True)
        name = Cell(str(line["event"]))
        if not line["sessions"]:
            rows.append((name, sessions, Cell("no such day in the hold-out", span=5)))
            continue
        figures = (
            f"{line['RMSE']:.4f}",
            f"{line['bias']:+.4f}",
            *(f"{100 * line[c]:.1f} %" for c in ("cov80", "cov95")),
        )
        note = "too few days to tell" if line["few"] else ""
        rows.append((name, sessions, *(Cell(text.replace("-", MINUS), number=True) for text in figures), Cell(note)))
    columns = ("Days", "count", "RMSE", "mean error", "in 80 % band", "in 95 % band", "")
    return Table(columns, tuple(rows), f"{target.model} on {target.target} by kind of day")
