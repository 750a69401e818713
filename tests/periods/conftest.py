from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

from fints.bars.sources.sample import sample_bars
from fints.periods.samples import Samples
from fints.series import make_panel
from fints.sessions import get_calendar

EPOCH = pd.Timestamp("1970-01-01")


@pytest.fixture(scope="session")
def sample_panel() -> Callable[[str], pd.DataFrame]:
    bars = sample_bars()
    return lambda target: make_panel(bars, target, features=False, companions=False)


@pytest.fixture(scope="session")
def red_noise() -> Callable[..., np.ndarray]:
    """AR(1) noise of innovation variance 1 after its start has been forgotten."""

    def make(n: int, phi: float, rng: np.random.Generator) -> np.ndarray:
        return lfilter([1.0], [1.0, -phi], rng.standard_normal(n + 500))[500:]

    return make


@pytest.fixture(scope="session")
def civil_days() -> Callable[[int], np.ndarray]:
    """Civil days since 1970 of consecutive New York sessions from 2000 on: weekends and holidays left out."""
    days = (get_calendar("XNYS").next_sessions("1999-12-31", 6000) - EPOCH).days.to_numpy(dtype=float)
    return lambda n: days[:n].copy()


@pytest.fixture(scope="session")
def as_samples(civil_days) -> Callable[[np.ndarray], Samples]:
    """Values at consecutive sessions far from either clock's zero."""

    def make(value: np.ndarray) -> Samples:
        slot = np.arange(len(value))
        return Samples("A", slot + 7570.0, civil_days(len(value)), np.asarray(value, dtype=float), slot, 1.0)

    return make


@pytest.fixture(scope="session")
def as_panel() -> Callable[..., pd.DataFrame]:
    """Bare daily panel of named series on New York sessions from 2000 on."""

    def make(**series: np.ndarray) -> pd.DataFrame:
        longest = max(map(len, series.values()))
        days = get_calendar("XNYS").next_sessions("1999-12-31", longest)
        parts = [pd.DataFrame({"unique_id": uid, "ds": days[: len(y)], "y": y}) for uid, y in series.items()]
        return pd.concat(parts, ignore_index=True)

    return make
