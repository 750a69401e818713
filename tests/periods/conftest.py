from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

from fints.bars.sources.sample import sample_bars
from fints.periods.samples import Samples
from fints.series import make_panel
from fints.sessions import get_calendar


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
def as_samples() -> Callable[[np.ndarray], Samples]:
    """Values at consecutive sessions far from the clock's zero."""

    def make(value: np.ndarray) -> Samples:
        slot = np.arange(len(value))
        return Samples("A", "session", slot + 7000.0, np.asarray(value, dtype=float), slot, 1.0)

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
