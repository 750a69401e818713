"""Series that cannot be used as they are, with the reason in plain words; the others go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fints.bars.basis import find_splits, spelled
from fints.bars.instruments import instruments, present
from fints.series.rows import named_dates, series_rows

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SeriesProblem:
    """What is wrong with one series.

    Parameters
    ----------
    unique_id : str
        The series.
    reason : str
        What is wrong, with numbers.
    left_out : bool
        True if the whole series was left out, False if only some of its bars were.
    """

    unique_id: str
    reason: str
    left_out: bool = True

    def __str__(self) -> str:
        return f"{self.unique_id}: {self.reason}"


def basis_notes(bars: pd.DataFrame) -> dict[str, list[str]]:
    """Say of which symbols earlier instruments were left out, and which have splits in their prices, in words.

    Parameters
    ----------
    bars : pandas.DataFrame
        Validated bars frame of one interval.
    """
    notes: dict[str, list[str]] = {}
    table = instruments(bars)
    for row in table[~table["current"]].itertuples():
        notes.setdefault(str(row.symbol), []).append(
            f"{row.rows} bars until {row.last:%Y-%m-%d} are another instrument and were left out"
        )
    splits = find_splits(present(bars))
    for symbol, own in splits.groupby("symbol"):
        dated = zip(own["value"].astype("float64"), own["session"], strict=True)
        told = ", ".join(f"{spelled(value)} on {session:%Y-%m-%d}" for value, session in dated)
        notes.setdefault(str(symbol), []).append(
            f"splits in the prices ({told}): what lies before is on another basis; see fints.bars.basis.adjust"
        )
    return notes


def usable(panel: pd.DataFrame, min_length: int, *, constant: bool = False) -> tuple[pd.DataFrame, list[SeriesProblem]]:
    """Keep the series that a model can learn from.

    Rows whose ``y`` is NaN are removed (they leave a gap, as a missing session does); a series with an infinite
    value, without any value, with fewer than `min_length` values or with one value throughout is left out.

    Parameters
    ----------
    panel : pandas.DataFrame
        A panel, one or many series.
    min_length : int
        Fewest values a series needs, for instance ``input_size + h``.
    constant : bool
        Whether a series may have one value throughout: nothing can be learned from it, but forecasts can be made.

    Returns
    -------
    kept : pandas.DataFrame
        The usable rows in the panel's order, with a fresh index; empty if nothing is usable.
    problems : list of SeriesProblem
        One per series that was left out or shortened, ordered by name.
    """
    good, problems = usable_rows(panel, min_length, constant=constant)
    return (panel if good.all() else panel.loc[good]).reset_index(drop=True), problems


def usable_rows(
    panel: pd.DataFrame, min_length: int, *, constant: bool = False
) -> tuple[NDArray[np.bool_], list[SeriesProblem]]:
    """Say which rows :func:`usable` keeps, without copying any.

    Parameters
    ----------
    panel : pandas.DataFrame
        Of its columns, ``unique_id, ds, y`` are read.
    min_length, constant
        As of :func:`usable`.

    Returns
    -------
    kept : ndarray of bool, shape (n,)
    problems : list of SeriesProblem
    """
    problems: list[SeriesProblem] = []
    good = np.zeros(len(panel), dtype=bool)
    values = panel["y"].to_numpy(dtype=np.float64)
    for uid, rows in series_rows(panel).items():
        problem = _problem(uid, values[rows], panel["ds"].iloc[rows], min_length, constant=constant)
        if problem is not None:
            problems.append(problem)
        if problem is None or not problem.left_out:
            good[rows] = np.isfinite(values[rows])
    return good, problems


def _problem(
    uid: str, y: NDArray[np.float64], ds: pd.Series, min_length: int, *, constant: bool
) -> SeriesProblem | None:
    finite = y[np.isfinite(y)]
    infinite = np.isinf(y)
    reason = None
    if infinite.any():
        reason = f"{infinite.sum()} of {len(y)} values are infinite: {named_dates(ds[infinite])}; remove them"
    elif not len(finite):
        reason = f"none of its {len(y)} bars has a value"
    elif len(finite) < min_length:
        reason = f"too short: {len(finite)} values, at least {min_length} are needed"
    elif np.ptp(finite) == 0 and not constant:
        reason = f"constant: each of its {len(finite)} values is {finite[0]:g}"
    if reason is not None:
        return SeriesProblem(uid, reason)
    missing = np.isnan(y)
    if missing.any():
        return SeriesProblem(uid, f"{missing.sum()} of {len(y)} values are missing: {named_dates(ds[missing])}", False)
    return None
