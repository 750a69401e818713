import numpy as np
import pandas as pd

from fints.series import validate_panel
from fints.sessions import get_calendar


def panel(**stretches):
    """Series of noise, each from its first to its last date on its exchange."""
    parts = []
    for name, (exchange, first, last) in stretches.items():
        ds = get_calendar(exchange).sessions(first, last)
        y = np.random.default_rng(len(name)).normal(size=len(ds))
        parts.append(pd.DataFrame({"unique_id": name, "ds": ds, "y": y, "exchange": exchange, "interval": "1d"}))
    return validate_panel(pd.concat(parts, ignore_index=True))
