"""Which rows a night's model learns from: a function of the data and the as-of, not of earlier nights."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from fints.series.problems import usable_rows
from fints.sessions import get_calendar, session_ordinals
from pipelines.excerpt import Excerpt

if TYPE_CHECKING:
    from fints.settings import NightlySettings

_DAY = pd.Timedelta(days=1)
_JUDGED = ["unique_id", "ds", "y"]  # columns by which rows are usable or not


@dataclass(frozen=True, eq=False)
class Lesson:
    """The rows that a model learns from: those of a panel up to a bar, of the series that had come far enough by then.

    Rows are cut when they are asked for, and not kept: of many series they are as large as the panel.

    Parameters
    ----------
    source : pandas.DataFrame
        Usable series.
    until : pandas.Timestamp
        Last bar.
    min_length : int
        Bars that a series needs; where none has them, all rows count.
    """

    source: pd.DataFrame
    until: pd.Timestamp
    min_length: int

    @cached_property
    def excerpt(self) -> Excerpt:
        """The rows, where they lie in the panel."""
        early = Excerpt.until(self.source, self.until)
        kept, _ = usable_rows(self.source[_JUDGED][early.chosen], self.min_length)
        if not kept.any():
            return early
        chosen = early.chosen.copy()
        chosen[early.chosen] = kept
        return Excerpt(self.source, chosen)

    @property
    def panel(self) -> pd.DataFrame:
        """The rows."""
        return self.excerpt.cut()

    @cached_property
    def key(self) -> str:
        """Name of the rows: their last day, and a hash of all they hold."""
        rows = self.excerpt
        content = hashlib.sha256(",".join(rows.columns).encode())
        for part in rows.hashed():
            content.update(part)
        return f"{self.until:%Y-%m-%d}-{content.hexdigest()[:12]}"


@dataclass(frozen=True, eq=False)
class InUse(Lesson):
    """The rows of a fit that is in use, as they are known now, under the name that they had when it learned from them.

    Parameters
    ----------
    named : str
        Restated since, they would have another name.
    """

    named: str = ""

    @cached_property
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
    length = settings.input_size + settings.h
    rows = panel[_JUDGED][panel["ds"] < border + _DAY]
    kept, _ = usable_rows(rows, length)
    until = rows["ds"][kept].max() if kept.any() else panel["ds"].max()
    return Lesson(panel, pd.Timestamp(until), length)
