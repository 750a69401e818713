"""The cycles of some series, found on demand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.errors import UnknownNameError
from fints.periods import detect_periods
from fints.plan import FrequencyPlan
from fints.report.periods import render_periods
from fints.series import make_panel, panel_problems
from pipelines.files import DIGITS, write_text
from pipelines.gathered import gather

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from fints.periods import Periods
    from fints.periods.search import Clocks
    from fints.series import SeriesProblem
    from fints.settings import NightlySettings, PeriodSettings
    from pipelines.asof import AsOf
    from pipelines.home import Home
    from pipelines.progress import Stages


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be searched.

    Parameters
    ----------
    symbols : sequence of str
        All of the settings if empty.
    target : str
    clock : {"both", "session", "calendar"}
    as_of : pandas.Timestamp, optional
        A naive date or an instant; everything known now by default.
    """

    symbols: Sequence[str]
    target: str
    clock: Clocks = "both"
    as_of: pd.Timestamp | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PeriodsOutcome:
    """What a search gave.

    Parameters
    ----------
    found : Periods
    plan : FrequencyPlan
        What the settings would make of it.
    page : pathlib.Path
    title : str
    notes : tuple of str
        About the as-of and the plan.
    problems : tuple of SeriesProblem
        Series left out or shortened, bars without a value of the target.
    """

    found: Periods
    plan: FrequencyPlan
    page: Path
    title: str
    notes: tuple[str, ...]
    problems: tuple[SeriesProblem, ...]

    def to_json(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "lines": json.loads(self.found.to_frame().to_json(orient="records", double_precision=DIGITS)),
            "plan": self.plan.to_dict()["cycles"],
            "problems": [{"unique_id": p.unique_id, "reason": p.reason, "left_out": p.left_out} for p in self.problems],
            "report": str(self.page),
        }


def find_periods(asked: Asked, settings: NightlySettings, home: Home, stages: Stages) -> PeriodsOutcome:
    """Fetch what is new, and search what was known at the as-of.

    Raises
    ------
    UnknownNameError
        If a symbol is neither stored nor listed by the source.
    FintsError
        If nothing can be searched.
    """
    chosen = settings.model_copy(update={"symbols": tuple(asked.symbols)}) if asked.symbols else settings
    with home.locked():
        gathered = gather(chosen, home, stages, asked.as_of)
        bars, as_of, held = gathered.bars, gathered.as_of, gathered.reading.symbols
        for symbol in asked.symbols:
            if symbol not in held:
                raise UnknownNameError("symbol", symbol, held)
        panel = make_panel(bars, asked.target, features=False, companions=False, known_at=as_of.known_at)
        with stages.stage(f"{asked.target}: cycles"):
            found = detect_periods(panel, clock=asked.clock, alpha=settings.periods.alpha)
        plan = _plan(found, settings.periods)
        title = f"Cycles in {asked.target} up to {as_of}"
        page = _page_path(home, asked, settings, as_of)
        write_text(page, render_periods(found, title, plan))
    problems = (*panel_problems(bars, asked.target), *found.problems)
    stated = settings.periods.cycles is not None
    fixed = ("A model takes the cycles of the settings (periods.cycles), whatever is found here.",) if stated else ()
    return PeriodsOutcome(found, plan, page, title, (*as_of.notes, *fixed), problems)


def _plan(found: Periods, periods: PeriodSettings) -> FrequencyPlan:
    """Return what the settings make of cycles that were found."""
    if periods.cycles is not None:
        return periods.stated_plan()
    return FrequencyPlan.from_detection(found, priors=periods.priors, alpha=periods.alpha, most=periods.most)


def _page_path(home: Home, asked: Asked, settings: NightlySettings, as_of: AsOf) -> Path:
    folder = home.reports / "periods"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{settings.dataset}-{settings.interval}-{asked.target}-{asked.clock}-{as_of}.html"
