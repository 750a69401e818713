"""Share of each member in a combination, one set of shares per stretch of the horizon."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fints.conformal.scores import check_ends, stretch_of
from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Share of each member in a combination, by stretch of the horizon.

    Parameters
    ----------
    members : tuple of str, length M
    ends : tuple of int, length S - 1
        Last step of each stretch; the last stretch goes on without end.
    values : ndarray, shape (S, M)
        Not negative, with rows that sum to 1.
    """

    members: tuple[str, ...]
    ends: tuple[int, ...]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        check_ends(self.ends)
        if self.values.shape != (len(self.ends) + 1, len(self.members)):
            raise ConfigError(
                f"weights of {len(self.members)} members over {len(self.ends) + 1} stretches of the horizon need the "
                f"shape ({len(self.ends) + 1}, {len(self.members)}); got {self.values.shape}"
            )
        if not (self.values >= 0).all() or not np.allclose(self.values.sum(axis=1), 1):
            raise ConfigError(f"weights are not negative and sum to 1 in every stretch; got {self.values.tolist()}")

    @classmethod
    def equal(cls, members: Sequence[str], ends: Sequence[int] = ()) -> Weights:
        """Weigh all members alike."""
        return cls(tuple(members), tuple(ends), np.full((len(ends) + 1, len(members)), 1 / len(members)))

    def at(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Weights of some steps ahead.

        Parameters
        ----------
        steps : ndarray of int, shape (n,)

        Returns
        -------
        ndarray, shape (n, M)
        """
        return self.values[stretch_of(steps, self.ends)]

    def of(self, members: Sequence[str]) -> Weights:
        """Keep some of the members; what the others had is shared out in proportion, or evenly if that was all."""
        kept = self.values[:, [self.members.index(name) for name in members]]
        total = kept.sum(axis=1, keepdims=True)
        shared = np.where(total > 0, kept / np.where(total > 0, total, 1), 1 / len(members))
        return Weights(tuple(members), self.ends, shared)

    def to_frame(self) -> pd.DataFrame:
        """Return ``member, first, last, weight``; ``last`` is missing where the stretch has no end."""
        edges = [*pairwise((0, *self.ends))]
        bounds: list[tuple[int, int | None]] = [(first + 1, last) for first, last in edges]
        bounds.append(((self.ends[-1] if self.ends else 0) + 1, None))
        rows = [
            (member, first, last, weight)
            for (first, last), row in zip(bounds, self.values, strict=True)
            for member, weight in zip(self.members, row, strict=True)
        ]
        frame = pd.DataFrame(rows, columns=["member", "first", "last", "weight"])
        return frame.astype({"last": "Int64"})

    def to_plain(self) -> dict[str, Any]:
        """Lay out as JSON can hold it."""
        return {"members": list(self.members), "ends": list(self.ends), "values": self.values.tolist()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Weights:
        """Read what `to_plain` wrote.

        Raises
        ------
        ConfigError
            If it is something else.
        """
        try:
            members, ends = tuple(map(str, plain["members"])), tuple(map(int, plain["ends"]))
            values = np.array(plain["values"], float)
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"these are no weights of a combination: {error!r}; learn them again") from error
        return cls(members, ends, values)
