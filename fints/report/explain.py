"""The page that explains a forecast, and the same in a terminal."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from markupsafe import Markup

from fints.explain import Measured, sentences
from fints.report.explain_figures import attention_drawings, forecast_drawing, gain_drawing
from fints.report.explain_tables import forecast_table, gain_table, told
from fints.report.pages import asset, template
from fints.report.units import unit_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fints.explain import Explanation
    from fints.report.tables import Table


@dataclass(frozen=True, slots=True, eq=False)
class ExplainReport:
    """What is shown of an explanation.

    Parameters
    ----------
    explanation : Explanation
    target : str
    as_of : str
        As it is written.
    model : str
        Name of the model that is explained.
    notes : tuple of str
        What has to be said beside it: where the model comes from, and what part it has in what is shipped.
    """

    explanation: Explanation
    target: str
    as_of: str
    model: str
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What is explained."""
        return f"{self.explanation.forecast.unique_id}: why this forecast of {self.target}, as of {self.as_of}"

    @property
    def ratio(self) -> bool:
        """Whether parts are shown as changes in percent."""
        return unit_of(self.target).ratio

    @property
    def sentences(self) -> tuple[str, ...]:
        """The explanation in words, that of the forecast first."""
        return (told(self.explanation.forecast, self.target), *sentences(self.explanation))

    @property
    def legend(self) -> str:
        """What the numbers mean."""
        gain = self.explanation.gain
        unseen = (
            "bars that no weight of the network was trained on, though when to stop and how much of it to keep was "
            "decided there"
            if gain.unseen
            else "bars some of which the weights were trained on"
        )
        return (
            f"Measured on {unseen}; the linear start was estimated before them. ± is one standard error, from "
            f"{gain.blocks} blocks of dates that hardly overlap. Each part is a Shapley value: what it adds on average "
            "over all orders of adding the parts. A cycle that is taken out loses its planes in the attention, and its "
            "calendar terms in network and linear start, which is estimated anew without them."
        )


def render_explanation(report: ExplainReport) -> str:
    """Write the page of an explanation.

    Parameters
    ----------
    report : ExplainReport
        Names in it are data: they are escaped.

    Returns
    -------
    str
        A self-contained HTML page that fetches nothing.
    """
    from plotly.offline import get_plotlyjs

    explanation = report.explanation
    return template("explain.html.j2").render(
        report=report,
        forecast=(
            forecast_table(explanation.forecast, report.target),
            forecast_drawing(explanation.forecast, report.target),
        ),
        gain=(gain_table(explanation.gain), gain_drawing(explanation.gain)),
        attention=attention_drawings(explanation.attention),
        plotlyjs=Markup(get_plotlyjs()),
        style=asset("nightly.css"),
        script=asset("nightly.js"),
    )


def explanation_table(report: ExplainReport) -> RenderableType:
    """Lay an explanation out for a terminal.

    Returns
    -------
    rich renderable
        The forecast divided, the gain divided, and both in words.
    """
    from rich.console import Group
    from rich.text import Text

    explanation = report.explanation
    return Group(
        Text(report.title, style="bold"),
        *(Text(note, style="dim") for note in report.notes),
        Text(""),
        _grid(forecast_table(explanation.forecast, report.target)),
        _grid(gain_table(explanation.gain)),
        *(Text(f"- {sentence}") for sentence in report.sentences),
        Text(""),
        Text(report.legend, style="dim"),
    )


def _grid(content: Table) -> RenderableType:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(
        title=Text(content.caption, style="bold"), title_justify="left", header_style="dim", box=box.SIMPLE_HEAD
    )
    for name, number in zip(content.columns, content.numeric, strict=True):
        grid.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    for row in content.rows:
        grid.add_row(*(Text(cell.text, style="bold" if cell.strong else "") for cell in row))
    return grid


def explanation_json(report: ExplainReport) -> dict[str, object]:
    """Return plain values for machines; a number that is not finite is None."""
    explanation, gain = report.explanation, report.explanation.gain
    terms = json.loads(
        explanation.forecast.to_frame().to_json(orient="records", double_precision=15, date_format="iso")
    )
    return {
        "series": explanation.forecast.unique_id,
        "target": report.target,
        "as_of": report.as_of,
        "model": report.model,
        "sentences": list(report.sentences),
        "notes": list(report.notes),
        "groups": [
            {"name": group.name, "cycles": list(map(str, group.cycles)), "columns": list(group.columns)}
            | {"planes": group.planes, "times_of_day": group.times_of_day}
            for group in explanation.groups
        ],
        "gain": {
            "reference": gain.reference,
            "windows": gain.windows,
            "blocks": gain.blocks,
            "first": str(gain.first),
            "last": str(gain.last),
            "unseen": gain.unseen,
            "losses": {loss: _loss_json(explanation, loss) for loss in gain.total},
        },
        "forecast": terms,
        "mean": [float(value) for value in explanation.forecast.mean],
    }


def _loss_json(explanation: Explanation, loss: str) -> dict[str, object]:
    gain = explanation.gain
    rows = [
        {"part": part.name}
        | {name: _number_json(getattr(part, name)) for name in ("value", "share", "without", "still")}
        for part in gain.parts[loss]
    ]
    carried = {group.name: gain.carried(number, loss) for number, group in enumerate(gain.groups)}
    return {"total": _number_json(gain.total[loss]), "parts": rows, "carried": carried}


def _number_json(number: object) -> dict[str, float | None] | None:
    if not isinstance(number, Measured):
        return None
    return {
        name: value if isfinite(value) else None for name, value in (("value", number.value), ("error", number.error))
    }
