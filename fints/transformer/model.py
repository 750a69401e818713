"""The network: context tokens, one query token per future bar, attention that knows the places of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from fints.forecast import QUANTILES
from fints.transformer.hstu import HstuBlock
from fints.transformer.layers import Block, QuantileHead
from fints.transformer.peers.attention import PeerAttention

if TYPE_CHECKING:
    from fints.encodings import Encoding, TimeAxis
    from fints.transformer.config import NetworkConfig
    from fints.transformer.peers.attention import PeerTokens


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """One batch of windows.

    Parameters
    ----------
    values : Tensor, shape (B, L, 1 + n_past)
        Scaled target and companions of the context.
    calendar : Tensor, shape (B, L, n_cal)
        Covariates of the context's bars.
    future_calendar : Tensor, shape (B, H, n_cal)
        Covariates of the bars asked for.
    start : Tensor, shape (B, H)
        Scaled linear forecast of them, which the network corrects; 0 where there is none.
    at, future_at : TimeAxis
        Places of the L context bars and of the H bars asked for.
    peers : PeerTokens, optional
        What is known of other series.
    """

    values: Tensor
    calendar: Tensor
    future_calendar: Tensor
    start: Tensor
    at: TimeAxis
    future_at: TimeAxis
    peers: PeerTokens | None = None

    def to(self, device: torch.device | str) -> Inputs:
        """Move everything to a device."""
        return Inputs(
            self.values.to(device),
            self.calendar.to(device),
            self.future_calendar.to(device),
            self.start.to(device),
            self.at.to(device),
            self.future_at.to(device),
            self.peers and self.peers.to(device),
        )


class CycleNetwork(nn.Module):
    """Transformer over a window of one series.

    Its forecast is a linear start with the quantiles of that start's errors, and what attention adds to both. Before
    training nothing is added.

    Parameters
    ----------
    config : NetworkConfig
    encoding : Encoding
        Built for the same width, heads and layers.
    n_past, n_cal : int
        Companion series and calendar covariates that the inputs carry.
    h : int
        Bars ahead that the start's errors are known for; further ones have those of the last.
    n_peer : int
        Features of another series, which the query tokens attend to; 0 for no such attention.
    """

    def __init__(
        self, config: NetworkConfig, encoding: Encoding, n_past: int, n_cal: int, h: int, n_peer: int = 0
    ) -> None:
        super().__init__()
        self.encoding = encoding
        self.embed_context = nn.Linear(1 + n_past + n_cal, config.dim)
        n_known = n_cal + config.linear_skip
        self.embed_query = nn.Linear(n_known, config.dim) if n_known else None
        self.query = nn.Parameter(torch.zeros(config.dim))
        self.blocks = nn.ModuleList(_block(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.dim)
        self.head = QuantileHead(config.dim, QUANTILES, h)
        # last, so that the other weights start alike with and without it
        self.peers = PeerAttention(config.dim, config.n_heads, n_peer, len(QUANTILES)) if n_peer else None

    def forward(self, x: Inputs) -> Tensor:
        """Forecast.

        Returns
        -------
        Tensor, shape (B, H, len(QUANTILES))
            Quantiles of the scaled target, increasing along the last axis.
        """
        n_context = x.values.shape[1]
        context = self.encoding.embed(self.embed_context(torch.cat((x.values, x.calendar), dim=-1)), x.at)
        query = self.encoding.embed(self._query_tokens(x), x.future_at)
        context_at, query_at = query_places(x, self.encoding.query_shift)
        terms = self.encoding.prepare(context_at.followed_by(query_at), x.at)
        tokens = torch.cat((context, query), dim=1)
        *blocks, last = self.blocks
        for index, block in enumerate(blocks):
            tokens = block(tokens, n_context, terms.layer(index))
        asked = self.encoding.prepare(query_at, x.at).layer(len(blocks))
        correction, steps = self.norm(last(tokens, n_context, asked, last=True)), steps_ahead(x)
        heard = self.peers(correction, x.peers, steps) if self.peers is not None and x.peers is not None else None
        quantiles: Tensor = x.start[..., None] + self.head(correction, steps, heard)
        return quantiles

    def correction(self) -> list[Tensor]:
        """Return copies of what moves the quantiles away from the start."""
        return [weight.detach().clone() for weight in (self.head.centred, *self._movers())]

    def restore(self, correction: list[Tensor]) -> None:
        """Put back what `correction` returned."""
        with torch.no_grad():
            for weight, kept in zip((self.head.centred, *self._movers()), correction, strict=True):
                weight.copy_(kept)

    def shrink(self, location: float, spread: float) -> None:
        """Keep a part of what is added to the start.

        Parameters
        ----------
        location, spread : float
            Parts, from 0 to 1, of the median's correction and of that of the steps away from it. Without any of the
            former, the mean is the start's forecast whatever the spread.
        """
        parts = torch.full((len(QUANTILES),), spread)
        parts[self.head.median] = location
        with torch.no_grad():
            self.head.centred.fill_(location == 0)
            for weight in self._movers():
                weight.mul_(parts.to(weight).reshape(-1, *[1] * (weight.ndim - 1)))

    def _movers(self) -> list[Tensor]:
        """Weights with one row for each quantile; all of them 0 leave the start alone."""
        heard = [] if self.peers is None else [self.peers.out.weight]
        return [self.head.project.weight, self.head.project.bias, *heard]

    def _query_tokens(self, x: Inputs) -> Tensor:
        tokens = self.query.expand(*x.start.shape, -1)
        if self.embed_query is None:
            return tokens
        known = torch.cat((x.future_calendar, x.start[..., None]), dim=-1)
        informed: Tensor = tokens + self.embed_query(known[..., : self.embed_query.in_features])
        return informed


def _block(config: NetworkConfig) -> Block | HstuBlock:
    match config.block:
        case "softmax":
            return Block(config.dim, config.n_heads, config.feed_forward, config.dropout)
        case "hstu":
            return HstuBlock(config.dim, config.n_heads, config.dropout)


def steps_ahead(x: Inputs) -> Tensor:
    """Bars from the end of the context to each bar asked for, from 1; shape (B, H)."""
    assert x.at.index is not None
    assert x.future_at.index is not None
    return (x.future_at.index - x.at.index[:, -1:]).round().long()


def query_places(x: Inputs, shift: bool | None) -> tuple[TimeAxis, TimeAxis]:
    """Choose the places that the queries of context and forecast tokens carry; see `Encoding.query_shift`."""
    if shift is None:
        return x.at, x.future_at
    if shift:
        return x.at.shifted(), x.future_at
    return x.at, x.at.last_repeated(x.future_calendar.shape[1])
