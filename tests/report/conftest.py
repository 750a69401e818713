from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from fints.forecast import QUANTILES, Forecast
from fints.periods import detect_periods
from fints.report import NightlyReport, TargetReport
from fints.sessions import get_calendar

HOSTILE = "<script>alert('x')</script>&\"'"
"""A symbol that is also an attack."""


def target_report(target: str = "log_volume", names: tuple[str, ...] = ("^GSPC", HOSTILE)) -> TargetReport:
    rng = np.random.default_rng(5)
    sessions = get_calendar("XNYS").sessions("2017-01-01", "2018-12-31")
    ahead = get_calendar("XNYS").next_sessions("2018-12-31", 3)
    level = {"log_volume": np.log(3.5e9), "log_range": np.log(0.008)}.get(target, 0.0)
    histories, forecasts = [], []
    fifth = 0.3 * np.cos(2 * np.pi * np.arange(len(sessions)) / 5)
    for name in names:
        y = level + fifth + 0.2 * rng.normal(size=len(sessions))
        histories.append(pd.DataFrame({"unique_id": name, "ds": sessions, "y": y}))
        middle = level + np.array([0.1, 0.2, -0.3])
        keys = pd.DataFrame({"unique_id": name, "ds": ahead, "step": [1, 2, 3]})
        forecasts.append(Forecast(keys, middle, middle[:, None] + 0.2 * norm.ppf(QUANTILES)).to_long())
    board = pd.DataFrame(
        {
            "model": ["Cycle", "HAR", "Naive"],
            "RMSE": [0.24, 0.26, 0.32],
            "MAE": [0.19, 0.18, 0.25],
            "MASE": [0.7, 0.75, 0.95],
            "CRPS": [0.14, 0.15, 0.25],
            "cov80": [0.84, 0.81, 0.7],
            "cov95": [0.93, 0.951, 0.9],
            "n": [100.0, 100.0, 100.0],
            "problem": ["", "", ""],
        }
    )
    failed = pd.DataFrame({"model": ["Broken"], "problem": ["TrainingError: <b>no</b> loss"]})
    steps = pd.DataFrame(
        {"model": np.repeat(["Cycle", HOSTILE], 3), "step": [1, 2, 3] * 2, "RMSE": np.linspace(0.2, 0.3, 6)}
    )
    plan = pd.DataFrame(
        {
            "period": [5.0, 252.0],
            "clock": ["session", "session"],
            "harmonics": ["1,2", "1"],
            "p_value": [1e-4, None],
            "origin": ["detected", "prior"],
            "reason": ["found in both series", "nothing significant near a year"],
        }
    )
    history = pd.concat(histories, ignore_index=True)
    return TargetReport(
        target=target,
        description="what it is",
        model="Cycle",
        history=history,
        forecast=pd.concat(forecasts, ignore_index=True),
        leaderboard=pd.concat([board, failed], ignore_index=True),
        by_step=steps,
        verdicts=(f"Cycle is better than HAR on {target}: RMSE 7.7 % lower.", "Cycle is better than Naive."),
        found=detect_periods(history, alpha=0.001),
        plan=plan,
        changes=("Since the night of 2018-12-28: new: 5 sessions.",),
    )


@pytest.fixture(scope="package")
def report() -> NightlyReport:
    findings = pd.DataFrame(
        {
            "symbol": ["^IXIC", "^GSPC", HOSTILE],
            "interval": "1d",
            "values": "{}",
            "session": pd.to_datetime(["2018-01-09", "2001-09-11", None]),
            "severity": ["suspect", "gap", "quarantine"],
            "kind": ["zero_volume", "missing_sessions", "duplicate"],
            "reason": ["the volume is zero", "no bar", "two rows"],
        }
    )
    problems = pd.DataFrame(
        {
            "unique_id": ["SHORT", "HOLED"],
            "target": ["log_volume", "log_volume"],
            "reason": ["12 values are fewer than 272", "2 of 500 bars left out"],
            "left_out": [True, False],
        }
    )
    return NightlyReport(
        as_of=pd.Timestamp("2018-12-31"),
        created_at=pd.Timestamp("2019-01-01 03:04", tz="UTC"),
        interval="1d",
        h=3,
        targets=(target_report("log_volume"), target_report("log_range")),
        findings=findings,
        problems=problems,
        facts={"Versions": {"fints": "0.1.0", "host": "<unknown>"}, "Durations": {"fit": "31 s"}},
        notes=("2019-01-01 is a closed day: 2018-12-31 is used.",),
    )
