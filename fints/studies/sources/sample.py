"""The embedded sample: real log volume of two indices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fints.plan import Cycle, FrequencyPlan
from fints.studies.sources.drawn import Drawn

if TYPE_CHECKING:
    import pandas as pd

    from fints.plan import Clock

WEEK = 7.0
"""Calendar days. On the session clock holidays make it 252 / 52.18 sessions on average."""

SESSIONS_PER_DAY = 252 / 365.25


@cache
def sample_panel(target: str) -> pd.DataFrame:
    """Return a target of both indices as a panel without covariates and companions."""
    from fints.bars.sources.sample import sample_bars
    from fints.series import make_panel

    return make_panel(sample_bars(), target=target, features=False, companions=False)


@dataclass(frozen=True, slots=True)
class Sample:
    """Daily bars of the S&P 500 and the NASDAQ Composite, 1999 to 2018.

    The plan says the week and its harmonics of a half and a third, which are what daily bars show of it. The truth is
    what came. A seed changes nothing of the data: it decides the weights alone.

    Parameters
    ----------
    target : str
        A name of `fints.series.TARGETS`.
    """

    target: str = "log_volume"

    @property
    def version(self) -> str:
        """See `Source.version`."""
        from importlib.metadata import version

        return f"{self.target} of the embedded sample (package arch {version('arch')})"

    def settings(self) -> dict[str, object]:
        """See `Source.settings`: the content, so that another sample is other work."""
        return {"source": ["sample", self.target], "content": self.draw(0, 0).digest}

    def plan(self, clock: Clock) -> FrequencyPlan:
        """See `Source.plan`."""
        period = WEEK if clock == "calendar" else WEEK * SESSIONS_PER_DAY
        return FrequencyPlan((Cycle(period, clock, (1, 2) if clock == "session" else (1, 2, 3)),))

    def draw(self, n: int, seed: int) -> Drawn:  # noqa: ARG002 — real bars are what they are
        """Return all bars, whatever is asked for."""
        panel = sample_panel(self.target)
        return Drawn(panel, panel["y"].to_numpy(np.float64))
