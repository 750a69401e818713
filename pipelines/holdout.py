"""How the forecasters of a night did side by side before they are used."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest import cross_validation
from fints.backtest.coverage import coverage, coverage_by_regime, coverage_by_stretch
from fints.backtest.events import by_event
from fints.backtest.folds import make_folds
from fints.errors import DataError, PlanError, SeriesError
from fints.series import usable
from pipelines.blend import Blend, blend
from pipelines.files import DIGITS
from pipelines.members import compared, members
from pipelines.model import TRANSFORMER, find_plan, make_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from fints.backtest import CrossValidation
    from fints.settings import NightlySettings

HEADLINES = ("HAR", "HAR-calendar", "Naive")
"""Baselines that the verdicts are about."""


def _empty() -> pd.DataFrame:
    return pd.DataFrame()


@dataclass(frozen=True, slots=True, eq=False)
class Holdout:
    """How the forecasters of a night did side by side before they are used.

    Parameters
    ----------
    leaderboard, by_step : pandas.DataFrame
        See `fints.backtest.CrossValidation`.
    verdicts : tuple of str
    coverage : pandas.DataFrame
        ``by`` (step, series or regime), ``group``, ``cov80``, ``cov95``, ``n``: of the forecaster that is shipped.
    events : pandas.DataFrame
        Of the same; see `fints.backtest.events.by_event`.
    """

    leaderboard: pd.DataFrame
    by_step: pd.DataFrame
    verdicts: tuple[str, ...]
    coverage: pd.DataFrame = field(default_factory=_empty)
    events: pd.DataFrame = field(default_factory=_empty)

    def to_json(self) -> str:
        """Write it as JSON text."""
        plain = {
            part.name: json.loads(
                getattr(self, part.name).to_json(orient="split", index=False, double_precision=DIGITS)
            )
            for part in fields(self)
            if part.name != "verdicts"
        }
        return json.dumps({**plain, "verdicts": list(self.verdicts)}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Holdout:
        """Read what `to_json` wrote."""
        value = json.loads(text)
        frames = {part.name: pd.DataFrame(**value[part.name]) for part in fields(cls) if part.name != "verdicts"}
        return cls(verdicts=tuple(value["verdicts"]), **frames)


def compare(
    panel: pd.DataFrame, settings: NightlySettings, progress: Callable[[int, int], None]
) -> tuple[Holdout, Blend]:
    """Compare the forecasters on the last windows, and learn from them how to combine them.

    The transformer's plan comes from before the windows, and so does all that is fitted. What is shipped stands in the
    tables with weights and bands that each block of windows did not help to learn.

    Raises
    ------
    ModelError
        If every member of the night failed.
    """
    h, windows, step = _windows(settings)
    names = [TRANSFORMER, *(member.name for member in members(settings))]
    try:
        panel, training, left_out = comparable(panel, settings.input_size, h, windows, step)
        _, plan, _ = find_plan(training, settings)
        result = cross_validation(
            panel,
            [make_model(settings, plan), *compared(settings)],
            h=h,
            n_windows=windows,
            step_size=step,
            progress=lambda _name, done, total: progress(done, total),
        )
    except (DataError, PlanError) as error:
        reason = f"The models could not be compared: {error}."
        untaught = Blend.untaught(names, settings.bands, panel["ds"].max())
        return Holdout(pd.DataFrame(), pd.DataFrame(), (reason,)), untaught
    pace = settings.bands.pace if settings.bands.adaptive else None
    learned, rows = blend(result.frame, names, result.failures, pace)
    others = result.frame[result.frame["model"] != learned.name]
    result = replace(result, frame=pd.concat([rows, others], ignore_index=True))
    return _judged(result, learned.name, panel, left_out), learned


def _judged(result: CrossValidation, name: str, panel: pd.DataFrame, left_out: list[str]) -> Holdout:
    verdicts = [result.verdict(name, other) for other in (*HEADLINES, TRANSFORMER) if other != name]
    if left_out:
        verdicts.append(f"Too little history for the comparison: {', '.join(left_out)}.")
    rows = result.shared()
    events = by_event(rows[rows["model"] == name].reset_index(drop=True), panel)
    return Holdout(
        result.leaderboard(),
        result.by_step(),
        tuple(verdicts),
        _coverage(result, name, panel),
        events.drop(columns="model"),
    )


def _coverage(result: CrossValidation, name: str, panel: pd.DataFrame) -> pd.DataFrame:
    tables = {
        "horizon": coverage_by_stretch(result).rename(columns={"steps": "group"}),
        "series": coverage(result, "unique_id").rename(columns={"unique_id": "group"}),
        "regime": coverage_by_regime(result, panel).rename(columns={"regime": "group"}),
    }
    parts = [table[table["model"] == name].assign(by=by) for by, table in tables.items()]
    return pd.concat(parts, ignore_index=True)[["by", "group", "cov80", "cov95", "n"]]


def _windows(settings: NightlySettings) -> tuple[int, int, int]:
    """Bars ahead, number of windows, bars between them."""
    return settings.h, settings.holdout.n_windows, settings.holdout.step_size or max(1, settings.h // 2)


def comparable(
    panel: pd.DataFrame, input_size: int, h: int, windows: int, step: int
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Keep the series that a model can learn from before the first of some windows.

    Parameters
    ----------
    panel : pandas.DataFrame
    input_size : int
        Bars that a model looks back.
    h : int
        Bars ahead.
    windows, step : int
        Number of windows, and bars between them.

    Returns
    -------
    panel, training : pandas.DataFrame
        The series, and their rows up to the first cutoff.
    left_out : list of str

    Raises
    ------
    SeriesError
        If none is left.
    """
    named = panel["unique_id"].unique()
    kept, short = usable(panel, input_size + 2 * h + (windows - 1) * step)
    while len(kept):
        folds = make_folds(kept, h, windows, step)
        training = folds.training(kept, folds.cutoffs[0])
        learnable, short = usable(training, input_size + h)
        names = learnable["unique_id"].unique()
        if len(names) == kept["unique_id"].nunique():
            return kept, training, [str(name) for name in named if name not in set(names)]
        # without them the cutoffs may move, so the others are looked at again
        kept = kept[kept["unique_id"].isin(names)].reset_index(drop=True)
    raise SeriesError("; ".join(map(str, short)))
