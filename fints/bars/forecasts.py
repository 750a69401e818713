"""The table of forecasts: one set per dataset, as-of, series, target and interval, however often a night is run.

A set that another one takes the place of is put into the table ``superseded`` first: what was said in time is what a
forecast is held to, whatever was made of the same night afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import pandas as pd

from fints.bars.layout import nullable_integers, to_arrow
from fints.bars.table import StoreTable
from fints.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa
    from pyarrow.compute import Expression

#: Quantile columns: ``q025`` is the 2.5 % quantile, ``q50`` the median.
QUANTILE_COLUMNS: Final = tuple(
    f"q{q}" for q in ["025", "05", "10", "20", "25", "30", "40", "50", "60", "70", "75", "80", "90", "95", "975"]
)  # fmt: skip
FORECAST_KEY: Final = ("dataset", "as_of", "unique_id", "target", "interval")
_TEXTS: Final = ("dataset", "unique_id", "target", "interval", "model", "model_version")
_DATES: Final = ("as_of", "ds")
FORECAST_COLUMNS: Final = (
    *FORECAST_KEY,
    *("ds", "step", "model", "model_version", "data_version", "mean"),
    *QUANTILE_COLUMNS,
    "created_at",
)
_ORDER: Final = [*FORECAST_KEY, "model", "step"]
_SET: Final = [*FORECAST_KEY, "created_at"]
"""What one run forecast of one series."""


@dataclass(frozen=True, slots=True)
class ForecastTable:
    """Forecasts of every night, partitioned by the month of ``as_of``.

    Parameters
    ----------
    table : StoreTable
        The newest of every series and night.
    superseded : StoreTable
        Those that others took the place of; rows are only ever added.
    """

    table: StoreTable
    superseded: StoreTable

    @classmethod
    def under(cls, root: Path) -> ForecastTable:
        """Return the forecasts of the store at ``root``."""
        names = ("forecasts", "superseded")
        return cls(*(StoreTable(root / name, forecasts_schema(), ("month",)) for name in names))

    def write(self, frame: pd.DataFrame) -> int:
        """Put the forecasts in the place of those with the same key, in one transaction; return the version.

        Those are set aside before, so that a process that is killed in between loses none. Where that is not possible,
        nothing is replaced: what was said in time is worth more than what is said again.

        Parameters
        ----------
        frame : pandas.DataFrame
            ``FORECAST_COLUMNS``; quantile columns may be absent, ``created_at`` too (now). ``as_of`` and ``ds`` are
            naive; an ``as_of`` with a zone is taken to UTC first. ``data_version`` is the version of the bars.

        Raises
        ------
        SchemaError
            A column is missing, unknown or mistyped.
        StoreError
            A table cannot be read or written; ``superseded`` is needed only where forecasts are replaced.
        """
        import pyarrow.compute as pc

        fresh = conform_forecasts(frame)
        if fresh.empty:
            return self.table.version()
        base = self.table.at()
        months = sorted(fresh["month"].unique())
        stored = _frame(self.table.rows(pc.field("month").isin(months)))
        stored["month"] = _month(stored)
        replaced = pd.MultiIndex.from_frame(stored[list(FORECAST_KEY)]).isin(
            pd.MultiIndex.from_frame(fresh[list(FORECAST_KEY)])
        )
        self._set_aside(stored[replaced & ~stored["created_at"].isin(fresh["created_at"])])
        kept = stored[~replaced]
        merged = fresh if kept.empty else pd.concat([kept, fresh], ignore_index=True)
        rows = to_arrow(merged.sort_values(_ORDER, kind="stable", ignore_index=True), self.table.schema)
        return self.table.replace(rows, [{"month": month} for month in months], to=base)

    def read(
        self,
        *,
        as_of: str | pd.Timestamp | None = None,
        version: int | None = None,
        **named: str | None,
    ) -> pd.DataFrame:
        """Return the forecasts that match, sorted by key, model and step.

        Parameters
        ----------
        as_of : str or pandas.Timestamp, optional
        version : int, optional
            The newest by default.
        **named : str, optional
            ``dataset, unique_id, target, interval``: one value each; any by default.
        """
        return _sorted(self.table.rows(_matching(as_of, named), version=version))

    def read_superseded(self, *, as_of: str | pd.Timestamp | None = None, **named: str | None) -> pd.DataFrame:
        """Return the forecasts that others of the same night took the place of, sorted alike; see `read`."""
        return _sorted(self.superseded.rows(_matching(as_of, named)))

    def _set_aside(self, rows: pd.DataFrame) -> None:
        import pyarrow.compute as pc

        if rows.empty:
            return
        self.superseded.create()
        base, months = self.superseded.at(), sorted(rows["month"].unique())
        held = _frame(self.superseded.rows(pc.field("month").isin(months)))
        there = pd.MultiIndex.from_frame(rows[_SET]).isin(pd.MultiIndex.from_frame(held[_SET]))
        if not there.all():
            self.superseded.append(to_arrow(rows[~there].reset_index(drop=True), self.superseded.schema), to=base)

    def since(self, first: pd.Timestamp, target: str, place: tuple[str, str]) -> pd.DataFrame:
        """Return what is needed to score the forecasts of one target, of the nights from one as-of on.

        A night that was made again has several sets of a series, told apart by ``created_at``.

        Parameters
        ----------
        first : pandas.Timestamp
        target : str
        place : pair of str
            Dataset and interval.

        Returns
        -------
        pandas.DataFrame
            ``as_of, unique_id, ds, step, mean``, the quantile columns and ``created_at``, unsorted.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        start = _naive(pd.Series([pd.Timestamp(first)])).iloc[0]
        where = (pc.field("month") >= f"{start:%Y-%m}") & (pc.field("target") == target)
        where &= pc.field("as_of") >= pa.scalar(start.to_pydatetime(), pa.timestamp("us"))
        where &= (pc.field("dataset") == place[0]) & (pc.field("interval") == place[1])
        columns = ["as_of", "unique_id", "ds", "step", "mean", *QUANTILE_COLUMNS, "created_at"]
        stored = [table.rows(where, columns=columns).to_pandas() for table in (self.table, self.superseded)]
        frame: pd.DataFrame = pd.concat([part for part in stored if len(part)] or stored[:1], ignore_index=True)
        frame = frame.drop_duplicates(["as_of", "unique_id", "step", "created_at"], ignore_index=True)
        return frame.astype({"as_of": "datetime64[ns]", "ds": "datetime64[ns]", "created_at": "datetime64[ns, UTC]"})


