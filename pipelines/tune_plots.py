"""Figures of a search as SVG files that stand alone, for MLflow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fints.report import tuning_figures as figures
from pipelines.backtest_plots import STYLE

if TYPE_CHECKING:
    from fints.report import TuningReport
    from fints.report.backtest_svg import Picture

_MARGIN = 14.0
_OWN = "rect.paper{fill:#ffffff}"


def plots_of(report: TuningReport) -> dict[str, str]:
    """Draw a search.

    Parameters
    ----------
    report : TuningReport

    Returns
    -------
    dict of str to str
        SVG by file name: the history, the importance of parameters, and for every cycle its valley and its course in
        training.
    """
    one = {"history": figures.history(report), "importance": figures.importance(report), "cost": figures.cost(report)}
    found = {name: picture for name, picture in one.items() if picture is not None}
    for kind, pictures in (("valley", figures.valleys(report)), ("theta", figures.trajectories(report))):
        found |= {f"{kind}-{cycle.replace(' ', '-')}": picture for cycle, picture in pictures.items()}
    return {f"plots/{name}.svg": standalone(picture) for name, picture in found.items()}


def standalone(picture: Picture) -> str:
    """Return a figure as a file, on white and with its caption as a title."""
    head, body = str(picture.svg).split(">", 1)
    box = re.search(r'viewBox="0 0 (?P<width>[\d.]+) (?P<height>[\d.]+)"', head)
    assert box is not None
    width, height = float(box["width"]), float(box["height"])
    wide, high = width + 2 * _MARGIN, height + 2 * _MARGIN
    view = f'viewBox="-{_MARGIN:g} -{_MARGIN:g} {wide:g} {high:g}"'
    paper = f'<rect class="paper" x="-{_MARGIN:g}" y="-{_MARGIN:g}" width="{wide:g}" height="{high:g}"/>'
    start = head.replace(box[0], view).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    size = f'width="{2 * wide:g}" height="{2 * high:g}"'
    return f"{start} {size}><style>{STYLE}{_OWN}</style>{paper}{body}"
