"""How much better a model is than a HAR that knows no calendar, and what carries that gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fints.explain.groups import Group
    from fints.explain.measured import Measured

REST = "everything else"
"""What the model does beyond HAR that is tied to no cycle and no calendar."""

HAR = "HAR without a calendar"
LEVEL = "the mean of the context"
ZERO = "zero"


@dataclass(frozen=True, slots=True)
class Part:
    """What one group does for the forecasts, in one loss.

    Parameters
    ----------
    name : str
    value : Measured
        What it takes off the loss, as a part of the reference's loss: its Shapley value.
    share : Measured
        The same as a part of the whole gain.
    without : Measured, optional
        What the model's loss grows by, as a part of it, when this group alone is taken out.
    still : Measured, optional
        What it grows by when the group's planes alone stand still; None where it has none.
    """

    name: str
    value: Measured
    share: Measured
    without: Measured | None = None
    still: Measured | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Gain:
    """What a model gains over a reference, divided among what is tied to each cycle and the rest.

    The reference is the model's own linear start without calendar, times of day and companions: a regression on means
    of the past over several memories, which is HAR without its hard edges. Where the regression was given up for its
    anchor, it is that anchor. The gain is the reference's loss less the model's. `REST` comes first: what the model
    gains when it knows no cycle and no calendar. What the groups add to that is divided by their Shapley values (see
    `fints.explain.shapley`), so that all parts sum to the gain.

    A group is taken out of everything that the model does: the covariates out of the linear start, which is estimated
    anew without them, and out of the network; the planes out of its attention. See `fints.explain.coalition.Ablation`.

    Parameters
    ----------
    reference : str
        What it is measured against: `HAR`, `LEVEL` or `ZERO`.
    groups : tuple of Group
    total : mapping of str to Measured
        The gain by loss, ``RMSE`` of the mean and ``CRPS``, as a part of the reference's loss.
    parts : mapping of str to tuple of Part
        By loss; the groups in their order, then `REST`.
    windows, blocks : int
        Forecasts measured on, and the blocks of dates that they begin in.
    first, last : pandas.Timestamp
        Bars that they are of.
    unseen : bool
        Whether the network's weights were trained on none of these bars. When to stop and how much of the network to
        keep was decided on them.
    """

    reference: str
    groups: tuple[Group, ...]
    total: Mapping[str, Measured]
    parts: Mapping[str, tuple[Part, ...]]
    windows: int
    blocks: int
    first: pd.Timestamp
    last: pd.Timestamp
    unseen: bool

    def found(self, loss: str = "RMSE") -> bool:
        """Whether there is a gain that is told from chance."""
        return self.total[loss].told and self.total[loss].value > 0

    def carried(self, number: int, loss: str = "RMSE") -> float:
        """Part of the gain that a group is told to carry; 0 where the gain or its part is not told from chance."""
        part = self.parts[loss][number]
        return part.share.value if self.found(loss) and part.value.told else 0.0
