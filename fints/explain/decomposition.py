"""One forecast as a sum: the linear start, each cycle, the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.errors import UnknownNameError
from fints.explain.coalition import Known
from fints.explain.gain import REST
from fints.explain.shapley import coalitions, shapley_weights
from fints.series import future_frame
from fints.transformer.asked import ask
from fints.transformer.forecaster import mean_of_quantiles

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fints.explain.coalition import Ablation
    from fints.series.windows import Windows
    from fints.transformer.peers.attention import PeerTokens

    FloatArray = NDArray[np.float64]

LEVEL, MEMORIES, COMPANIONS = "level of the context", "memories of the past", "companion series"


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One part of a forecast.

    Parameters
    ----------
    name : str
    start, network : ndarray, shape (h,)
        What it adds to the mean in the linear start, and in the network's correction of it.
    """

    name: str
    start: FloatArray
    network: FloatArray

    @property
    def total(self) -> FloatArray:
        """What it adds, shape (h,)."""
        return self.start + self.network


@dataclass(frozen=True, slots=True, eq=False)
class Decomposition:
    """The mean forecast of one series, divided.

    First come the parts of a HAR without a calendar: the mean of the context, and what its memories of the past add.
    Then what the companion series add in the linear start, each group of what is tied to a cycle or the calendar (its
    Shapley value, at every bar), and what the network adds that knows no cycle. The parts sum to the forecast.

    Parameters
    ----------
    unique_id : str
    future : pandas.DataFrame
        The bars: ``ds, step`` …
    terms : tuple of Term
    mean : ndarray, shape (h,)
        The forecast.
    """

    unique_id: str
    future: pd.DataFrame
    terms: tuple[Term, ...]
    mean: FloatArray

    def to_frame(self) -> pd.DataFrame:
        """Return ``ds, step, part, start, network, total``, one row for each bar and part."""
        import pandas as pd

        keys = self.future[["ds", "step"]].reset_index(drop=True)
        frames = [
            keys.assign(part=term.name, start=term.start, network=term.network, total=term.total) for term in self.terms
        ]
        return pd.concat(frames, ignore_index=True)


def decompose(
    ablation: Ablation,
    unique_id: str,
    *,
    at: str | pd.Timestamp | None = None,
    known_at: str | pd.Timestamp | None = None,
) -> Decomposition:
    """Divide the forecast that a model makes of a series from the end of the panel.

    Parameters
    ----------
    ablation : Ablation
        Of the model as it is: its whole start is the fitted one.
    unique_id : str
    at, known_at : optional
        See `fints.CycleTransformer.forecast`.

    Raises
    ------
    UnknownNameError
        If the panel has no such series.
    """
    history, size = ablation.history, ablation.history.model.design.input_size
    if unique_id not in history.tape.unique_ids:
        raise UnknownNameError("series", unique_id, history.tape.unique_ids)
    panel, fitted = history.panel, history.fitted
    if fitted.links is None:
        panel = panel[panel["unique_id"] == unique_id].reset_index(drop=True)
    future = future_frame(panel, history.model.h, known_at=known_at, start=at)
    asked = ask(fitted, panel, size, future, known_at)
    row = np.flatnonzero(asked.windows.unique_ids == unique_id)
    windows, peers = asked.windows.rows(row), asked.peers and asked.peers.rows(row)
    own = asked.future[asked.future["unique_id"] == unique_id].reset_index(drop=True)
    games = [Known(members) for members in coalitions(len(ablation.groups))]
    starts = np.stack([_start(ablation, windows, known) for known in games])
    means = np.stack([_mean(ablation, windows, peers, known) for known in games])
    har = _start(ablation, windows, Known(frozenset(), companions=False))
    terms = (*_har_terms(ablation, windows, har, starts[0]), *_group_terms(ablation, starts, means))
    return Decomposition(unique_id, own, terms, means[-1])


def _har_terms(ablation: Ablation, windows: Windows, har: FloatArray, start: FloatArray) -> list[Term]:
    nothing = np.zeros_like(har)
    level = np.full_like(har, windows.values[0, :, 0].mean()) if ablation.whole.anchor == "level" else nothing
    terms = [Term(LEVEL, level, nothing)] if level.any() else []
    if ablation.ground is not None:
        terms.append(Term(MEMORIES, har - level, nothing))
    return [*terms, Term(COMPANIONS, start - har, nothing)] if ablation.history.fitted.past else terms


def _group_terms(ablation: Ablation, starts: FloatArray, means: FloatArray) -> list[Term]:
    weights = shapley_weights(len(ablation.groups))
    of_start, whole = weights @ starts, weights @ means
    terms = [
        Term(group.name, own, both - own) for group, own, both in zip(ablation.groups, of_start, whole, strict=True)
    ]
    return [*terms, Term(REST, np.zeros_like(means[0]), means[0] - starts[0])]


def _start(ablation: Ablation, windows: Windows, known: Known) -> FloatArray:
    located = ablation.start(known).locate(ablation.seen(windows, known))
    forecast: FloatArray = (located.location * located.unit)[0]
    return forecast


def _mean(ablation: Ablation, windows: Windows, peers: PeerTokens | None, known: Known) -> FloatArray:
    return mean_of_quantiles(ablation.fitted(known).quantiles(ablation.seen(windows, known), peers)[0])
