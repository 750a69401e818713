"""The descriptions of the runs of a backtest: the verdict first, then where to look, then the table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from pipelines.backtest import TargetBacktest
    from pipelines.backtest_records import Scores

COLUMNS = ("RMSE", "MAE", "MASE", "CRPS", "skill", "cov80", "cov95", "letters")


def describe(scores: Mapping[str, Scores], links: Mapping[str, str]) -> str:
    """Describe a backtest.

    MLflow folds a description and veils what is below its second line: the verdict in brief and the links share the
    first paragraph, or the links could not be clicked on.

    Parameters
    ----------
    scores : mapping of str to Scores
        By target.
    links : mapping of str to str
        Address by the words to click on.
    """
    several = len(scores) > 1
    heads = {name: one.target.headlines() for name, one in scores.items()}
    mark = {name: f"**{name}**: " if several else "" for name in scores}
    briefs = [_plain(f"{mark[name]}{one.target.in_brief()}.") for name, one in scores.items()]
    leads = [_plain(f"{mark[name]}{first}") for name, (first, *_) in heads.items()]
    where = " · ".join(f"[{words}]({address})" for words, address in links.items())
    parts = []
    for name, (_, *others) in heads.items():
        said = "\n".join(f"- {_plain(sentence)}" for sentence in others)
        parts += [*([f"### {name}"] if several else []), markdown(scores[name].board.reset_index()), said]
    return "\n\n".join([f"{' '.join(briefs)} {where}", *leads, *parts])


def describe_model(found: TargetBacktest, model: str) -> str:
    """Describe a model on a target: why it failed, or how it did beside others."""
    failure = found.result.failures.get(model)
    said = [] if failure is None else [f"**Failed on {found.target}:** {failure}"]
    return "\n\n".join(map(_plain, [*said, *found.said_of(model)]))


def markdown(board: pd.DataFrame) -> str:
    """Write a leaderboard as a table; what failed is left to its own run."""
    shown = ["model", *(column for column in COLUMNS if column in board.columns)]
    rows = [[_cell(row[column]) for column in shown] for _, row in board.iterrows() if not row.get("problem")]
    marks = ["---" if column in {"model", "letters"} else "---:" for column in shown]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [shown, marks, *rows])


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4f}"  # noqa: PLR0124 — not a number
    return _plain(str(value)).replace("|", "\\|")


def _plain(text: str) -> str:
    """Keep names from being taken for elements of HTML, which Markdown lets through."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)
