"""Series of a panel in batches, each small enough to be sent to a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import SeriesError
from fints.periods.cleaning import cleaned
from fints.periods.effects import effect_columns
from fints.periods.samples import BarPlaces, make_samples
from fints.series import located

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from fints.periods.samples import Samples

    FloatArray = NDArray[np.float64]

_MOST = 16


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some series on the bars of one exchange; what they share is held once.

    Parameters
    ----------
    at : BarPlaces
        Where the n bars stand.
    effects : numpy.ndarray, shape (n, k), optional
        One-off effects of the bars.
    bars : mapping of str to numpy.ndarray
        Which bars each series has.
    values : mapping of str to numpy.ndarray
        Its values there.
    """

    at: BarPlaces
    effects: FloatArray | None
    bars: dict[str, NDArray[np.intp]]
    values: dict[str, FloatArray]

    def series(self) -> Iterator[tuple[str, tuple[Samples, FloatArray] | SeriesError]]:
        """Each with one-off effects, outliers and shifts taken out, and what was, or why there is nothing to search."""
        for uid, bars in self.bars.items():
            try:
                samples, used = make_samples(uid, self.at.take(bars), self.values[uid])
            except SeriesError as error:
                yield uid, error
            else:
                yield uid, cleaned(samples, None if self.effects is None else self.effects[bars][used])


def batches(panel: pd.DataFrame, *, effects: bool) -> list[Batch]:
    """Divide a valid panel.

    Parameters
    ----------
    panel : pandas.DataFrame
        Sorted, as :func:`fints.series.validate_panel` leaves it.
    effects : bool
        Whether one-off effects of the calendar are to be taken out.
    """
    names, values = panel["unique_id"].to_numpy(), panel["y"].to_numpy(dtype=np.float64)
    found = []
    for part in located(panel):
        at = BarPlaces.of(part.bars, part.calendar)
        columns = effect_columns(part.bars, part.calendar) if effects else None
        own = names[part.rows]
        starts = np.flatnonzero(np.r_[True, own[1:] != own[:-1]])
        rows = {str(own[one[0]]): one for one in np.split(np.arange(len(own)), starts[1:])}
        uids = list(rows)
        for some in (uids[k : k + _MOST] for k in range(0, len(uids), _MOST)):
            bars = {uid: part.bar_of_row[rows[uid]] for uid in some}
            found.append(Batch(at, columns, bars, {uid: values[part.rows[rows[uid]]] for uid in some}))
    return found
