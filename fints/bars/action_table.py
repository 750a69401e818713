"""The table of actions: what sources state of splits and distributions, with every earlier statement by its version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.actions import ACTION_COLUMNS, ACTION_KEY, conform_actions
from fints.bars.layout import to_arrow
from fints.bars.table import StoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyarrow.compute import Expression

_STATED: Final = ["value", "currency"]


@dataclass(frozen=True, slots=True)
class ActionTable:
    """Splits and distributions of every symbol."""

    table: StoreTable

    @classmethod
    def under(cls, root: Path) -> ActionTable:
        """Return the actions of the store at ``root``."""
        return cls(StoreTable(root / "actions", actions_schema()))

    def state(self, actions: pd.DataFrame, covered: pd.DataFrame) -> int:
        """Write what a delivery states; the newest version is returned, and nothing new makes none.

        Parameters
        ----------
        actions : pandas.DataFrame
            Actions frame. A new action is added; one with another value or currency is revised.
        covered : pandas.DataFrame
            ``symbol, source, first, last``: sessions that the delivery of each symbol covers. An action stored from
            the same source within them that is no longer stated is withdrawn; another source's stays.

        Raises
        ------
        SchemaError
            Not an actions frame.
        """
        import pyarrow.compute as pc

        stated = conform_actions(actions)
        if covered.empty and stated.empty:
            return self.table.version()
        base = self.table.at()
        stored = _frame(self.table.rows(pc.field("symbol").isin(sorted({*covered["symbol"], *stated["symbol"]}))))
        joined = stored.merge(stated, on=list(ACTION_KEY), how="left", suffixes=("", "_now"), indicator=True)
        told = (joined["_merge"] == "both").to_numpy()
        same = pd.DataFrame({name: joined[name] == joined[f"{name}_now"] for name in _STATED}).all(axis=1).to_numpy()
        void = _inside(stored, covered) & ~told
        known = pd.MultiIndex.from_frame(stored[list(ACTION_KEY)][told & same])
        fresh = stated[~pd.MultiIndex.from_frame(stated[list(ACTION_KEY)]).isin(known)]
        if not len(fresh) and not void.any():
            return int(base.version())
        if not (void | (told & ~same)).any():
            return self.table.append(to_arrow(fresh, self.table.schema), to=base)
        everything = _frame(self.table.rows())
        outdated = pd.MultiIndex.from_frame(stored[list(ACTION_KEY)][void | (told & ~same)])
        kept = everything[~pd.MultiIndex.from_frame(everything[list(ACTION_KEY)]).isin(outdated)]
        merged = pd.concat([part for part in (kept, fresh) if len(part)] or [kept], ignore_index=True)
        return self.table.replace(to_arrow(merged, self.table.schema), [], to=base)

    def read(self, symbols: Iterable[str] | None = None, version: int | None = None) -> pd.DataFrame:
        """Return the actions that stand, sorted by their key."""
        return _frame(self.table.rows(_of(symbols), version=version))

    def version_at(self, milliseconds: int) -> int:
        """Return the newest version that was committed at an instant (Unix time) or before it, 0 where none was."""
        if not self.table.exists():
            return 0
        history = self.table.at().history()
        return max((int(entry["version"]) for entry in history if entry["timestamp"] <= milliseconds), default=0)


def actions_schema() -> pa.Schema:
    """Return the columns of the table ``actions`` on disk."""
    import pyarrow as pa

    types = {"session": pa.date32(), "value": pa.float64(), "fetched_at": pa.timestamp("us", tz="UTC")}
    return pa.schema([pa.field(name, types.get(name, pa.string())) for name in ACTION_COLUMNS])


def _inside(stored: pd.DataFrame, covered: pd.DataFrame) -> NDArray[np.bool_]:
    """Mark stored actions that lie where a delivery of their source covers their symbol, shape (rows,)."""
    origin = ["symbol", "source"]
    whole = covered.groupby(origin).agg(first=("first", "min"), last=("last", "max"))
    spans = stored[origin].join(whole, on=origin)
    return ((stored["session"] >= spans["first"]) & (stored["session"] <= spans["last"])).to_numpy(dtype=bool)


def _frame(rows: pa.Table) -> pd.DataFrame:
    return conform_actions(rows.to_pandas(date_as_object=False))


def _of(symbols: Iterable[str] | None) -> Expression | None:
    import pyarrow.compute as pc

    if symbols is None:
        return None
    wanted = list(symbols)
    return pc.field("symbol").isin(wanted) if wanted else pc.scalar(value=False)
