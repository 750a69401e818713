"""How the surprises of series go together: which others a series listens to, and what it is told about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fints.series.asof import AsOf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fints.series.windows import Tape

    FloatArray = NDArray[np.float64]
    Links = Mapping[str, tuple["Link", ...]]

MOST_PEERS = 32
"""Other series that one listens to at most."""

_MOST_INSTANTS, _LEAST_PAIRS = 1000, 30


@dataclass(frozen=True, slots=True)
class Link:
    """One series seen from another.

    Parameters
    ----------
    peer : str
        Name of the series.
    lead : float
        Correlation of its latest surprise with the next one of the series that listens.
    same : float
        Correlation with the latest one of the series that listens.
    """

    peer: str
    lead: float
    same: float


def measure_links(tape: Tape, surprises: FloatArray, origins: NDArray[np.int64]) -> dict[str, tuple[Link, ...]]:
    """Measure what binds every series to the others, and keep its strongest links.

    Parameters
    ----------
    tape : Tape
    surprises : ndarray, shape (N,)
        Of every row; NaN where unknown.
    origins : ndarray of int64
        Of training windows. Nothing after the bars that follow them is read.
    """
    asof, ends, links = AsOf(tape), tape.clocks["seconds"], {}
    everyone = np.arange(len(tape.unique_ids))
    owners = tape.numbers(origins)
    for number in np.unique(owners):
        own = _thinned(origins[owners == number])
        rows = asof.rows(everyone[:, None], ends[own])
        fresh = (rows >= 0) & (ends[rows] > ends[own - 1])
        news = np.where(fresh, surprises[rows], np.nan)
        lead, same = (shrunk_correlations(news, surprises[own + step]) for step in (1, 0))
        strength = np.maximum(np.abs(lead), np.abs(same))
        order = np.argsort(-strength, kind="stable")
        links[tape.unique_ids[number]] = tuple(
            Link(tape.unique_ids[peer], float(lead[peer]), float(same[peer]))
            for peer in order[order != number][:MOST_PEERS]
        )
    return links


def shrunk_correlations(x: FloatArray, y: FloatArray) -> FloatArray:
    """Correlations of rows with a series, less what chance alone would give.

    Each is multiplied by ``max(0, 1 - 1 / (n r²))``, the positive-part rule of James and Stein (1961) with the variance
    ``1 / n`` that r has without a link.

    Parameters
    ----------
    x : ndarray, shape (S, n)
    y : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (S,)
        0 where fewer than 30 pairs are known or one side does not move.
    """
    both = np.isfinite(x) & np.isfinite(y)
    count = np.maximum(both.sum(axis=1), 1)
    dx, dy = (np.where(both, v - (np.where(both, v, 0).sum(axis=1) / count)[:, None], 0) for v in (x, y))
    power = (dx**2).sum(axis=1) * (dy**2).sum(axis=1)
    r = (dx * dy).sum(axis=1) / np.sqrt(np.where(power > 0, power, np.inf))
    certain: FloatArray = r * np.maximum(0, 1 - 1 / np.maximum(count * r**2, 1e-12))
    return np.where(count < _LEAST_PAIRS, 0.0, certain)


def links_to_plain(links: Links) -> dict[str, list[list[object]]]:
    """Return plain values that JSON holds exactly."""
    return {name: [[link.peer, link.lead, link.same] for link in own] for name, own in links.items()}


def links_from_plain(value: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, tuple[Link, ...]]:
    """Rebuild links from `links_to_plain`.

    Raises
    ------
    TypeError, ValueError
        If the values are not those that `links_to_plain` makes.
    """
    return {
        str(name): tuple(Link(str(peer), float(lead), float(same)) for peer, lead, same in own)
        for name, own in value.items()
    }


def _thinned(origins: NDArray[np.int64]) -> NDArray[np.int64]:
    """At most `_MOST_INSTANTS` of the origins; drawn, as even steps could always meet the same time of day."""
    if len(origins) <= _MOST_INSTANTS:
        return origins
    return np.sort(np.random.default_rng(0).choice(origins, _MOST_INSTANTS, replace=False))
