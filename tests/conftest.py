"""What every test shares: quiet libraries, panels that are cheap to make."""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

os.environ.setdefault("GOMP_SPINCOUNT", "10000")

settings.register_profile("fints", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("fints")


@pytest.fixture(scope="session")
def daily_panel() -> pd.DataFrame:
    """Two short daily series with a weekly rhythm and noise, on real sessions."""
    from fints.series import add_features, validate_panel
    from fints.sessions import get_calendar

    sessions = get_calendar("XNYS").sessions("2015-01-02", "2016-12-30")
    rng = np.random.default_rng(7)
    parts = []
    for name, level in (("AAA", 10.0), ("BBB", 20.0)):
        y = level + 0.5 * (sessions.day_of_week == 4) + 0.1 * rng.standard_normal(len(sessions))
        parts.append(pd.DataFrame({"unique_id": name, "ds": sessions, "y": y}))
    return add_features(validate_panel(pd.concat(parts, ignore_index=True)), ["monday", "friday", "early_close"])
