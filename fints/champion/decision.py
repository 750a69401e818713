"""A decision about which model is in use, with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

BASELINE = "HAR"
"""The forecaster that is always there: what a champion has to beat, and what is fallen back on."""

Kind = Literal[
    "install", "challenge", "wait", "promote", "withdraw", "confirm", "keep", "fall_back", "recover", "rollback"
]
By = Literal["night", "hand", "registry"]
KINDS: tuple[str, ...] = get_args(Kind)
BYS: tuple[str, ...] = get_args(By)


@dataclass(frozen=True, slots=True)
class Seat:
    """A model that can be in use.

    Parameters
    ----------
    model : str
        Name of the forecaster in tables.
    version : str
        ``<configuration>/<last day and hash of the rows learned from>``; ``<configuration>/HAR`` of the baseline,
        which is fitted anew every night.
    until : str
        ISO stamp of the last bar learned from; empty for the baseline.
    """

    model: str
    version: str
    until: str = ""

    @classmethod
    def baseline(cls, line: str) -> Seat:
        """Return that of the baseline under a configuration."""
        return cls(BASELINE, f"{line}/{BASELINE}")

    @property
    def is_baseline(self) -> bool:
        """Whether it is the forecaster that is always there."""
        return not self.until

    @property
    def line(self) -> str:
        """Configuration that it belongs to."""
        return self.version.rpartition("/")[0]

    @property
    def key(self) -> str:
        """Name of the rows learned from."""
        return self.version.rpartition("/")[2]

    def __str__(self) -> str:
        return self.model if self.is_baseline else f"{self.model} of {self.until[:10]} ({self.key})"


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, for which night, and why.

    Parameters
    ----------
    kind : str
        ``install``: the first model of a configuration. ``challenge``: a new fit goes on trial. ``wait``: a look at it
        that settled nothing. ``promote``: it is in use from now on. ``withdraw``: its trial ended without that.
        ``confirm``: a provisional champion has proved itself. ``keep``: a look at the champion that found nothing
        wrong. ``fall_back``: the baseline is in use from now on. ``recover``: the champion that fell is again.
        ``rollback``: the champion before is.
    seat : Seat
        The model that it is about.
    as_of : pandas.Timestamp
        Naive key of the night; those from it on are bound.
    made_at : pandas.Timestamp
        UTC instant at which it was made.
    why : str
        In sentences.
    by : {"night", "hand", "registry"}
        Whether a night decided, or a person, here or in the registry.
    figures : mapping of str to float
        Numbers that it rests on: ``windows``, ``p_value`` …

    Raises
    ------
    ValueError
        If a name is unknown, or an instant is no UTC one.
    """

    kind: Kind
    seat: Seat
    as_of: pd.Timestamp
    made_at: pd.Timestamp
    why: str
    by: By = "night"
    figures: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.by not in BYS:
            raise ValueError(f"a decision is one of {KINDS}, by one of {BYS}; got {self.kind!r} by {self.by!r}")
        if pd.isna(self.as_of) or pd.isna(self.made_at) or self.as_of.tz is not None or self.made_at.tz is None:
            raise ValueError(f"a decision has a naive as-of and a UTC instant; got {self.as_of} and {self.made_at}")

    def to_plain(self) -> dict[str, Any]:
        """Lay out as JSON can hold it."""
        return {
            "kind": self.kind,
            "model": self.seat.model,
            "version": self.seat.version,
            "until": self.seat.until,
            "as_of": self.as_of.isoformat(),
            "made_at": self.made_at.tz_convert("UTC").isoformat(),
            "by": self.by,
            "why": self.why,
            "figures": dict(self.figures),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Decision:
        """Read what `to_plain` wrote.

        Raises
        ------
        ValueError, KeyError, TypeError
            If it is something else.
        """
        return cls(
            kind=plain["kind"],
            seat=Seat(str(plain["model"]), str(plain["version"]), str(plain["until"])),
            as_of=pd.Timestamp(plain["as_of"]),
            made_at=pd.Timestamp(plain["made_at"]),
            why=str(plain["why"]),
            by=plain["by"],
            figures={str(name): float(value) for name, value in dict(plain["figures"]).items()},
        )
