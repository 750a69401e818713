"""References that do not go through fints: exchange-calendars asked directly, and days known by hand."""

import warnings

import pandas as pd
import pytest


def reference_schedule(mic: str, start: str, end: str) -> pd.DataFrame:
    """Schedule of exchange-calendars itself; its own deprecation warnings are not ours to raise."""
    import exchange_calendars

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return exchange_calendars.get_calendar(mic, start=start, end=end).schedule


@pytest.fixture(scope="session")
def reference():
    return reference_schedule
