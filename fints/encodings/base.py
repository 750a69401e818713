"""The interface that every position encoding answers.

Shape suffixes: ``b`` batch, ``h`` head, ``t`` token, ``d`` channel of a head, ``p`` plane (a pair of channels).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Literal, Self

import torch
from torch import Tensor, nn

from fints.encodings.bank import ExactModule
from fints.encodings.fit import Built, Fit
from fints.encodings.places import check_places
from fints.errors import EncodingError

AxisClock = Literal["index", "session", "calendar", "seconds"]


@dataclass(frozen=True, slots=True, eq=False)
class TimeAxis:
    """Places of tokens on the clocks.

    Parameters
    ----------
    index : Tensor, shape (B or 1, T), optional
        0, 1, 2 … in the window.
    session : Tensor, shape (B or 1, T), optional
        Ordinal of the trading session; intraday bars lie within (n, n + 1] by their close.
    calendar : Tensor, shape (B or 1, T), optional
        Exchange-local civil days since 1970-01-01.
    seconds : Tensor, shape (B or 1, T), optional
        Unix time of the bar's close, UTC.

    A clock that no encoding in use reads may be omitted. Places are float64 or int64: Unix seconds in float32 resolve
    only 128 s.

    Raises
    ------
    EncodingError
        If no clock is given, shapes disagree, places are no tensor or one that is neither float64 nor int64, a place
        is not finite, or seconds lie beyond 2200 (milliseconds, most likely).
    """

    index: Tensor | None = None
    session: Tensor | None = None
    calendar: Tensor | None = None
    seconds: Tensor | None = None

    def __post_init__(self) -> None:
        given = {f.name: t for f in fields(self) if (t := getattr(self, f.name)) is not None}
        if not given:
            raise EncodingError("a TimeAxis needs at least one clock; give index, session, calendar or seconds")
        for name, places in given.items():
            if not isinstance(places, Tensor):
                raise EncodingError(
                    f"places on the {name} clock are of type {type(places).__name__}; pass a tensor of float64 or "
                    "int64 and shape (B or 1, T): torch.as_tensor(places)[None] makes one of a single row"
                )
        shapes = {tuple(t.shape) for t in given.values()}
        batches = {t.shape[0] for t in given.values() if t.ndim} - {1}
        if len({s[-1] for s in shapes if s}) != 1 or any(len(s) != 2 for s in shapes) or len(batches) > 1:
            raise EncodingError(f"the clocks of a TimeAxis are (B or 1, T) with one B and one T; got {sorted(shapes)}")
        for name, places in given.items():
            if places.dtype not in (torch.float64, torch.int64):
                raise EncodingError(
                    f"places on the {name} clock are {places.dtype}; pass float64 or int64; a narrower type loses time"
                )
            check_places(name, places)

    @property
    def shape(self) -> tuple[int, int]:
        """B, or 1 if all samples share their places, and T."""
        sizes = [t.shape for f in fields(self) if (t := getattr(self, f.name)) is not None]
        return max(size[0] for size in sizes), sizes[0][1]

    def clock(self, name: AxisClock) -> Tensor:
        """Read one clock.

        Returns
        -------
        Tensor, shape (B or 1, T), float64

        Raises
        ------
        EncodingError
            If the clock was omitted.
        """
        places: Tensor | None = getattr(self, name)
        if places is None:
            have = [f.name for f in fields(self) if getattr(self, f.name) is not None]
            raise EncodingError(f"the encoding reads the {name} clock, but the TimeAxis holds only {have}; add {name}=")
        return places.to(torch.float64)

    def followed_by(self, other: TimeAxis) -> TimeAxis:
        """Join two stretches of tokens along T, keeping the clocks that both have."""
        joined: dict[str, Tensor] = {}
        for name in (f.name for f in fields(self)):
            first, second = getattr(self, name), getattr(other, name)
            if first is not None and second is not None:
                rows = max(len(first), len(second))
                joined[name] = torch.cat([first.expand(rows, -1), second.expand(rows, -1)], dim=1)
        return TimeAxis(**joined)

    def shifted(self) -> TimeAxis:
        """Give every token the place of the next one; the last keeps its own."""
        moved = {f.name: getattr(self, f.name) for f in fields(self)}
        return TimeAxis(**{k: torch.cat((v[:, 1:], v[:, -1:]), dim=1) for k, v in moved.items() if v is not None})

    def last_repeated(self, count: int) -> TimeAxis:
        """Return `count` tokens that all stand at the last place."""
        moved = {f.name: getattr(self, f.name) for f in fields(self)}
        return TimeAxis(**{k: v[:, -1:].expand(-1, count) for k, v in moved.items() if v is not None})

    def to(self, device: torch.device | str) -> TimeAxis:
        """Move every clock to a device; the dtype never changes."""
        moved = {f.name: getattr(self, f.name) for f in fields(self)}
        return TimeAxis(**{k: v.to(device) for k, v in moved.items() if v is not None})


class LayerTerms:
    """What one attention layer applies: nothing, in this base class.

    Attributes
    ----------
    bias : Tensor or None
        Added to the attention logits; broadcastable to (B, H, Tq, Tk).
    fit : Fit or None
        The tensors that it was prepared for; None where an encoding did not prepare it.
    """

    bias: Tensor | None = None
    fit: Fit | None = None

    def check(self, q_bhtd: Tensor, k_bhtd: Tensor, v_bhtd: Tensor | None = None) -> None:
        """Refuse tensors that these terms were not prepared for; see `Fit.check`."""
        if self.fit is not None:
            self.fit.check(q_bhtd, k_bhtd, v_bhtd)

    def fitted(self, fit: Fit | None) -> Self:
        """Note what these terms were prepared for."""
        # Some are frozen dataclasses.
        object.__setattr__(self, "fit", fit)
        return self

    def rotate(self, q_bhtd: Tensor, k_bhtd: Tensor) -> tuple[Tensor, Tensor]:
        """Apply the places to queries and keys.

        Parameters
        ----------
        q_bhtd, k_bhtd : Tensor, shape (B, H, T, D)

        Returns
        -------
        q, k : Tensor
            Same shapes and dtypes as given.

        Raises
        ------
        EncodingError
            If they are not what these terms were prepared for.
        """
        self.check(q_bhtd, k_bhtd)
        return self._turned(q_bhtd, k_bhtd)

    def _turned(self, q_bhtd: Tensor, k_bhtd: Tensor) -> tuple[Tensor, Tensor]:
        """Rotate tensors that fit."""
        return q_bhtd, k_bhtd

    def bias_of(self, rows: slice) -> LayerTerms:
        """Take the bias of some of the queries.

        Parameters
        ----------
        rows : slice
            Of the queries.

        Returns
        -------
        LayerTerms
            Terms that rotate nothing; nothing is computed before their bias is asked for.
        """
        return self._rows(rows).fitted(None if self.fit is None else self.fit.of(rows))

    def _rows(self, rows: slice) -> LayerTerms:
        """Make the terms of some of the queries."""
        return BiasRows(self, rows)


class BiasRows(LayerTerms):
    """The bias of some of the queries of a layer.

    Parameters
    ----------
    whole : LayerTerms
    rows : slice
    """

    def __init__(self, whole: LayerTerms, rows: slice) -> None:
        self.whole, self.rows = whole, rows

    @property
    def bias(self) -> Tensor | None:  # type: ignore[override]
        """A view of the whole bias, which its owner keeps."""
        bias = self.whole.bias
        return None if bias is None else bias[..., self.rows, :]


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Everything that the layers of one batch need, prepared once.

    Parameters
    ----------
    layers : tuple of LayerTerms
        One per layer; the same object where layers share their tables.
    """

    layers: tuple[LayerTerms, ...]

    def layer(self, index: int) -> LayerTerms:
        """Return the terms of layer `index`, counted from 0.

        Raises
        ------
        EncodingError
            If there is no such layer.
        """
        count = len(self.layers)
        if not -count <= index < count:
            raise EncodingError(f"there is no layer {index}: the encoding was built with n_layers={count}, from 0 on")
        return self.layers[index]


