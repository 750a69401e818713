from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fints.sessions import get_calendar


@pytest.fixture(scope="package")
def panel() -> pd.DataFrame:
    """Two persistent series on real sessions up to the end of 2018."""
    rng = np.random.default_rng(11)
    sessions = get_calendar("XNYS").sessions("2017-01-01", "2018-12-31")
    parts = []
    for name, scale in (("A", 1.0), ("B", 3.0)):
        noise = rng.normal(size=len(sessions) + 100)
        y = scale * np.convolve(noise, 0.9 ** np.arange(100), mode="valid")[: len(sessions)]
        parts.append(pd.DataFrame({"unique_id": name, "ds": sessions, "y": y, "exchange": "XNYS", "interval": "1d"}))
    return pd.concat(parts, ignore_index=True)
