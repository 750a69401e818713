"""Which rows a night's model learns from: a function of the data and the as-of, not of earlier nights."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.series import usable
from fints.sessions import get_calendar, session_ordinals

if TYPE_CHECKING:
    from fints.settings import NightlySettings

_DAY = pd.Timedelta(days=1)


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """The rows that a model learns from.

    Parameters
    ----------
    panel : pandas.DataFrame
    until : pandas.Timestamp
        Its last bar.
    """

    panel: pd.DataFrame
    until: pd.Timestamp

    @property
    def key(self) -> str:
        """Name of the rows: their last day, and a hash of all they hold."""
        content = hashlib.sha256(",".join(map(str, self.panel.columns)).encode())
        content.update(pd.util.hash_pandas_object(self.panel, index=False).to_numpy().tobytes())
        return f"{self.until:%Y-%m-%d}-{content.hexdigest()[:12]}"


@dataclass(frozen=True, slots=True, eq=False)
class InUse(Lesson):
    """The rows of a fit that is in use, as they are known now, under the name that they had when it learned from them.

    Parameters
    ----------
    named : str
        Restated since, they would have another name.
    """

    named: str = ""

    @property
    def key(self) -> str:
        """Name of the rows at that time."""
        return self.named


def lesson(panel: pd.DataFrame, settings: NightlySettings) -> Lesson:
    """Take the rows up to the last retraining session.

    Sessions are counted from 1970 on the exchange of the first series, and every `retrain_every`-th one is for
    retraining. So the nights between two of them share one model, whichever of them is run, in any order or home.

    Parameters
    ----------
    panel : pandas.DataFrame
        Usable series up to the as-of.
    settings : NightlySettings
        ``retrain_every`` and the length that a series needs; all rows are taken if no series has it by then.
    """
    calendar = get_calendar(str(panel["exchange"].iloc[0]))
    last = calendar.session_on_or_before(panel["ds"].max())
    age = int(session_ordinals(calendar, pd.DatetimeIndex([last]))[0]) % settings.retrain_every
    border = calendar.sessions(last - (2 * age + 15) * _DAY, last)[-1 - age]
    early = panel["ds"] < border + _DAY
    until = panel if early.all() else panel[early].reset_index(drop=True)
    rows, _ = usable(until, settings.input_size + settings.h)
    chosen = panel if rows.empty else rows
    return Lesson(chosen, pd.Timestamp(chosen["ds"].max()))
