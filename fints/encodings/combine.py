"""Encodings made of encodings: planes shared out, heads shared out, biases added to a rotation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

import torch
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from torch import Tensor, nn

from fints.encodings.base import Encoding, LayerTerms, NoEncoding, Terms, TimeAxis
from fints.encodings.config import EncodingConfig
from fints.encodings.joined import HeadTerms, PlaneTerms, SumTerms
from fints.encodings.kinds import AddedEncoding, BiasEncoding
from fints.encodings.rotation import Rotation
from fints.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # Completed by `model_rebuild` where the union of all settings is defined, which is above this module.
    from fints.encodings.registry import AnyEncodingConfig  # noqa: TC004

SHARES_TOLERANCE = 1e-6


def _spelled_out(encoding: object) -> object:
    """Let a bare key stand for its defaults."""
    return {"kind": encoding} if isinstance(encoding, str) else encoding


class SplitPart(BaseModel):
    """One part of a split.

    Attributes
    ----------
    share : float
        Of the planes of every head, or of the heads; the shares of a split sum to 1.
    encoding : key or settings
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    share: float = Field(gt=0, le=1)
    encoding: Annotated[AnyEncodingConfig, BeforeValidator(_spelled_out)]


class SplitConfig(EncodingConfig):
    """Planes of each head, or whole heads, shared out among encodings.

    Attributes
    ----------
    by : {"feature", "head"}
    parts : sequence of SplitPart
    """

    kind: Literal["split"] = "split"
    by: Literal["feature", "head"] = "feature"
    parts: tuple[SplitPart, ...] = Field(min_length=1)


class SumConfig(EncodingConfig):
    """Biases and token encodings on top of at most one rotary encoding.

    Attributes
    ----------
    parts : sequence of keys or settings
    """

    kind: Literal["sum"] = "sum"
    parts: tuple[Annotated[AnyEncodingConfig, BeforeValidator(_spelled_out)], ...] = Field(min_length=1)


def allot(shares: Sequence[float], total: int, unit: str) -> tuple[int, ...]:
    """Share whole things out: the largest remainders get what rounding down leaves over, the first of equals first.

    Parameters
    ----------
    shares : sequence of float
        Positive, summing to 1.
    total : int
    unit : str
        What is shared out, in the plural, for the message.

    Returns
    -------
    tuple of int
        One per share, each at least 1, summing to `total`.

    Raises
    ------
    EncodingError
        If the shares do not sum to 1, or one gets nothing.
    """
    if abs(math.fsum(shares) - 1) > SHARES_TOLERANCE:
        raise EncodingError(f"the shares of a split sum to 1; {list(shares)} sum to {math.fsum(shares):g}")
    # A share of 1/3 of 6 is 1.9999… in floating point.
    exact = [round(share * total, 9) for share in shares]
    counts = [math.floor(e) for e in exact]
    by_remainder = sorted(range(len(shares)), key=lambda i: (counts[i] - exact[i], i))
    for i in by_remainder[: total - sum(counts)]:
        counts[i] += 1
    if min(counts) < 1:
        poor = shares[counts.index(min(counts))]
        raise EncodingError(f"a share of {poor:g} of {total} {unit} gets none; raise it, or widen the model")
    return tuple(counts)


def adds_bias(encoding: Encoding) -> bool:
    """Tell whether the encoding, or a part of it, is added to the attention logits."""
    return any(isinstance(part, BiasEncoding) for part in encoding.modules())


def rotates(encoding: Encoding) -> bool:
    """Tell whether the encoding, or a part of it, acts on queries and keys."""
    if isinstance(encoding, FeatureSplit | HeadSplit | SumEncoding):
        return any(rotates(part) for part in encoding.encodings())
    return not isinstance(encoding, BiasEncoding | AddedEncoding | NoEncoding)


class _Combination(Encoding):
    """Encodings that act together."""

    def __init__(self, parts: Sequence[Encoding], n_layers: int) -> None:
        super().__init__(n_layers)
        self.parts = nn.ModuleList(parts)
        for part in self.encodings():
            if part.n_layers != n_layers:
                raise EncodingError(
                    f"a part for {part.n_layers} layers does not fit a combination for {n_layers}; build both alike"
                )

    def encodings(self) -> list[Encoding]:
        """Return the parts, typed."""
        return [part for part in self.parts if isinstance(part, Encoding)]

    def _together(self, q_at: TimeAxis, k_at: TimeAxis, join: Callable[[tuple[LayerTerms, ...]], LayerTerms]) -> Terms:
        """Prepare the parts and join them layer by layer; layers that share all their parts share the result."""
        prepared = [part.prepare(q_at, k_at).layers for part in self.encodings()]
        joined: dict[tuple[int, ...], LayerTerms] = {}
        layers = []
        for parts in zip(*prepared, strict=True):
            key = tuple(map(id, parts))
            if key not in joined:
                joined[key] = join(parts)
            layers.append(joined[key])
        return Terms(tuple(layers))


