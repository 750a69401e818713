"""The clock that a night goes by."""

from __future__ import annotations

import pandas as pd


def now() -> pd.Timestamp:
    """Return the instant in UTC, in whole microseconds: as it is kept in the store."""
    return pd.Timestamp.now("UTC").floor("us")
