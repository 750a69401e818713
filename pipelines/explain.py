"""Why a forecast is what it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from fints.champion import BASELINE, standing
from fints.errors import SeriesError, UnknownNameError
from fints.explain import explain
from fints.report.explain import ExplainReport, explanation_json, render_explanation
from fints.series import get_target, make_panel, panel_problems, usable, within_reach
from pipelines.files import write_text
from pipelines.gathered import gather
from pipelines.learning import InUse, lesson
from pipelines.model import find_plan, make_model
from pipelines.shelf import Shelf
from pipelines.succession import Succession

if TYPE_CHECKING:
    from pathlib import Path

    from fints.settings import NightlySettings
    from fints.transformer import CycleTransformer
    from pipelines.asof import AsOf
    from pipelines.blend import Blend
    from pipelines.home import Home
    from pipelines.learning import Lesson
    from pipelines.progress import Stages


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be explained.

    Parameters
    ----------
    symbol : str
    target : str
    as_of : pandas.Timestamp, optional
        A naive date or an instant; everything known now by default.
    """

    symbol: str
    target: str
    as_of: pd.Timestamp | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """What is known of a forecast.

    Parameters
    ----------
    report : ExplainReport
    page : pathlib.Path
    """

    report: ExplainReport
    page: Path

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {**explanation_json(self.report), "report": str(self.page)}


@dataclass(slots=True)
class Found:
    """A fitted model, and what has to be said of it.

    Parameters
    ----------
    model : CycleTransformer
    notes : list of str
    """

    model: CycleTransformer
    notes: list[str] = field(default_factory=list)


def run_explain(asked: Asked, settings: NightlySettings, home: Home, stages: Stages) -> Explained:
    """Explain the forecast that a night makes of a symbol.

    The model is the one that the night keeps; where there is none, it is fitted as the night would, and not kept.

    Parameters
    ----------
    asked : Asked
    settings : NightlySettings
    home : Home
    stages : Stages

    Raises
    ------
    UnknownNameError
        If the target does not exist, or the symbol is not one of the settings, naming those.
    FintsError
        If there is nothing to explain.
    """
    get_target(asked.target)
    with home.locked():
        gathered = gather(settings, home, stages, asked.as_of)
        if asked.symbol not in gathered.reading.symbols:
            raise UnknownNameError("symbol", asked.symbol, gathered.reading.symbols)
        as_of = gathered.as_of
        panel = _panel(gathered.bars, asked, settings, as_of)
        learnt = lesson(panel, settings)
        shelf = Shelf.under(home.models, settings.dataset, asked.target, settings.digest)
        learnt, said = _in_use(learnt, shelf, settings, home, (asked.target, as_of))
        found = _model(learnt, shelf, settings, asked.target, stages)
        known = panel["unique_id"].isin([*learnt.panel["unique_id"].unique(), asked.symbol])
        with stages.stage(f"{asked.symbol}, {asked.target}: explain") as stage:
            explanation = explain(
                found.model,
                panel[known].reset_index(drop=True),
                asked.symbol,
                known_at=as_of.known_at,
                progress=stage,
            )
        notes = (*as_of.notes, *_ended(panel, asked.symbol, as_of), *said, *found.notes)
        report = ExplainReport(explanation, asked.target, str(as_of), found.model.name, notes)
        page = _page_path(home, asked, settings, as_of)
        write_text(page, render_explanation(report))
    return Explained(report, page)


def _panel(bars: pd.DataFrame, asked: Asked, settings: NightlySettings, as_of: AsOf) -> pd.DataFrame:
    panel = make_panel(bars, asked.target, known_at=as_of.known_at)
    panel, unusable = usable(panel, settings.input_size + settings.h)
    panel, undated = within_reach(panel, settings.h)
    if asked.symbol not in set(panel["unique_id"]):
        reasons = [p for p in (*panel_problems(bars, asked.target), *unusable, *undated) if p.unique_id == asked.symbol]
        raise SeriesError(f"{asked.symbol} has no forecast of {asked.target}: " + "; ".join(map(str, reasons)))
    return panel


def _in_use(
    learnt: Lesson, shelf: Shelf, settings: NightlySettings, home: Home, which: tuple[str, AsOf]
) -> tuple[Lesson, tuple[str, ...]]:
    """Return the rows of the fit in use at the as-of, by the book, and what has to be said of it.

    They are those of the newest fit where the book names none.
    """
    target, as_of = which
    book = Succession.book_under(home.models, (settings.dataset, settings.interval, target))
    bound = [one for one in book.read() if one.as_of <= as_of.stamp] if settings.champion.enabled else []
    state = standing(bound, shelf.folder.name)
    fitted = [] if state is None else [seat for seat in (state.champion, *state.seats) if not seat.is_baseline]
    for seat in fitted[:1]:
        until = pd.Timestamp(seat.until)
        if shelf.find(seat.key) is not None:
            other = state is not None and state.champion.is_baseline
            said = (f"The night uses {BASELINE}; explained is {seat}, which is not in use.",) if other else ()
            return InUse(learnt.source, until, learnt.min_length, seat.key), said
    return learnt, ()


def _model(learnt: Lesson, shelf: Shelf, settings: NightlySettings, target: str, stages: Stages) -> Found:
    """Take the model of the night, or fit one as the night would."""
    shelved = shelf.find(learnt.key)
    if shelved is not None and shelved.model is not None:
        return Found(shelved.model, [part_in(shelved.blend, shelved.model.name)])
    with stages.stage(f"{target}: cycles"):
        _, plan, notes = find_plan(learnt.panel, settings)
    with stages.stage(f"{target}: fit") as stage:
        model = make_model(settings, plan).fit(learnt.panel, progress=stage)
    own = "No night of these settings keeps a model for this date: this one was fitted as a night would, and not kept."
    return Found(model, [*notes, own])


def part_in(blend: Blend, name: str) -> str:
    """Say what part a model has in what the night ships.

    Parameters
    ----------
    blend : Blend
    name : str
        Of the model.
    """
    frame = blend.weights.to_frame()
    own = frame[frame["member"] == name]
    if own.empty:
        return f"The night ships {blend.name}, in which this model has no part."
    if len(blend.weights.members) == 1:
        return f"The night ships this model alone ({blend.name})."
    said = [
        f"{100 * weight:.0f} % " + (f"from bar {first} on" if pd.isna(last) else f"for bars {first} to {last}")
        for first, last, weight in zip(own["first"], own["last"], own["weight"], strict=True)
    ]
    others = ", ".join(member for member in blend.weights.members if member != name)
    return f"The night ships {blend.name}, an average with {others}: the weight of this model is {' and '.join(said)}."


def _ended(panel: pd.DataFrame, symbol: str, as_of: AsOf) -> tuple[str, ...]:
    rows = panel[panel["unique_id"] == symbol]
    last, due = rows["ds"].iloc[-1], as_of.due(str(rows["exchange"].iloc[0]))
    if last.normalize() >= due:
        return ()
    return (f"The last bar of {symbol} is of {last:%Y-%m-%d}, before the session of {due:%Y-%m-%d}.",)


def _page_path(home: Home, asked: Asked, settings: NightlySettings, as_of: AsOf) -> Path:
    folder = home.reports / "explain"
    folder.mkdir(parents=True, exist_ok=True)
    symbol = "".join(letter if letter.isalnum() or letter in "^.-=" else "_" for letter in asked.symbol)
    return folder / f"{settings.dataset}-{settings.interval}-{symbol}-{asked.target}-{as_of}.html"
