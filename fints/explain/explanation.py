"""An explanation of a fitted model and of one of its forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fints.explain.attention import look
from fints.explain.coalition import Ablation
from fints.explain.decomposition import decompose
from fints.explain.dividing import divide
from fints.explain.groups import MOST, groups_of
from fints.explain.history import History
from fints.transformer.training.windows import spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fints.explain.attention import Attention
    from fints.explain.decomposition import Decomposition
    from fints.explain.dividing import Progress
    from fints.explain.gain import Gain
    from fints.explain.groups import Group
    from fints.transformer import CycleTransformer

WINDOWS = 256
"""Forecasts that a gain is measured on, at most."""

LEARNED = 10_000
"""Windows that linear starts are estimated on, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """What a model does with each cycle, over many forecasts and in one.

    Parameters
    ----------
    groups : tuple of Group
        What is taken out together.
    gain : Gain
        Over many forecasts.
    forecast : Decomposition
        One.
    attention : Attention
    """

    groups: tuple[Group, ...]
    gain: Gain
    forecast: Decomposition
    attention: Attention


def explain(
    model: CycleTransformer,
    panel: pd.DataFrame,
    unique_id: str,
    *,
    known_at: str | pd.Timestamp | None = None,
    since: str | pd.Timestamp | None = None,
    progress: Progress | None = None,
) -> Explanation:
    """Explain a fitted model, and its forecast of one series from the end of a panel.

    Parameters
    ----------
    model : CycleTransformer
        Fitted.
    panel : pandas.DataFrame
        Schema ``panel``: the rows that it was fitted on, and later ones if there are any.
    unique_id : str
        Series whose forecast is divided.
    known_at : date or instant, optional
        The calendar as it was known then; see `fints.CycleTransformer.forecast`.
    since : date, optional
        Bars that the gain is measured on, from this one on. By default those of the validation tail and later ones,
        which the network's weights were not trained on.
    progress : callable, optional
        Called with the number of models that were evaluated, and with that of all.

    Raises
    ------
    NotFittedError
        Before `fit`.
    SchemaError, SeriesError
        If the panel is not one that the model was fitted on, or is too short.
    UnknownNameError
        If the panel has no such series.

    Examples
    --------
    >>> import fints
    >>> from fints.explain import explain
    >>> explain(fints.CycleTransformer(h=5, input_size=20), None, "^GSPC")
    Traceback (most recent call last):
    fints.errors.NotFittedError: CycleTransformer cannot be explained before it is fitted; call fit(panel), or load one
    """
    history = History.of(model, panel)
    groups = groups_in(history)
    as_it_is = Ablation.of(history, groups, history.learned(), history.fitted.start)
    forecast = decompose(as_it_is, unique_id, known_at=known_at)
    ablation, after = held_out(history, groups, since)
    gain = divide(ablation, after, WINDOWS, progress)
    return Explanation(groups, gain, forecast, look(history, groups, after))


def groups_in(history: History, most: int = MOST) -> tuple[Group, ...]:
    """Divide what a model knows of the calendar into so many groups at most; see `groups_of`."""
    fitted = history.fitted
    return groups_of(
        history.model.plan.cycles,
        fitted.calendar,
        fitted.networks[0].encoding,
        history.sessions_per_day,
        times_of_day=fitted.start.phase,
        most=most,
    )


def held_out(
    history: History,
    groups: tuple[Group, ...],
    since: str | pd.Timestamp | None = None,
    learned: int = LEARNED,
) -> tuple[Ablation, NDArray[np.int64]]:
    """Prepare to take groups out of a model, with starts that are estimated on earlier windows.

    Parameters
    ----------
    history : History
    groups : tuple of Group
    since : date, optional
        See `explain`.
    learned : int
        Windows that starts are estimated on, at most.

    Returns
    -------
    ablation : Ablation
    after : ndarray of int64
        Origins of the windows to look at.
    """
    before, after = history.divided(_moment(since))
    return Ablation.of(history, groups, spread(before, learned)), after


def _moment(since: str | pd.Timestamp | None) -> pd.Timestamp | None:
    return None if since is None else pd.Timestamp(since)
