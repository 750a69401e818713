"""A combination with adaptive bands on both protocols, put together as a night does it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pandas as pd

from benchmarks.forecasters.jobs import MEMBERS
from benchmarks.forecasters.judging import beside, reach, transformer
from fints.backtest.coverage import regimes
from fints.baselines import BASELINES
from fints.combination import Combination, Combined, ConformalForecaster, Scored, Tail, judged, learn
from fints.combination.combination import STRETCHES
from fints.conformal import walk
from fints.conformal.adaptive import Pace

if TYPE_CHECKING:
    from benchmarks.forecasters.jobs import Job
    from benchmarks.forecasters.protocol import Group, Trial

TAIL = Tail(origins=50, step_size=10)
HOURLY_H = 75
"""Bars to learn for where 70 are judged: a session that the data lack has seven."""


def judge_combination(job: Job, trial: Trial) -> pd.DataFrame:
    """Return one row per bar judged: forecast, bands and the regime of its window beside what came."""
    h = HOURLY_H if job.trial == "hourly" else trial.h + 1
    parts = []
    for group in trial.groups:
        model = _fitted(job, group, h, trial.input_size)
        rows = []
        for windows in group.origins():
            forecast = reach(model, trial.known(windows), windows)
            rows += [beside(forecast, window, group.name).assign(cutoff=window.last) for window in windows]
        found = pd.concat(rows, ignore_index=True)
        parts.append(found.merge(_regimes(trial.panel, found), on=["series", "cutoff"]))
    return pd.concat(parts, ignore_index=True)


def _fitted(job: Job, group: Group, h: int, input_size: int) -> ConformalForecaster:
    members = [transformer(job, h, input_size), *(BASELINES[name].build(h) for name in MEMBERS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tail = TAIL.forecast(group.train, members)
        learned = learn(Scored.of(tail.frame), STRETCHES)
        bands = walk(judged(tail.frame, learned), Pace()).bands
        kept = tuple(tail.models[name] for name in learned.weights.members)
        combined = Combined(kept, learned.weights, failures=dict(tail.failures)).refitted(group.train)
    print(f"{group.name}: {learned.weights}", flush=True)
    return ConformalForecaster.around(Combination.around(combined), bands, warm_up=input_size + 1)


def _regimes(panel: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    windows = found[["series", "cutoff"]].drop_duplicates().rename(columns={"series": "unique_id"})
    return regimes(panel, windows).rename(columns={"unique_id": "series"})
