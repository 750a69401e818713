"""The network: context tokens, one query token per future bar, attention that knows the places of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from fints.forecast import QUANTILES
from fints.transformer.hstu import HstuBlock
from fints.transformer.layers import Block, QuantileHead

if TYPE_CHECKING:
    from fints.encodings import Encoding, TimeAxis
    from fints.transformer.config import NetworkConfig

SKIP_SPANS = (1, 5, 22)
"""Bars averaged by the linear skip (day, week and month of Corsi, 2009); the whole context is zero by scaling."""


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
    at, future_at : TimeAxis
        Places of the L context bars and of the H bars asked for.
    """

    values: Tensor
    calendar: Tensor
    future_calendar: Tensor
    at: TimeAxis
    future_at: TimeAxis

    def to(self, device: torch.device | str) -> Inputs:
        """Move everything to a device."""
        return Inputs(
            self.values.to(device),
            self.calendar.to(device),
            self.future_calendar.to(device),
            self.at.to(device),
            self.future_at.to(device),
        )


class CycleNetwork(nn.Module):
    """Transformer over a window of one series.

    Parameters
    ----------
    config : NetworkConfig
    encoding : Encoding
        Built for the same width, heads and layers.
    n_past, n_cal : int
        Companion series and calendar covariates that the inputs carry.
    """

    def __init__(self, config: NetworkConfig, encoding: Encoding, n_past: int, n_cal: int) -> None:
        super().__init__()
        self.encoding = encoding
        self.embed_context = nn.Linear(1 + n_past + n_cal, config.dim)
        self.embed_query = nn.Linear(n_cal, config.dim) if n_cal else None
        self.query = nn.Parameter(torch.zeros(config.dim))
        self.blocks = nn.ModuleList(_block(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.dim)
        self.head = QuantileHead(config.dim, QUANTILES)
        self.skip = nn.Linear(len(SKIP_SPANS) + n_cal, 1, bias=False) if config.linear_skip else None
        if self.skip is not None:
            nn.init.zeros_(self.skip.weight)

    def forward(self, x: Inputs) -> Tensor:
        """Forecast.

        Returns
        -------
        Tensor, shape (B, H, len(QUANTILES))
            Quantiles of the scaled target, increasing along the last axis.
        """
        n_context = x.values.shape[1]
        context = self.encoding.embed(self.embed_context(torch.cat((x.values, x.calendar), dim=-1)), x.at)
        query = self.encoding.embed(self._query_tokens(x.future_calendar), x.future_at)
        context_at, query_at = query_places(x, self.encoding.query_shift)
        terms = self.encoding.prepare(context_at.followed_by(query_at), x.at)
        tokens = torch.cat((context, query), dim=1)
        *blocks, last = self.blocks
        for index, block in enumerate(blocks):
            tokens = block(tokens, n_context, terms.layer(index))
        asked = self.encoding.prepare(query_at, x.at).layer(len(blocks))
        quantiles: Tensor = self.head(self.norm(last(tokens, n_context, asked, last=True)))
        if self.skip is not None:
            quantiles = quantiles + self.skip(skip_features(x))
        return quantiles

    def _query_tokens(self, future_calendar: Tensor) -> Tensor:
        known = self.embed_query(future_calendar) if self.embed_query is not None else 0.0
        tokens: Tensor = self.query.expand(*future_calendar.shape[:2], -1) + known
        return tokens


def _block(config: NetworkConfig) -> Block | HstuBlock:
    match config.block:
        case "softmax":
            return Block(config.dim, config.n_heads, config.feed_forward, config.dropout)
        case "hstu":
            return HstuBlock(config.dim, config.n_heads, config.dropout)


def query_places(x: Inputs, shift: bool | None) -> tuple[TimeAxis, TimeAxis]:
    """Choose the places that the queries of context and forecast tokens carry; see `Encoding.query_shift`."""
    if shift is None:
        return x.at, x.future_at
    if shift:
        return x.at.shifted(), x.future_at
    return x.at, x.at.last_repeated(x.future_calendar.shape[1])


def skip_features(x: Inputs) -> Tensor:
    """Regressors of the linear skip.

    Returns
    -------
    Tensor, shape (B, H, len(SKIP_SPANS) + n_cal)
        Means of the scaled target over the last `SKIP_SPANS` bars, then the calendar of the bar asked for.
    """
    target = x.values[..., 0]
    means = torch.stack([target[:, -span:].mean(dim=1) for span in SKIP_SPANS], dim=-1)
    return torch.cat((means[:, None].expand(-1, x.future_calendar.shape[1], -1), x.future_calendar), dim=-1)
