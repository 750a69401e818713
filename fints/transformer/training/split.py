"""Training and validation windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import SeriesError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.transformer.training.windows import TrainingWindows


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Training and validation windows, in time order with a purge between them.

    Parameters
    ----------
    train, validation : ndarray of int64
        Origins on the tape.
    """

    train: NDArray[np.int64]
    validation: NDArray[np.int64]

    @classmethod
    def by_time(cls, windows: TrainingWindows, share: float) -> Split:
        """Give the last windows of the panel to validation.

        One date divides all series: validation targets lie after it, training targets up to it, windows whose targets
        straddle it are dropped. So no series' validation period is seen through another one.

        Parameters
        ----------
        windows : TrainingWindows
        share : float
            Of the windows, for validation.

        Raises
        ------
        SeriesError
            If no window is left on one side.
        """
        origins, ds, h = windows.origins(), windows.tape.ds, windows.h
        length = f"input_size={windows.input_size} and h={h}"
        if len(origins) == 0:
            raise SeriesError(
                f"no series has the {windows.input_size + h} bars that one window of {length} takes; "
                "give longer series or ask for less"
            )
        last_target = ds[origins + h]
        rank = int(len(origins) * (1 - share))
        border = np.partition(last_target, rank)[rank]
        split = cls(origins[last_target < border], origins[ds[origins + 1] >= border])
        if min(len(split.train), len(split.validation)) == 0:
            raise SeriesError(
                f"{len(origins)} windows of {length} do not divide into training and validation; "
                "give longer series, a shorter horizon, or another validation_share"
            )
        return split
