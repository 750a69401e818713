"""The rules that a bar is held against one by one: where a row fails, how bad that is, and how it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fints.bars.schema import PRICES

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from fints.bars.finding import Severity

_RELATIVE: Final = 1e-6  # of the price: float noise of a source is no violation


@dataclass(frozen=True, slots=True)
class Rule:
    """What a row did wrong.

    Attributes
    ----------
    kind : str
        Key of ``fints.bars.finding.KINDS``.
    severity : {"quarantine", "suspect", "gap"}
        What becomes of the row.
    reason : str
        Format string over the columns of the row.
    """

    kind: str
    severity: Severity
    reason: str


@dataclass(frozen=True, slots=True)
class RowRule(Rule):
    """A rule that looks at each row by itself.

    Attributes
    ----------
    fails : callable
        From a bars frame to the rows that break the rule, bool array of shape (rows,).
    """

    fails: Callable[[pd.DataFrame], NDArray[np.bool_]]


NON_SESSION: Final = Rule("non_session", "quarantine", "{exchange} has no session on {session:%Y-%m-%d, a %A}")
OFF_GRID: Final = Rule("off_grid", "quarantine", "no bar of the session runs from {start:%H:%M} to {end:%H:%M} UTC")
NOT_FINAL: Final = Rule("not_final", "quarantine", "the bar closes at {end:%Y-%m-%d %H:%M} UTC and had not settled yet")
DUPLICATE: Final = Rule("duplicate", "quarantine", "a newer row has the same key; this one has close {close!r}")
MISSING_VOLUME: Final = Rule("missing_volume", "suspect", "the volume is missing; other bars of the series have one")
NO_VOLUME: Final = Rule("missing_volume", "suspect", "no bar of the series has a volume")
CLOSE_ONLY: Final = Rule("close_only", "suspect", "the series has a close only: no range and no volume to learn from")


def _slack(bars: pd.DataFrame) -> pd.Series:
    return _RELATIVE * bars["close"].abs()


def _volume(bars: pd.DataFrame) -> NDArray[np.int64]:
    """Volume, with 1 where it is missing: a missing one is neither zero nor negative."""
    return bars["volume"].fillna(1).to_numpy(dtype=np.int64)


def _missing_price(bars: pd.DataFrame) -> NDArray[np.bool_]:
    return np.asarray(~np.isfinite(bars[list(PRICES)].to_numpy()).all(axis=1))


def _non_positive(bars: pd.DataFrame) -> NDArray[np.bool_]:
    return np.asarray((bars[list(PRICES)].to_numpy() <= 0).any(axis=1))


def _high_below_low(bars: pd.DataFrame) -> NDArray[np.bool_]:
    return (bars["high"] < bars["low"] - _slack(bars)).to_numpy(dtype=bool)


def _open_outside(bars: pd.DataFrame) -> NDArray[np.bool_]:
    return _outside(bars, bars["open"])


def _close_outside(bars: pd.DataFrame) -> NDArray[np.bool_]:
    return _outside(bars, bars["close"])


def _outside(bars: pd.DataFrame, price: pd.Series) -> NDArray[np.bool_]:
    slack = _slack(bars)
    return ((price > bars["high"] + slack) | (price < bars["low"] - slack)).to_numpy(dtype=bool)


def _negative_volume(bars: pd.DataFrame) -> NDArray[np.bool_]:
    return np.asarray(_volume(bars) < 0)


def _zero_volume(bars: pd.DataFrame) -> NDArray[np.bool_]:
    return np.asarray(_volume(bars) == 0)


_ALL: Final = "open {open:g}, high {high:g}, low {low:g}, close {close:g}"

#: In the order in which they are asked; a row is set aside by the first it breaks.
ROW_RULES: Final = (
    RowRule("missing_price", "quarantine", f"a price is missing: {_ALL}", _missing_price),
    RowRule("non_positive_price", "quarantine", f"a price is not positive: {_ALL}", _non_positive),
    RowRule("high_below_low", "quarantine", "the high {high!r} is below the low {low!r}", _high_below_low),
    RowRule("open_outside_range", "quarantine", "the open {open!r} is outside {low!r} … {high!r}", _open_outside),
    RowRule("close_outside_range", "quarantine", "the close {close!r} is outside {low!r} … {high!r}", _close_outside),
    RowRule("negative_volume", "quarantine", "the volume is {volume}", _negative_volume),
    RowRule(
        "zero_volume", "suspect", "the volume is 0: the price is kept, the volume is not to be believed", _zero_volume
    ),
)
