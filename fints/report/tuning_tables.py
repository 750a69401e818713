"""Tables of a search, the same for the page and for Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from fints.report.tables import Cell, Table
from fints.report.tuning import called, fate
from fints.report.units import MINUS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fints.report.tuning import TuningReport
    from fints.tuning import TrialSummary

MOST_TRIALS = 60
SHOWN = "{:.4f}"
"""How errors are written."""

_HEADS = {"candidate": "Candidate", "inner": "inner folds", "confirm": "confirmation", "beyond": "beyond trained h"}
_COUNTS = ("origins", "windows")


def candidates(report: TuningReport) -> Table:
    """Write the error of the best trials and of the untuned plan, in the search and on folds that it never saw."""
    rows = report.result.confirmation.rows
    return _scores(rows, "Error of the best trials and of the untuned plan")


def judged(report: TuningReport) -> Table | None:
    """Write the errors on the test windows; None where they were not looked at."""
    test = report.result.test
    return None if test is None else _scores(test.rows, "Errors on the test windows")


def _scores(rows: pd.DataFrame, caption: str) -> Table:
    columns = [str(name) for name in rows.columns]
    scores = [name for name in columns if name not in {"candidate", *_COUNTS}]
    best = {name: _best(pd.to_numeric(rows[name])) for name in scores}
    cells = tuple(
        tuple(_score(name, line[name], best) if name != "candidate" else Cell(str(line[name])) for name in columns)
        for line in rows.to_dict("records")
    )
    return Table(tuple(_HEADS.get(name, name) for name in columns), cells, caption)


def _score(name: str, value: object, best: Mapping[str, str]) -> Cell:
    number = float(str(value))
    if name in _COUNTS:
        return Cell(f"{number:.0f}", number=True)
    text = _or_dash(number, SHOWN)
    return Cell(text, number=True, strong=text == best[name])


def _best(column: pd.Series) -> str:
    """Return the lowest score as it is shown; nothing where all look alike."""
    shown = [_or_dash(value, SHOWN) for value in column]
    return _or_dash(column.min(), SHOWN) if len(set(shown)) > 1 else ""


def trials(report: TuningReport) -> Table:
    """Write the trials, those on all folds first and the lowest error on top; of many, the first ones."""
    summaries = sorted(report.result.summaries, key=_rank)
    parameters = list(dict.fromkeys(name for one in summaries for name in one.params))
    cycles = report.cycles()
    rows = tuple(_trial(one, parameters, cycles) for one in summaries[:MOST_TRIALS])
    columns = (
        "Trial",
        "error",
        "folds",
        "seconds",
        "outcome",
        "from",
        *(f"{name}: start → end" for name in cycles),
        *(called(name) for name in parameters if not name.startswith("delta[")),
    )
    cut = f", the best {MOST_TRIALS} shown" if len(summaries) > MOST_TRIALS else ""
    return Table(columns, rows, f"{len(summaries)} trials{cut}")


def _trial(one: TrialSummary, parameters: list[str], cycles: tuple[str, ...]) -> tuple[Cell, ...]:
    outcome = fate(one) + (f": {one.failure}" if one.failure else "")
    return (
        Cell(str(one.number), number=True),
        Cell(_or_dash(one.value, "{:.6g}"), number=True),
        Cell(str(len(one.folds)), number=True),
        Cell(_or_dash(one.seconds, "{:.0f}"), number=True),
        Cell(outcome),
        Cell(one.origin),
        *(Cell(_moved(one, name), number=True) for name in cycles),
        *(Cell(_plain(one.params.get(name))) for name in parameters if not name.startswith("delta[")),
    )


def _moved(one: TrialSummary, cycle: str) -> str:
    if cycle not in one.start:
        return "–"
    start, end = one.start[cycle], one.end.get(cycle)
    return f"{start:.5g}" if end is None or f"{end:.5g}" == f"{start:.5g}" else f"{start:.5g} → {end:.5g}"


def _rank(one: TrialSummary) -> tuple[bool, float, int]:
    value = math.inf if one.value is None or not math.isfinite(one.value) else one.value
    return one.state != "complete", value, one.number


def outcome(report: TuningReport) -> Table:
    """Write the plan that the search ended in, beside the one that it started from."""
    before = {name: cycle.period for name, cycle in report.anchors().items()}
    tuned = report.result.tuned.periods
    ends = [(name, tuned.get(name)) for name in before]
    rows = tuple(
        (
            Cell(name, strong=True),
            Cell(f"{before[name]:.6g}", number=True),
            Cell(_or_dash(end, "{:.6g}"), number=True),
            Cell("–" if end is None else _change(end / before[name]), number=True),
        )
        for name, end in ends
    )
    added = tuple(
        (Cell(name, strong=True), Cell("–", number=True), Cell(f"{period:.6g}", number=True), Cell("–", number=True))
        for name, period in tuned.items()
        if name not in before
    )
    return Table(("Cycle", "untuned", "tuned", "change"), rows + added, "Periods before and after the search")


def _change(ratio: float) -> str:
    if math.isclose(ratio, 1.0, abs_tol=1e-9):
        return "none"
    return f"{100 * (ratio - 1):+.3g} %".replace("-", MINUS)


def problems(report: TuningReport) -> Table:
    """List what failed, what was left out and what has to be known."""
    rows = [
        ("left out" if out else "note", unique_id, reason) for unique_id, reason, out in report.left_out
    ]  # fmt: skip
    rows += [("failed", f"trial {one.number}", one.failure) for one in report.result.summaries if one.failure]
    rows += [("warning", "", warning) for warning in report.warnings]
    cells = tuple((Cell(what), Cell(who), Cell(why)) for what, who, why in dict.fromkeys(rows))
    return Table(("What", "Of", "Why"), cells, "Failures, gaps and warnings")


def _or_dash(value: float | None, form: str) -> str:
    return form.format(value).replace("-", MINUS) if value is not None and math.isfinite(value) else "–"


def _plain(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
