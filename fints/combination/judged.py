"""A combination beside its members, on the forecasts that its weights were learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fints.combination.scored import ORDER
from fints.forecast import QUANTILE_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

    from fints.combination.learning import Learned


def judged(frame: pd.DataFrame, learned: Learned, name: str = "Combination") -> pd.DataFrame:
    """Make the rows of a combination as if it had taken part in a comparison.

    Each block of time is forecast with weights learned from the other blocks, so that its scores stand beside those of
    the members without an advantage.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows of the members that the weights were learned from; other models' are passed over.
    learned : Learned
    name : str
        Under which it stands in tables.

    Returns
    -------
    pandas.DataFrame
        Columns of `frame`.
    """
    members = learned.weights.members
    parts = [frame[frame["model"] == member].sort_values(ORDER, kind="stable") for member in members]
    rows = parts[0].assign(model=name).reset_index(drop=True)
    means = np.stack([part["mean"].to_numpy(float) for part in parts], axis=1)
    rows["mean"] = (learned.shares * means).sum(axis=1)
    rows[list(QUANTILE_COLUMNS)] = learned.out_of_block
    return rows