class FeatureSplit(_Combination):
    """Planes of each head shared out: part i sees the next ``widths[i]`` channels and nothing else.

    Parameters
    ----------
    parts : sequence of Encoding
        Part i is built for a head width of ``widths[i]``.
    widths : sequence of int
        Channels; even, so that no plane is cut.
    n_layers : int

    Raises
    ------
    EncodingError
        If a part has no planes (it is added to the logits or to the tokens), or a width is odd.
    """

    def __init__(self, parts: Sequence[Encoding], widths: Sequence[int], n_layers: int) -> None:
        super().__init__(parts, n_layers)
        _check_counts(parts, widths)
        for part in self.encodings():
            if adds_bias(part):
                raise EncodingError(
                    "a bias is added to the logits and has no planes to split; put it beside the split: "
                    "{kind: sum, parts: [the bias, the split]}, or split by head"
                )
            _refuse_added(part)
        if any(width % 2 for width in widths):
            raise EncodingError(f"planes are pairs of channels; widths of {list(widths)} channels cut one in two")
        self.widths = tuple(widths)

    def _in_short(self) -> str:
        return f"channels of a head: {list(self.widths)}"

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Prepare every part, and lay their tables side by side where they are plain rotations."""
        return self._together(q_at, k_at, self._join)

    def _join(self, parts: tuple[LayerTerms, ...]) -> LayerTerms:
        rotations = [part for part in parts if isinstance(part, Rotation)]
        if len(rotations) < len(parts):
            return PlaneTerms(parts, self.widths)
        # One rotation costs what RoPE's does; cutting and joining q and k would cost two more copies.
        q_table = _side_by_side([part.q_table for part in rotations])
        shared = all(part.k_table is part.q_table for part in rotations)
        return Rotation(q_table, q_table if shared else _side_by_side([part.k_table for part in rotations]))


class HeadSplit(_Combination):
    """Heads shared out: part i sees the next ``counts[i]`` heads and nothing else.

    Parameters
    ----------
    parts : sequence of Encoding
        Part i is built for ``counts[i]`` heads. Biases are welcome: the other heads get zero.
    counts : sequence of int
    n_layers : int

    Raises
    ------
    EncodingError
        If a part is added to the tokens, which have no heads.
    """

    def __init__(self, parts: Sequence[Encoding], counts: Sequence[int], n_layers: int) -> None:
        super().__init__(parts, n_layers)
        _check_counts(parts, counts)
        for part in self.encodings():
            _refuse_added(part)
        self.counts = tuple(counts)

    def _in_short(self) -> str:
        return f"heads: {list(self.counts)}"

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Prepare every part."""
        return self._together(q_at, k_at, lambda parts: HeadTerms(parts, self.counts))


class SumEncoding(_Combination):
    """Everything at once: token encodings, biases, and at most one rotary encoding.

    Parameters
    ----------
    parts : sequence of Encoding
    n_layers : int

    Raises
    ------
    EncodingError
        If two parts rotate: their angles would add up, which is a fusion of its own and not a sum.
    """

    def __init__(self, parts: Sequence[Encoding], n_layers: int) -> None:
        super().__init__(parts, n_layers)
        self._turning = [rotates(part) for part in self.encodings()]
        self._biased = [adds_bias(part) for part in self.encodings()]
        if sum(self._turning) > 1:
            raise EncodingError(
                f"a sum holds at most one rotary part; this one has {sum(self._turning)}; split planes or heads instead"
            )

    def _embedded(self, x_btc: Tensor, at: TimeAxis) -> Tensor:
        """Add what every part adds to the tokens."""
        for part in self.encodings():
            x_btc = part.embed(x_btc, at)
        return x_btc

    def _terms(self, q_at: TimeAxis, k_at: TimeAxis) -> Terms:
        """Prepare every part."""
        return self._together(q_at, k_at, self._join)

    def _join(self, parts: tuple[LayerTerms, ...]) -> LayerTerms:
        turning = [part for part, turns in zip(parts, self._turning, strict=True) if turns]
        biases = tuple(part for part, biased in zip(parts, self._biased, strict=True) if biased)
        return SumTerms(turning[0] if turning else LayerTerms(), biases)


def _check_counts(parts: Sequence[Encoding], counts: Sequence[int]) -> None:
    if len(parts) != len(counts) or not parts:
        raise EncodingError(f"a split of {len(parts)} parts needs as many sizes, at least one; got {list(counts)}")


def _refuse_added(part: Encoding) -> None:
    if any(isinstance(inner, AddedEncoding) for inner in part.modules()):
        raise EncodingError(
            "an encoding that is added to the tokens has neither planes nor heads to split; put it beside the split: "
            "{kind: sum, parts: [it, the split]}"
        )


def _side_by_side(tables: list[Tensor]) -> Tensor:
    """Join tables of shape (B or 1, H or 1, T, P) along their planes."""
    leading = [max(sizes) for sizes in zip(*(table.shape[:-1] for table in tables), strict=True)]
    return torch.cat([table.expand(*leading, -1) for table in tables], dim=-1)
