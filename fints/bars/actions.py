"""The actions frame: splits and distributions of a symbol, as a source stated them."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What ``value`` means, by kind.
ACTION_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "split": "new shares for one old share: 4.0 for four for one, 0.1 for one for ten",
        "dividend": "cash per share, in the currency of the prices, as the source states it",
        "capital_gain": "a fund's distribution of gains per share",
    }
)
ACTION_COLUMNS: Final = ("symbol", "session", "kind", "value", "currency", "source", "fetched_at")
#: One action of a kind per symbol and session.
ACTION_KEY: Final = ("symbol", "session", "kind")
_TYPES: Final = MappingProxyType(
    {
        **dict.fromkeys(("symbol", "kind", "currency", "source"), "str"),
        "session": "datetime64[ns]",
        "value": "float64",
        "fetched_at": "datetime64[ns, UTC]",
    }
)


def empty_actions() -> pd.DataFrame:
    """Return an actions frame without rows, every column typed."""
    return _no_actions().copy()


@cache
def _no_actions() -> pd.DataFrame:
    # made once: most deliveries carry no action, and pandas takes a millisecond to type seven columns
    return pd.DataFrame({name: pd.Series([], dtype=_TYPES[name]) for name in ACTION_COLUMNS})


def conform_actions(frame: pd.DataFrame) -> pd.DataFrame:
    """Bring an actions frame to its types and order: sorted by its key, with a fresh row index.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``symbol, session`` (naive ex-date), ``kind`` (of ``ACTION_KINDS``), ``value``, ``currency``, ``source``,
        ``fetched_at`` (UTC); other columns are left out.

    Raises
    ------
    SchemaError
        A column is missing, a kind is unknown, a value is not a positive number, or a key occurs twice.
    """
    missing = [name for name in ACTION_COLUMNS if name not in frame.columns]
    if missing:
        raise SchemaError(f"an actions frame lacks {', '.join(missing)}; it has {', '.join(map(str, frame.columns))}")
    try:
        actions = frame[list(ACTION_COLUMNS)].astype(dict(_TYPES)).sort_values(list(ACTION_KEY), ignore_index=True)
    except (ValueError, TypeError) as error:
        raise SchemaError(f"an actions frame has a value of another type: {error}") from error
    unknown = actions[~actions["kind"].isin(ACTION_KINDS)]
    if len(unknown):
        raise SchemaError(f"an action of {unknown['symbol'].iloc[0]!r} has the kind {unknown['kind'].iloc[0]!r}")
    void = actions[~((actions["value"] > 0) & (actions["value"] < float("inf")))]
    if len(void):
        row = void.iloc[0]
        raise SchemaError(f"the {row['kind']} of {row['symbol']!r} on {row['session']:%Y-%m-%d} is {row['value']}")
    double = actions[actions.duplicated(list(ACTION_KEY))]
    if len(double):
        row = double.iloc[0]
        raise SchemaError(f"{row['symbol']!r} has two actions {row['kind']!r} on {row['session']:%Y-%m-%d}")
    return actions
