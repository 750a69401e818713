"""Learned biases of the elapsed time between a query and a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from fints.encodings.base import Terms
from fints.encodings.config import EncodingConfig
from fints.encodings.kinds import INITIAL_STD, BiasEncoding, LazyBias

if TYPE_CHECKING:
    from fints.encodings.base import TimeAxis

LOG_STEP = 0.301
"""Width of a bucket in ln Δt, as HSTU has it: a factor of 1.35."""


class TimeRabConfig(EncodingConfig):
    """HSTU's relative attention bias (Zhai et al., 2024): by log-bucket of Δt in seconds, and by index offset.

    Attributes
    ----------
    buckets : int
        Of ``⌊ln(max(|Δt|, 1)) / 0.301⌋``; longer times share the last. A century is bucket 72.
    per_head : bool
        One table per head, or one for all.
    max_offset : int
        Index offsets beyond ±this share the outermost row.
    """

    kind: Literal["time_rab"] = "time_rab"
    buckets: int = Field(default=128, ge=1)
    per_head: bool = False
    max_offset: int = Field(default=512, ge=0)


class IntervalBiasConfig(EncodingConfig):
    """TiSASRec's clipped time interval (Li et al., 2020), ``min(⌊|Δt| / unit⌋, clip)``, one scalar each per head.

    Attributes
    ----------
    unit : float
        Seconds.
    clip : int
    """

    kind: Literal["interval_bias"] = "interval_bias"
    unit: float = Field(default=86_400.0, gt=0)
    clip: int = Field(default=256, ge=1)


def differences(q_places: Tensor, k_places: Tensor) -> Tensor:
    """Return query minus key, shape (B or 1, Tq, Tk), float64."""
    return q_places[:, :, None] - k_places[:, None, :]


def log_buckets(delta: Tensor, n_buckets: int) -> Tensor:
    """Return ``min(⌊ln(max(|Δt|, 1)) / 0.301⌋, n_buckets − 1)`` of each elapsed time in seconds, int64."""
    return (delta.abs().clamp(min=1).log() / LOG_STEP).floor().long().clamp(max=n_buckets - 1)


def offset_rows(offsets: Tensor, max_offset: int) -> Tensor:
    """Return the row of each index offset, int64: −max_offset is row 0, +max_offset the last."""
    return offsets.round().long().clamp(-max_offset, max_offset) + max_offset


def interval_rows(delta: Tensor, unit: float, clip: int) -> Tensor:
    """Return ``min(⌊|Δt| / unit⌋, clip)`` of each elapsed time in seconds, int64."""
    return (delta.abs() / unit).floor().clamp(max=clip).long()


@dataclass(frozen=True, eq=False)
class TableBias(LazyBias):
    """Sum of learned tables, looked up for each pair of query and key.

    Parameters
    ----------
    tables : tuple of Tensor, each of shape (rows, H or 1)
    rows : tuple of Tensor, int64, each of shape (B or 1, Tq, Tk)
    """

    tables: tuple[Tensor, ...]
    rows: tuple[Tensor, ...]

    def materialise(self) -> Tensor:
        """Look up the bias, shape (B or 1, H or 1, Tq, Tk), in the dtype of the tables."""
        first, *others = (looked_up(table, rows) for table, rows in zip(self.tables, self.rows, strict=True))
        return sum(others, first)


def looked_up(table: Tensor, rows: Tensor) -> Tensor:
    """Read a learned table at every pair of query and key.

    One column at a time: `functional.embedding` takes rows of one or two numbers a hundred times as long in its
    backward pass.

    Parameters
    ----------
    table : Tensor, shape (rows, H or 1)
    rows : Tensor, int64, shape (B or 1, Tq, Tk)

    Returns
    -------
    Tensor, shape (B or 1, H or 1, Tq, Tk)
    """
    flat = rows.flatten()
    return torch.stack([column.index_select(0, flat).view(rows.shape) for column in table.unbind(-1)], dim=1)


class Tables(nn.ParameterList):
    """One learned table per layer, each of shape (rows, heads)."""

    def __init__(self, n_layers: int, rows: int, heads: int) -> None:
        super().__init__(nn.Parameter(torch.empty(rows, heads)) for _ in range(n_layers))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every table anew."""
        for table in self:
            nn.init.normal_(table, std=INITIAL_STD)


class TimeRabEncoding(BiasEncoding):
    """One learned scalar per log-bucket of elapsed time plus one per index offset, for each layer.

    Parameters
    ----------
    config : TimeRabConfig
    n_heads, n_layers : int
    """

    def __init__(self, config: TimeRabConfig, n_heads: int, n_layers: int) -> None:
        super().__init__(n_layers)
        self.max_offset = config.max_offset
        self.n_buckets = config.buckets
        heads = n_heads if config.per_head else 1
        self.times = Tables(n_layers, config.buckets, heads)
        self.offsets = Tables(n_layers, 2 * config.max_offset + 1, heads)

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Find the rows of every pair once; each layer looks them up in its own tables."""
        buckets = log_buckets(differences(q_at.clock("seconds"), k_at.clock("seconds")), self.n_buckets)
        offsets = offset_rows(differences(q_at.clock("index"), k_at.clock("index")), self.max_offset)
        return Terms(
            tuple(
                TableBias((times, places), (buckets, offsets))
                for times, places in zip(self.times, self.offsets, strict=True)
            )
        )


class IntervalBiasEncoding(BiasEncoding):
    """One learned scalar per head and clipped whole interval, for each layer.

    Parameters
    ----------
    config : IntervalBiasConfig
    n_heads, n_layers : int
    """

    def __init__(self, config: IntervalBiasConfig, n_heads: int, n_layers: int) -> None:
        super().__init__(n_layers)
        self.unit = config.unit
        self.clip = config.clip
        self.intervals = Tables(n_layers, config.clip + 1, n_heads)

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Find the row of every pair once; each layer looks it up in its own table."""
        rows = interval_rows(differences(q_at.clock("seconds"), k_at.clock("seconds")), self.unit, self.clip)
        return Terms(tuple(TableBias((table,), (rows,)) for table in self.intervals))
