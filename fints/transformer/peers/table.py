"""From a tape to what every window knows of the other series."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch

from fints.series.asof import AsOf
from fints.transformer.peers.attention import PeerTokens
from fints.transformer.peers.links import measure_links
from fints.transformer.peers.states import measurable, row_states, state_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fints.series.windows import Tape
    from fints.transformer.peers.links import Links
    from fints.transformer.start import LinearStart

_BESIDE_THE_STATE = 4
"""Features of a token that its state does not have: the expected effect of the news, its age, and the link."""

_LONG = 5.0
"""Logarithm of about six days' hours."""


@dataclass(frozen=True, slots=True, eq=False)
class PeerRows:
    """Finds the bars of other series that a window knows.

    A series listens to those that it has links to and that are on the tape; one without links, because it was not
    trained on, listens to none.

    Parameters
    ----------
    tape : Tape
    input_size : int
        Bars of a context.
    links : mapping of str to tuple of Link
    """

    tape: Tape
    input_size: int
    links: Links
    peers: NDArray[np.int64] = field(init=False)
    bonds: NDArray[np.float64] = field(init=False)
    _asof: AsOf = field(init=False)

    def __post_init__(self) -> None:
        number = {name: i for i, name in enumerate(self.tape.unique_ids)}
        present = [[link for link in self.links.get(name, ()) if link.peer in number] for name in number]
        most = max(map(len, present))
        peers, bonds = np.full((len(number), most), -1), np.zeros((len(number), most, 2))
        for i, own in enumerate(present):
            peers[i, : len(own)] = [number[link.peer] for link in own]
            bonds[i, : len(own)] = np.reshape([[link.lead, link.same] for link in own], (-1, 2))
        for name, value in (("peers", peers), ("bonds", bonds), ("_asof", AsOf(self.tape))):
            object.__setattr__(self, name, value)

    def find(self, origins: NDArray[np.int64], instants: NDArray[np.float64]) -> NDArray[np.int64]:
        """Find the latest bars that had ended at an instant.

        Parameters
        ----------
        origins : ndarray of int64, shape (B,)
            Rows of the tape that contexts end at.
        instants : ndarray, shape (B,)
            Unix time in seconds up to which other series are known.

        Returns
        -------
        ndarray of int64, shape (B, P)
            Rows of the tape. -1 where none is known: no such series, no context before its bar yet, or no bar that
            ended with the first one of the asking context or later.
        """
        ends = self.tape.clocks["seconds"]
        peers = self.peers[self.tape.numbers(origins)]
        rows = self._asof.rows(peers, instants[:, None])
        known = (peers >= 0) & (rows - self.tape.bounds[peers] >= self.input_size)
        recent = ends[rows] >= ends[origins - self.input_size + 1, None]
        return np.where(known & recent, rows, -1)


@dataclass(frozen=True, slots=True, eq=False)
class PeerTable:
    """Tokens of the other series of each window of a tape.

    Parameters
    ----------
    places : PeerRows
    states : ndarray, shape (N, state_width)
        From `row_states`.
    """

    places: PeerRows
    states: NDArray[np.float32]

    def tokens(self, origins: NDArray[np.int64], instants: NDArray[np.float64] | None = None) -> PeerTokens:
        """Tell windows about the others.

        Features are the news (the surprise of a bar that ended since the last but one of the asking context, else 0),
        the news times the link's lead, the two correlations of the link, the age of the bar (logarithm of hours), and
        the memories of `row_states`.

        Parameters
        ----------
        origins : ndarray of int64, shape (B,)
            Rows of the tape that contexts end at.
        instants : ndarray, shape (B,), optional
            Unix time in seconds up to which other series are known; by default the end of the context.
        """
        ends = self.places.tape.clocks["seconds"]
        until = ends[origins] if instants is None else instants
        rows = self.places.find(origins, until)
        states = self.states[rows]
        known = (rows >= 0) & np.isfinite(states).all(axis=-1)
        bonds = self.places.bonds[self.places.tape.numbers(origins)]
        news = np.where(ends[rows] > ends[origins - 1, None], states[..., 0], 0.0)
        age = np.log1p((until[:, None] - ends[rows]).clip(0) / 3600) / _LONG
        features = np.concatenate(
            (np.stack((news, news * bonds[..., 0], age), axis=-1), bonds, states[..., 1:]), axis=-1
        )
        features = np.where(known[..., None], features, 0.0)
        lead = np.where(known, np.abs(bonds[..., 0]), 0.0)
        return PeerTokens(torch.from_numpy(features).float(), torch.from_numpy(known), torch.from_numpy(lead).float())


def learn_peers(tape: Tape, start: LinearStart, input_size: int, train: NDArray[np.int64]) -> PeerTable:
    """Measure the state of every row, and links on the training windows alone."""
    states = row_states(tape, start, input_size, measurable(tape, input_size))
    links = measure_links(tape, states[:, 0].astype(np.float64), train)
    return PeerTable(PeerRows(tape, input_size, links), states)


def last_tokens(
    tape: Tape, start: LinearStart, input_size: int, links: Links, instants: NDArray[np.float64]
) -> PeerTokens:
    """Tell the last window of every series about the others.

    Parameters
    ----------
    tape : Tape
        Of the whole history: what is known of another series may be older than its last context.
    start : LinearStart
    input_size : int
    links : mapping of str to tuple of Link
    instants : ndarray, shape (S,)
        Unix time in seconds up to which the others are known to each series.
    """
    places, origins = PeerRows(tape, input_size, links), tape.bounds[1:] - 1
    rows = places.find(origins, instants)
    return PeerTable(places, row_states(tape, start, input_size, np.unique(rows[rows >= 0]))).tokens(origins, instants)


def token_width(input_size: int, n_past: int) -> int:
    """Features of another series."""
    return _BESIDE_THE_STATE + state_width(input_size, n_past)
