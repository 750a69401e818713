"""How long a fitted transformer takes to forecast many series."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from benchmarks.forecasters.judging import transformer

if TYPE_CHECKING:
    from benchmarks.forecasters.jobs import Job

SERIES, ROWS, H, CONTEXT, REPEATS = 500, 480, 20, 252, 5


def seconds(job: Job) -> pd.DataFrame:
    """Time `forecast` for 500 series and 20 sessions.

    Returns
    -------
    DataFrame
        One row per repeat: ``wall`` and ``cpu`` seconds of the whole call.
    """
    panel = many_series()
    few = panel["unique_id"].isin(panel["unique_id"].unique()[:20])
    model = transformer(job, H, CONTEXT).fit(panel[few].reset_index(drop=True))
    found = []
    for _ in range(REPEATS):
        wall, cpu = time.perf_counter(), time.process_time()
        model.forecast(panel)
        found.append({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu})
    return pd.DataFrame(found)


def many_series() -> pd.DataFrame:
    """Draw a panel of random series on one exchange, with calendar features and a companion."""
    from fints.series import add_features, validate_panel
    from fints.sessions import bar_grid, get_calendar

    days = bar_grid(get_calendar("XNYS"), "2021-01-04", "2023-12-29", "1d")["ds"].to_numpy()[-ROWS:]
    rng = np.random.default_rng(0)
    panel = pd.DataFrame(
        {
            "unique_id": np.repeat([f"S{i:03d}" for i in range(SERIES)], ROWS),
            "ds": np.tile(days, SERIES),
            "y": rng.standard_normal(SERIES * ROWS),
            "exchange": "XNYS",
            "interval": "1d",
            "past_log_range": rng.standard_normal(SERIES * ROWS),
        }
    )
    return add_features(validate_panel(panel))
