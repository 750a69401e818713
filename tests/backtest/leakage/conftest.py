from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fints.bars.sources.sample import sample_bars

if TYPE_CHECKING:
    import pandas as pd


@pytest.fixture(scope="session")
def bars() -> pd.DataFrame:
    """Two real series over the summer and autumn of 2018."""
    whole = sample_bars()
    return whole[whole["session"] >= "2018-03-01"].reset_index(drop=True)
