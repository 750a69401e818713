"""What an encoding was built and prepared for, and tensors that are something else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.errors import EncodingError

if TYPE_CHECKING:
    from torch import Tensor

    Shape = tuple[int | None, ...]

HEADED = ("B", "H", "T", "D")
TOKENS = ("B", "T", "C")

CURES = {
    "B": "give one row of places for all samples, or one row for each",
    "H": "build it with n_heads= of the attention; repeat keys and values that groups of heads share",
    "T": "give it the places of these tokens, and of no others",
    "D": "build it with dim= n_heads times the width of a head",
    "C": "build it with dim= the width of the tokens",
}
"""What to do where an axis differs."""


@dataclass(frozen=True, slots=True)
class Built:
    """What `build` was asked for.

    Parameters
    ----------
    kind : str
    dim, n_heads : int, optional
        Of the transformer, or of the part of it that the encoding has; unknown where a class was called directly.
    options : str
        Settings that are not the defaults.
    """

    kind: str
    dim: int | None = None
    n_heads: int | None = None
    options: str = ""

    def check_tokens(self, x_btc: Tensor, places: tuple[int, int]) -> None:
        """Refuse tokens that are not those of the places, of shape (B or 1, T)."""
        batch, tokens = places
        _check(self.kind, "tokens", x_btc, (_own(batch), tokens, self.dim))


@dataclass(frozen=True, slots=True)
class Fit:
    """What the terms of a layer were prepared for.

    Parameters
    ----------
    kind : str
    queries, keys : tuple of int or None, length 4
        Shape (B, H, T, D); None where any size will do.
    """

    kind: str
    queries: Shape
    keys: Shape

    @classmethod
    def between(cls, built: Built, q_places: tuple[int, int], k_places: tuple[int, int]) -> Fit:
        """Find what tensors fit an encoding and places of shape (B or 1, T).

        Raises
        ------
        EncodingError
            If the queries have places for one number of samples and the keys for another.
        """
        rows = {q_places[0], k_places[0]} - {1}
        if len(rows) > 1:
            raise EncodingError(
                f"{built.kind!r} got places of {q_places[0]} samples for the queries and of {k_places[0]} for the "
                f"keys; {CURES['B']}"
            )
        batch = _own(max(q_places[0], k_places[0]))
        width = None if built.dim is None or built.n_heads is None else built.dim // built.n_heads
        return cls(built.kind, (batch, built.n_heads, q_places[1], width), (batch, built.n_heads, k_places[1], width))

    def of(self, rows: slice) -> Fit:
        """Return what fits some of the queries."""
        batch, heads, tokens, width = self.queries
        some = None if tokens is None else len(range(*rows.indices(tokens)))
        return Fit(self.kind, (batch, heads, some, width), self.keys)

    def check(self, q_bhtd: Tensor, k_bhtd: Tensor, v_bhtd: Tensor | None = None) -> None:
        """Refuse tensors that the terms were not prepared for; values may have any width.

        Raises
        ------
        EncodingError
            If a shape differs, or a tensor is not of floating-point numbers.
        """
        _check(self.kind, "queries", q_bhtd, self.queries)
        _check(self.kind, "keys", k_bhtd, self.keys)
        if v_bhtd is not None:
            _check(self.kind, "values", v_bhtd, (*self.keys[:-1], None))


def _own(batch: int) -> int | None:
    """One row of places serves any batch."""
    return None if batch == 1 else batch


def _check(kind: str, what: str, x: Tensor, wanted: Shape) -> None:
    axes = HEADED if len(wanted) == len(HEADED) else TOKENS
    if x.ndim != len(wanted):
        raise EncodingError(f"{_told(kind, what, x, wanted)}: give {len(wanted)} axes")
    for axis, have, want in zip(axes, x.shape, wanted, strict=True):
        if want is not None and have != want:
            raise EncodingError(f"{_told(kind, what, x, wanted)}: {axis} is {have}, not {want}; {CURES[axis]}")
    if not x.is_floating_point():
        raise EncodingError(f"{kind!r} takes {what} of floating-point numbers; got {x.dtype}: cast them first")


def _told(kind: str, what: str, x: Tensor, wanted: Shape) -> str:
    axes = HEADED if len(wanted) == len(HEADED) else TOKENS
    shape = ", ".join(axis if size is None else str(size) for axis, size in zip(axes, wanted, strict=True))
    return f"{kind!r}, for these places, takes {what} of shape ({shape}); got {tuple(x.shape)}"
