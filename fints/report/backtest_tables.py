"""Tables of a backtest, the same for the page and for Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.report.tables import Cell, Table
from fints.report.units import MINUS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fints.report.backtest import BacktestReport, ComparedTarget

MOST_ROWS = 60


@dataclass(frozen=True, slots=True)
class Score:
    """A column of the leaderboard.

    Parameters
    ----------
    column : str
        Of `CrossValidation.leaderboard`.
    title : str
    write : callable
    best : callable, optional
        Distance from the ideal value: the least is set in bold.
    """

    column: str
    title: str
    write: Callable[[float], str]
    best: Callable[[float], float] | None = None


def _four(value: float) -> str:
    return f"{value:.4f}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _signed(value: float) -> str:
    return f"{MINUS if value < 0 else '+' if value > 0 else ''}{100 * abs(value):.1f} %"


def _plain(value: float) -> float:
    return value


def _negative(value: float) -> float:
    return -value


FIRST: tuple[Score, ...] = (
    Score("RMSE", "RMSE", _four, _plain),
    Score("RMSE_sd", "± seeds", _four),
    Score("skill", "saved", _signed),
)
"""Columns before what the tests say."""

SCORES: tuple[Score, ...] = (
    Score("MAE", "MAE", _four, _plain),
    Score("MASE", "MASE", _four, _plain),
    Score("sMAPE", "sMAPE", lambda share: f"{100 * share:.2f} %", _plain),
    Score("CRPS", "CRPS", _four, _plain),
    Score("QLIKE", "QLIKE", _four, _plain),
    Score("hit", "direction", _share, _negative),
    Score("IC", "IC", _four, _negative),
    Score("IC_cross", "IC across", _four, _negative),
    Score("cov80", "in 80 % band", _share, lambda held: abs(held - 0.8)),
    Score("cov95", "in 95 % band", _share, lambda held: abs(held - 0.95)),
    Score("void", "void", lambda count: f"{count:.0f}"),
)


def leaderboard(found: ComparedTarget) -> Table:
    """Write the scores of every model with its letters; one that failed has its cause in its row."""
    board = found.board()
    first, rest = ([score for score in scores if _told(board, score.column)] for scores in (FIRST, SCORES))
    rows = [_line(line, board, (first, rest), found) for _, line in board.iterrows()]
    titles = [[score.title for score in scores] for scores in (first, rest)]
    columns = ("Model", *titles[0], "differs", "may be best", *titles[1])
    return Table(columns, tuple(rows), f"Leaderboard on {found.target}")


def _told(board: pd.DataFrame, column: str) -> bool:
    """Whether a column says something: not where all values are unknown, or none is void."""
    if column not in board.columns:
        return False
    values = pd.to_numeric(board[column])
    return bool(values.fillna(0).gt(0).any()) if column == "void" else bool(values.notna().any())


def _line(
    line: pd.Series, board: pd.DataFrame, scores: tuple[Sequence[Score], Sequence[Score]], found: ComparedTarget
) -> tuple[Cell, ...]:
    name = str(line["model"])
    if line["problem"]:
        return (Cell(found.call(name)), Cell(f"failed: {line['problem']}", span=sum(map(len, scores)) + 2))
    inside = {True: "yes", False: "no"}.get(line["in_set"], "–")
    first, rest = ([_score(line, board, score) for score in part] for part in scores)
    best = name == found.comparison.order[0]
    return (Cell(found.call(name), strong=best), *first, Cell(line["letters"] or "–"), Cell(inside), *rest)


def _score(line: pd.Series, board: pd.DataFrame, score: Score) -> Cell:
    value = float(line[score.column])
    if not np.isfinite(value):
        return Cell("–", number=True)
    if score.best is None:
        return Cell(score.write(value), number=True)
    least = pd.to_numeric(board[score.column]).dropna().map(score.best).min()
    return Cell(score.write(value), number=True, strong=bool(score.best(value) <= least + 1e-12))


def distances(found: ComparedTarget) -> Table | None:
    """Write errors by distance in trained horizons, and their slopes."""
    if found.extrapolation is None:
        return None
    bands = found.extrapolation.by_band().pivot_table(index="model", columns="band", values="RMSE", sort=False)
    slopes = found.extrapolation.slopes().set_index("model")
    slope, growth = slopes["slope"].to_dict(), slopes["growth"].to_dict()
    rows = tuple(
        (
            Cell(found.call(str(model))),
            *(Cell(f"{value:.3f}", number=True, strong=value == bands[b].min()) for b, value in line.items()),
            Cell(_or_dash(slope[model], "{:+.4f}"), number=True),
            Cell(_or_dash(growth[model], "{:.2f}×"), number=True),
        )
        for model, line in bands.sort_values(bands.columns[-1]).iterrows()
    )
    columns = ("Model", *map(str, bands.columns), "slope per horizon", "furthest to nearest")
    return Table(columns, rows, f"Error beyond the trained horizon on {found.target}")


def costs(found: ComparedTarget) -> Table:
    """Write what each model cost: fitting and forecasting together, as its jobs measured it."""
    result = found.result
    jobs = result.jobs.groupby("model")
    count, reused = jobs.size(), jobs["reused"].sum()
    total = sum(result.seconds.values()) or 1.0
    rows = tuple(
        (
            Cell(found.call(name)),
            Cell(f"{seconds:.1f}", number=True),
            Cell(f"{100 * seconds / total:.0f} %", number=True),
            Cell(f"{count.get(name, 0)}", number=True),
            Cell(f"{seconds / count.get(name, 1):.1f}", number=True),
            Cell(f"{reused.get(name, 0)}", number=True),
        )
        for name, seconds in sorted(result.seconds.items(), key=lambda item: -item[1])
    )
    columns = ("Model", "seconds", "share", "jobs", "seconds per job", "kept from an earlier run")
    return Table(columns, rows, f"Costs on {found.target}")


def pairs(found: ComparedTarget) -> Table | None:
    """Write the test of every pair of models; None where there is only one."""
    frame = found.comparison.family.pairs.sort_values("p_holm", kind="stable").head(MOST_ROWS)
    if frame.empty:
        return None
    rows = tuple(
        (
            Cell(found.call(str(line["model"] if line["statistic"] <= 0 else line["against"]))),
            Cell(found.call(str(line["against"] if line["statistic"] <= 0 else line["model"]))),
            Cell(_or_dash(-abs(line["statistic"]), "{:.2f}"), number=True),
            Cell(_p(line["p_value"]), number=True),
            Cell(_p(line["p_holm"]), number=True, strong=bool(line["p_holm"] < found.comparison.family.alpha)),
            Cell(str(line["reason"])),
        )
        for _, line in frame.iterrows()
    )
    columns = ("Loses less", "than", "statistic", "p", "p (Holm)", "withheld because")
    return Table(columns, rows, f"Diebold–Mariano tests of all pairs on {found.target}")


def series(found: ComparedTarget) -> Table:
    """Write the RMSE of every model on every series, the lowest of each series in bold."""
    table = found.result.by_series().pivot_table(index="unique_id", columns="model", values="RMSE")
    names = [name for name in found.comparison.order if name in table.columns]
    rows = tuple(
        (
            Cell(str(unique_id)),
            *(Cell(_or_dash(line[n], "{:.4f}"), number=True, strong=line[n] == line[names].min()) for n in names),
        )
        for unique_id, line in table.head(MOST_ROWS).iterrows()
    )
    return Table(("Series", *map(found.call, names)), rows, f"RMSE by series on {found.target}")


def problems(report: BacktestReport) -> Table:
    """List what failed, what was left out and what has to be known."""
    rows = [("not delivered or not compared", name, cause) for name, cause in report.failed.items()]
    for found in report.targets:
        rows += [(f"failed, {found.target}", found.call(name), cause) for name, cause in found.result.failures.items()]
        rows += [
            (f"{'left out' if out else 'note'}, {found.target}", unique_id, reason)
            for unique_id, reason, out in found.left_out
        ]
        void = found.result.void.groupby(["unique_id", "reason"])["ds"].nunique().reset_index()
        rows += [
            (
                f"not scored, {found.target}",
                str(line["unique_id"]),
                f"{line['reason']} ({line['ds']} {report.bar_word}{'' if line['ds'] == 1 else 's'})",
            )
            for line in void.to_dict("records")
        ]
    rows += [("warning", "", warning) for warning in report.warnings]
    cells = tuple((Cell(what), Cell(who), Cell(why)) for what, who, why in dict.fromkeys(rows))
    return Table(("What", "Of", "Why"), cells, "Failures, gaps and warnings")


def _or_dash(value: float, form: str) -> str:
    return form.format(value).replace("-", MINUS) if np.isfinite(value) else "–"


def _p(value: float) -> str:
    if not np.isfinite(value):
        return "–"
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"  # noqa: PLR2004 — three digits are enough
