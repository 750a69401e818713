"""Figures of one model of a backtest among the others, as SVG files that stand alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import escape

from fints.report.backtest_svg import HEIGHT, WIDTH, axes

if TYPE_CHECKING:
    import pandas as pd

    from pipelines.backtest_records import Scores

OTHERS = "#cfd6dd"
STYLE = """text{font-family:sans-serif;font-size:11px;fill:#5c6773}.title{font-size:12px;fill:#1d2733}
line{stroke:#e3e7ec}.axis,.mark{stroke:#5c6773}"""

_TOP, _RIGHT = 24.0, 12.0


def plots_of(scores: Scores, model: str) -> dict[str, str]:
    """Draw the RMSE of a model by bars ahead and by window, those of the others in grey behind it.

    Parameters
    ----------
    scores : Scores
    model : str
        One that finished.

    Returns
    -------
    dict of str to str
        SVG by file name.
    """
    windows = scores.folds.assign(window=scores.folds.groupby("model")["cutoff"].rank(method="dense"))
    return {
        "plots/by_horizon.svg": _drawn(scores, model, scores.steps, "step", "bars ahead"),
        "plots/by_fold.svg": _drawn(scores, model, windows, "window", "window"),
    }


def _drawn(scores: Scores, model: str, table: pd.DataFrame, along: str, word: str) -> str:
    look = scores.target.looks[model]
    pair = axes(table[along], table["RMSE"])
    pair.frame(word, f"RMSE of {scores.target.target}", lambda value: f"{value:.4g}")
    for name, own in table.groupby("model"):
        if name != model:
            pair.line(own[along], own["RMSE"], OTHERS, width=1.2)
    own = table[table["model"] == model]
    pair.line(own[along], own["RMSE"], look.colour, look.dash, width=2.4)
    alt = f"RMSE of {model} by {word}, the other models in grey"
    inside = str(pair.canvas.drawn(alt)).removeprefix("<svg ")
    wide, high = WIDTH + _RIGHT, HEIGHT + _TOP
    size = f'width="{2 * wide:g}" height="{2 * high:g}"'
    whole = inside.replace(f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}"', f'viewBox="0 -{_TOP:g} {wide:g} {high:g}"', 1)
    name = f'<tspan style="fill:{look.colour};font-weight:bold">{escape(model)}</tspan>'
    heading = f'<text class="title" x="0" y="-10">{name} among the others, in grey</text>'
    head, body = whole.split(">", 1)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {head}><style>{STYLE}</style>{heading}{body}'