def forecasts_schema() -> pa.Schema:
    """Return the columns of the table ``forecasts`` on disk."""
    import pyarrow as pa

    types = dict.fromkeys(_TEXTS, pa.string()) | dict.fromkeys(_DATES, pa.timestamp("us"))
    types |= {"step": pa.int64(), "data_version": pa.int64(), "created_at": pa.timestamp("us", tz="UTC")}
    fields = [pa.field(name, types.get(name, pa.float64())) for name in FORECAST_COLUMNS]
    return pa.schema([*fields, pa.field("month", pa.string())])


def conform_forecasts(frame: pd.DataFrame) -> pd.DataFrame:
    """Bring forecasts to their columns and types, with the partition column ``month``.

    Raises
    ------
    SchemaError
        A column is missing or unknown, or a key is missing.
    """
    filled = frame.reset_index(drop=True)
    if "created_at" not in filled.columns:
        filled = filled.assign(created_at=pd.Timestamp.now("UTC"))
    needed = [name for name in FORECAST_COLUMNS if name not in QUANTILE_COLUMNS]
    missing = [name for name in needed if name not in filled.columns]
    unknown = [str(name) for name in filled.columns if name not in FORECAST_COLUMNS]
    if missing or unknown:
        raise SchemaError(
            f"a forecasts frame lacks {missing or 'nothing'} and has unknown columns {unknown or 'none'}; "
            f"its columns are {', '.join(FORECAST_COLUMNS)}"
        )
    filled = filled.reindex(columns=list(FORECAST_COLUMNS))
    void = [name for name in (*FORECAST_KEY, "ds", "model", "step") if filled[name].isna().any()]
    if void:
        raise SchemaError(f"column {void[0]!r} of a forecasts frame has missing values; every forecast needs its key")
    filled = filled.assign(**{name: _naive(filled[name]) for name in _DATES})
    return filled.assign(month=_month(filled))


def _naive(instants: pd.Series) -> pd.Series:
    dates: pd.Series = pd.to_datetime(instants)
    if dates.dt.tz is not None:
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    naive: pd.Series = dates.astype("datetime64[ns]")
    return naive


def _matching(as_of: str | pd.Timestamp | None, named: Mapping[str, str | None]) -> Expression:
    import pyarrow as pa
    import pyarrow.compute as pc

    where: Any = pc.scalar(value=True)
    if as_of is not None:
        asked = _naive(pd.Series([pd.Timestamp(as_of)])).iloc[0]
        where &= pc.field("as_of") == pa.scalar(asked.to_pydatetime(), pa.timestamp("us"))
    for name, value in named.items():
        if value is not None:
            where &= pc.field(name) == value
    return cast("Expression", where)


def _sorted(rows: pa.Table) -> pd.DataFrame:
    return _frame(rows).sort_values(_ORDER, kind="stable", ignore_index=True)


def _month(frame: pd.DataFrame) -> pd.Series:
    months: pd.Series = frame["as_of"].dt.strftime("%Y-%m")
    return months


def _frame(rows: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = rows.select(list(FORECAST_COLUMNS)).to_pandas()
    frame["data_version"] = nullable_integers(rows, "data_version")
    return frame.astype({"as_of": "datetime64[ns]", "ds": "datetime64[ns]", "created_at": "datetime64[ns, UTC]"})
