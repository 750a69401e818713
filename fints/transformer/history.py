"""What a history has to be like for a model to learn or to forecast from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fints.errors import SchemaError, SeriesError
from fints.series import usable
from fints.series.covariates import CALENDAR_PREFIX
from fints.sessions import FEATURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fints.series import SeriesProblem
    from fints.transformer.design import Fitted


def require_continued(covariates: Sequence[str]) -> None:
    """Refuse covariates whose values over the horizon nothing can tell.

    Raises
    ------
    SchemaError
        Naming them.
    """
    own = [name for name in covariates if name.removeprefix(CALENDAR_PREFIX) not in FEATURES]
    if own:
        raise SchemaError(
            f"{', '.join(own)}: no calendar continues this over the bars to forecast (one that does is in "
            "fints.sessions.FEATURES); rename it past_… if it is known up to its own bar, or drop it"
        )


def require_interval(panel: pd.DataFrame, fitted: Fitted) -> None:
    """Refuse bars of another interval than the fitted ones.

    Raises
    ------
    SchemaError
        Naming both.
    """
    interval = str(panel["interval"].iloc[0])
    if interval != fitted.interval:
        raise SchemaError(
            f"the panel holds {interval} bars, and the model was fitted on {fitted.interval} ones; fit it on the former"
        )


def require_usable(panel: pd.DataFrame, length: int) -> None:
    """Refuse a panel with a series that cannot be used.

    Raises
    ------
    SeriesError
        With the reason for each.
    """
    _, problems = usable(panel, length)
    _refuse(problems)


def require_context(panel: pd.DataFrame, size: int) -> None:
    """Refuse a panel with a series from whose last rows nothing can be forecast; what lies before is not read.

    Raises
    ------
    SeriesError
        With the reason for each.
    """
    context = panel.groupby("unique_id", sort=False).tail(size).reset_index(drop=True)
    for least in (1, size):  # of a value that is missing it says so, and not that there are too few
        _, problems = usable(context, least, constant=True)
        _refuse(problems)


def _refuse(problems: Sequence[SeriesProblem]) -> None:
    if problems:
        reasons = [f"{problem.unique_id}: {problem.reason}" for problem in problems]
        raise SeriesError(
            f"{len(reasons)} series cannot be used; leave them out with fints.series.usable. " + "; ".join(reasons[:10])
        )
