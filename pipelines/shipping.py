"""The forecast of the model in use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from fints.baselines import HAR
from fints.champion import BASELINE
from fints.errors import ModelError
from pipelines.assembly import assemble
from pipelines.blend import Blend
from pipelines.excerpt import Excerpt
from pipelines.members import fit_members

if TYPE_CHECKING:
    from fints.forecast import Forecast
    from fints.settings import NightlySettings
    from fints.transformer import CycleTransformer
    from pipelines.asof import AsOf
    from pipelines.holdout import Holdout
    from pipelines.learning import Lesson
    from pipelines.shelf import Shelved


@dataclass(frozen=True, slots=True, eq=False)
class Used:
    """What a night ships.

    Parameters
    ----------
    version : str
    key : str
        Of the fit that is shown.
    fit : Shelved, optional
        With its bands as they stood last; None where the baseline is in use.
    shown : Shelved
        The fit whose plan and hold-out are shown.
    learnt : Lesson
        Rows that `shown` learned from.
    """

    version: str
    key: str
    fit: Shelved | None
    shown: Shelved
    learnt: Lesson

    @property
    def model(self) -> CycleTransformer | None:
        """Transformer that has a part in what is shipped."""
        return None if self.fit is None else self.fit.model

    @property
    def holdout(self) -> Holdout:
        """Hold-out of what is shown; how its bands held says nothing of the baseline's."""
        if self.fit is not None:
            return self.shown.holdout
        verdicts = self.shown.holdout.verdicts
        if self.shown.model is not None:
            whose = f"{self.shown.blend.name} ({self.key}), which is not in use"
            verdicts = (f"{BASELINE} is in use; what follows is the hold-out of {whose}.", *verdicts)
        return replace(self.shown.holdout, verdicts=verdicts, coverage=pd.DataFrame(), events=pd.DataFrame())


def ship(used: Used, panel: pd.DataFrame, settings: NightlySettings, as_of: AsOf) -> tuple[Forecast, Blend]:
    """Forecast with the model in use.

    Parameters
    ----------
    used : Used
    panel : pandas.DataFrame
        Up to the as-of.
    settings : NightlySettings
    as_of : AsOf

    Returns
    -------
    forecast : Forecast
    blend : Blend
        Without the members that failed.

    Raises
    ------
    ModelError
        If nothing could be fitted.
    """
    if used.fit is not None:
        shipped, blend = assemble(used.fit, used.learnt, panel, settings)
        return shipped.forecast(panel, known_at=as_of.known_at), blend
    names = frozenset(map(str, panel["unique_id"].unique()))
    found = fit_members([HAR(settings.h)], Excerpt.whole(panel), names)
    if not found.models:
        raise ModelError(f"{BASELINE}, which stands in for the champion, failed: {found.failures[BASELINE]}")
    able = found.series.get(BASELINE, names)
    rows = panel if able >= names else panel[panel["unique_id"].isin(able)].reset_index(drop=True)
    blend = Blend.untaught([BASELINE], settings.bands, panel["ds"].max())
    return found.models[0].forecast(rows, known_at=as_of.known_at), blend
