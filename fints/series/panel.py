"""From bars to the long frame that every model reads: one row per series and bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.bars.instruments import present
from fints.bars.schema import validate_bars
from fints.errors import SeriesError
from fints.series.covariates import PAST_PREFIX, add_features
from fints.series.future import future_frame
from fints.series.grid import panel_bars
from fints.series.problems import SeriesProblem, basis_notes, usable
from fints.series.rows import named_dates, series_rows
from fints.series.schema import in_order, require_one_interval, require_unique, validate_panel
from fints.series.targets import Target, get_target
from fints.sessions import get_calendar, parse_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fints.series.grid import Instant

__all__ = [
    "SeriesProblem",
    "future_frame",
    "make_panel",
    "panel_bars",
    "panel_problems",
    "usable",
    "validate_panel",
]


def make_panel(
    bars: pd.DataFrame,
    target: str,
    *,
    features: bool | Sequence[str] = True,
    companions: bool | Sequence[str] = True,
    known_at: Instant | None = None,
) -> pd.DataFrame:
    """Turn bars into a panel of one target.

    Bars without a value of the target (zero volume, say) have no row; :func:`panel_problems` lists them. Of a recycled
    symbol only the instrument that it names now is taken (:mod:`fints.bars.instruments`). Splits that are in the prices
    stay there, because a row may not depend on later ones: put bars on one basis first
    (:func:`fints.bars.basis.adjust`), as the application does with what was known at the as-of.

    Parameters
    ----------
    bars : pandas.DataFrame
        Bars of one interval, any number of symbols and exchanges.
    target : str
        A name of :data:`fints.series.TARGETS`.
    features : bool or sequence of str
        Calendar features: all, none, or those named.
    companions : bool or sequence of str
        Past companions: the target's own choice, none, or the targets named. One that no series has is left out.
    known_at : date or instant, optional
        Calendar features as known then; today's knowledge if omitted.

    Returns
    -------
    pandas.DataFrame
        The panel, sorted by ``unique_id, ds``.

    Raises
    ------
    UnknownNameError
        If the target, a companion, a feature or an exchange does not exist.
    SchemaError
        If the bars break their schema, mix intervals, or hold a bar twice.
    SeriesError
        If no bar has a value, or a bar lies outside every session of its exchange.
    """
    chosen = get_target(target)
    others = [get_target(name) for name in _companion_names(chosen, companions)]
    ordered = _ordered(bars)
    y, *past = _evaluate(ordered, [chosen, *others])
    has_value = np.isfinite(y)
    if not has_value.any():
        raise SeriesError(f"none of the {len(y)} bars has a {target}: {chosen.undefined}; choose another target")
    panel = ordered[["unique_id", "ds"]].assign(y=y, exchange=ordered["exchange"], interval=ordered["interval"])
    for other, values in zip(others, past, strict=True):
        if np.isfinite(values[has_value]).any():
            panel[PAST_PREFIX + other.name] = values
    return add_features(panel.loc[has_value].reset_index(drop=True), features, known_at=known_at)


def panel_problems(bars: pd.DataFrame, target: str) -> list[SeriesProblem]:
    """List the bars that have no value of a target, and what was done to the others, one problem per series.

    A series none of whose bars has a value is marked ``left_out``. The first bar of a series never has a return; that
    is no problem.

    Parameters
    ----------
    bars : pandas.DataFrame
        The bars given to :func:`make_panel`.
    target : str
        The target given to :func:`make_panel`.

    Returns
    -------
    list of SeriesProblem
        Ordered by name; empty if every bar has a value.
    """
    chosen = get_target(target)
    ordered = _ordered(bars)
    (y,) = _evaluate(ordered, [chosen])
    first = ~ordered["unique_id"].duplicated().to_numpy()
    expected = first & ("return" in chosen.name)
    problems, notes = [], basis_notes(validate_bars(bars))
    for uid, rows in series_rows(ordered).items():
        missing = rows[~np.isfinite(y[rows]) & ~expected[rows]]
        if not np.isfinite(y[rows]).any():
            reason = f"none of its {len(rows)} bars has a {target}: {chosen.undefined}"
            problems.append(SeriesProblem(uid, reason))
            continue
        reasons = notes.get(uid, [])
        if len(missing):
            dates = named_dates(ordered["ds"].iloc[missing])
            reasons.append(f"{len(missing)} of {len(rows)} bars left out, no {target}: {chosen.undefined} ({dates})")
        if reasons:
            problems.append(SeriesProblem(uid, "; ".join(reasons), left_out=False))
    return problems


def _companion_names(target: Target, companions: bool | Sequence[str]) -> list[str]:
    if isinstance(companions, bool):
        return list(target.companions) if companions else []
    return [str(name).removeprefix(PAST_PREFIX) for name in companions]


def _ordered(bars: pd.DataFrame) -> pd.DataFrame:
    """Check bars and give them ``unique_id`` and ``ds``, sorted."""
    frame = present(validate_bars(bars))
    require_one_interval(frame["interval"])
    daily = parse_interval(str(frame["interval"].iloc[0])) is None if len(frame) else True
    frame = frame.assign(unique_id=frame["symbol"], ds=frame["session"] if daily else _local_starts(frame))
    frame = in_order(frame)
    require_unique(frame)
    return frame


def _local_starts(bars: pd.DataFrame) -> pd.Series:
    local = pd.Series(pd.NaT, index=bars.index, dtype="datetime64[ns]")
    for exchange, starts in bars.groupby("exchange")["start"]:
        zone = get_calendar(str(exchange)).timezone
        local.loc[starts.index] = starts.dt.tz_convert(zone).dt.tz_localize(None).astype("datetime64[ns]")
    return local


def _evaluate(bars: pd.DataFrame, targets: list[Target]) -> list[NDArray[np.float64]]:
    """Values of several targets for sorted bars, each series on its own."""
    values = [np.full(len(bars), np.nan) for _ in targets]
    needed = bars[sorted({column for target in targets for column in target.columns})]
    for rows in series_rows(bars).values():
        one = needed.iloc[rows[0] : rows[-1] + 1]
        for out, target in zip(values, targets, strict=True):
            out[rows] = target(one)
    return values
