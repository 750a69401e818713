"""How the model of a night did beside the baselines before it is used."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.backtest import cross_validation
from fints.backtest.folds import make_folds
from fints.baselines import HAR, Naive, SeasonalNaive
from fints.errors import DataError, PlanError, SeriesError
from fints.series import usable
from fints.sessions import parse_interval
from pipelines.files import DIGITS
from pipelines.model import find_plan, make_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from fints.settings import NightlySettings


@dataclass(frozen=True, slots=True, eq=False)
class Holdout:
    """How a model did beside the baselines before it was used.

    Parameters
    ----------
    leaderboard, by_step : pandas.DataFrame
        See `fints.backtest.CrossValidation`.
    verdicts : tuple of str
    """

    leaderboard: pd.DataFrame
    by_step: pd.DataFrame
    verdicts: tuple[str, ...]

    def to_json(self) -> str:
        """Write it as JSON text."""
        frames = {"leaderboard": self.leaderboard, "by_step": self.by_step}
        plain = {
            name: json.loads(frame.to_json(orient="split", index=False, double_precision=DIGITS))
            for name, frame in frames.items()
        }
        return json.dumps({**plain, "verdicts": list(self.verdicts)}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Holdout:
        """Read what `to_json` wrote."""
        value = json.loads(text)
        board, steps = (pd.DataFrame(**value[name]) for name in ("leaderboard", "by_step"))
        return cls(board, steps, tuple(value["verdicts"]))


def compare(panel: pd.DataFrame, settings: NightlySettings, progress: Callable[[int, int], None]) -> Holdout:
    """Compare the model with the baselines on the last windows; its plan comes from before them."""
    h, windows, step = _windows(settings)
    try:
        panel, training, left_out = comparable(panel, settings.input_size, h, windows, step)
        _, plan, _ = find_plan(training, settings)
        model = make_model(settings, plan)
        daily = parse_interval(settings.interval) is None
        baselines = [HAR(h), HAR(h, calendar=True), Naive(h), SeasonalNaive(h, season="week" if daily else "bar")]
        result = cross_validation(
            panel,
            [model, *baselines],
            h=h,
            n_windows=windows,
            step_size=step,
            progress=lambda _name, done, total: progress(done, total),
        )
    except (DataError, PlanError) as error:
        reason = f"The model could not be compared with the baselines: {error}."
        return Holdout(pd.DataFrame(), pd.DataFrame(), (reason,))
    verdicts = [result.verdict(model.name, other.name) for other in baselines[:3]]
    if left_out:
        verdicts.append(f"Too little history for the comparison: {', '.join(left_out)}.")
    return Holdout(result.leaderboard(), result.by_step(), tuple(verdicts))


def _windows(settings: NightlySettings) -> tuple[int, int, int]:
    """Bars ahead, number of windows, bars between them."""
    return settings.h, settings.holdout.n_windows, settings.holdout.step_size or settings.h


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