class Encoding(nn.Module, ABC):
    """A position encoding for a transformer of `n_layers` layers.

    It keeps no cache: `prepare` computes from the places given, so the order of calls never matters.

    Parameters
    ----------
    n_layers : int
    """

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.n_layers = n_layers
        self.built = Built(type(self).__name__)

    def extra_repr(self) -> str:
        """Say what it is, for the printed model."""
        kind = "" if self.built.dim is None else repr(self.built.kind)
        parts = (kind, self.built.options, f"n_layers={self.n_layers}", self._in_short())
        return ", ".join(part for part in parts if part)

    def _in_short(self) -> str:
        """Say what the settings do not: the periods of its planes, for instance."""
        return ""

    @property
    def query_shift(self) -> bool | None:
        """Whose place a query carries.

        None: its own, that is the target's for a forecast query. True: a context query carries the next bar's. False:
        a forecast query carries the last observed place. Only T-RoPE has an opinion; combinations pass it on.
        """
        opinions = [getattr(module, "shifted_query", None) for module in self.modules()]
        return next((opinion for opinion in opinions if opinion is not None), None)

    def frequency_parameters(self) -> list[nn.Parameter]:
        """Return the parameters that are learned frequencies, which want a learning rate of their own and no decay.

        They are those of an `ExactModule`, in this encoding or a part of it: what must not be cast is a frequency.
        """
        exact = [module for module in self.modules() if isinstance(module, ExactModule)]
        return [parameter for module in exact for parameter in module.parameters(recurse=False)]

    def embed(self, x_btc: Tensor, at: TimeAxis) -> Tensor:
        """Add the places to token embeddings; the identity unless the encoding is additive.

        Parameters
        ----------
        x_btc : Tensor, shape (B, T, C)
        at : TimeAxis
            Of these tokens.

        Raises
        ------
        EncodingError
            If the tokens are not those of the places, not of the width that it was built for, or a clock is missing.
        """
        _check_axis(at, "at")
        self.built.check_tokens(x_btc, at.shape)
        return self._embedded(x_btc, at)

    def prepare(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute the tables that the layers need.

        Parameters
        ----------
        q_at, k_at : TimeAxis
            Places of the queries and of the keys.

        Raises
        ------
        EncodingError
            If the places are no `TimeAxis`, are of different numbers of samples, or lack a clock that is read.
        """
        _check_axis(q_at, "q_at")
        _check_axis(k_at, "k_at")
        fit = Fit.between(self.built, q_at.shape, k_at.shape)
        terms = self._terms(q_at, k_at)
        for layer in terms.layers:
            layer.fitted(fit)
        return terms

    def _embedded(self, x_btc: Tensor, at: TimeAxis) -> Tensor:  # noqa: ARG002
        """Add the places to tokens that fit them."""
        return x_btc

    @abstractmethod
    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Compute the tables of all layers."""


class NoEncoding(Encoding):
    """No position at all: attention sees a set of tokens."""

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:  # noqa: ARG002
        """Return terms that change nothing."""
        return Terms((LayerTerms(),) * self.n_layers)


def _check_axis(at: object, name: str) -> None:
    if not isinstance(at, TimeAxis):
        raise EncodingError(f"{name} is of type {type(at).__name__}; give places as a TimeAxis: TimeAxis(index=places)")
