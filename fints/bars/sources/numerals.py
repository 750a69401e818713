"""Numbers and dates as vendors write them: thousands separators, decimal commas, currency signs, epoch stamps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from fints.errors import ConfigError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable

_MISSING: Final = frozenset({"", "-", "--", "—", "nan", "na", "n/a", "null", "none", "."})
_UNITS: Final = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_FORMATS: Final = (
    "ISO8601", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d %b %Y", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y",
    "%d/%m/%y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S", "%Y%m%d %H%M%S", "%Y%m%d %H:%M:%S",
)  # fmt: skip
_OFFSET: Final = re.compile(r"\d:\d\d(?::\d\d(?:\.\d+)?)?\s?(?:[+-]\d\d:?\d\d|Z|UTC)$")
_FIRST_YEAR: Final = 1678  # of those that a count of nanoseconds in 64 bits holds in full
_LAST_YEAR: Final = 2261
_EPOCH_SECONDS: Final = 10
_EPOCH_MILLISECONDS: Final = 13
_RUN_TOGETHER: Final = ((12, "%Y%m%d%H%M"), (14, "%Y%m%d%H%M%S"))  # read as milliseconds, all of these lie in 1976


def read_numbers(column: pd.Series, *, decimal: str = ".", thousands: str | None = None, where: str = "") -> pd.Series:
    """Read a column of numbers.

    Parameters
    ----------
    column : pandas.Series
        Numbers, or text such as ``"1.234,56"``, ``"$12"``, ``"3.4B"``, ``"null"``.
    decimal, thousands : str
        As in the file; a thousands separator is known without being named where it cannot be the decimal one. It has to
        stand before groups of three digits: of ``"12,5"`` a decimal comma is the likelier reading.
    where : str
        File and column, for messages.

    Returns
    -------
    pandas.Series
        Numbers where they were numbers; text that is whole becomes Int64, other text float64.

    Raises
    ------
    SourceError
        A value is no number.
    """
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column
    group = thousands or ("," if decimal == "." else ".")
    texts = column.astype(str).str.strip()
    bare = texts.str.replace(r"[\s$€£¥'\u2019]", "", regex=True).str.casefold()
    plain = bare.str.replace(group, "", regex=False).str.replace(decimal, ".", regex=False)
    missing = texts.str.casefold().isin(_MISSING) | column.isna()
    misgrouped = bare.str.contains(group, regex=False) & ~bare.str.fullmatch(_grouped(group, decimal))
    unit = plain.str.extract(r"(?<=\d)([kmbt])$")[0].map(_UNITS)
    if unit.isna().all() and not misgrouped.any() and plain[~missing].str.fullmatch(r"[+-]?\d{1,18}").all():
        # a gap among whole numbers would cost those above 2^53 their last digits on the way over float64
        digits = [None if gone else int(text) for text, gone in zip(plain, missing, strict=True)]
        return pd.Series(pd.array(digits, dtype="Int64"), index=column.index)
    numbers = pd.to_numeric(plain.where(unit.isna(), plain.str[:-1]), errors="coerce")
    wrong = np.flatnonzero(((numbers.isna() | misgrouped) & ~missing).to_numpy(dtype=bool))
    if wrong.size:
        raise SourceError(
            f"{where}, row {wrong[0] + 1}: {texts.iloc[wrong[0]]!r} is not a number. "
            f"Numbers are read with decimal {decimal!r} and thousands {group!r}; set `decimal` and `thousands`"
        )
    return numbers.where(unit.isna(), (numbers * unit.astype("float64")).round())


def _grouped(group: str, decimal: str) -> str:
    """Pattern of a number whose groups have three digits (or two, as in India, but for the last)."""
    return (
        rf"[+-]?\d{{1,3}}(?:{re.escape(group)}\d{{2,3}})*{re.escape(group)}\d{{3}}(?:{re.escape(decimal)}\d*)?[kmbt]?"
    )


def read_stamps(column: pd.Series, *, date_format: str | None = None, where: str = "") -> pd.Series:
    """Read a column of dates or date-times, from 1678 to 2261.

    Parameters
    ----------
    column : pandas.Series
        Dates, epoch seconds or milliseconds, or text.
    date_format : str, optional
        ``strptime`` format; by default the first that fits every row.
    where : str
        File and column, for messages.

    Returns
    -------
    pandas.Series
        Naive datetimes, or UTC where the values carry an offset or count from the epoch.

    Raises
    ------
    ConfigError
        No format fits, or two do and give different dates.
    SourceError
        A date lies beyond what can be kept to the nanosecond.
    """
    stamps = _stamps(column, date_format, where)
    if pd.api.types.is_datetime64_any_dtype(stamps.dtype):
        years = stamps.dt.year
        beyond = np.flatnonzero((years < _FIRST_YEAR) | (years > _LAST_YEAR))
        if beyond.size:
            raise SourceError(
                f"{where}, row {beyond[0] + 1}: {str(column.iloc[beyond[0]])!r} is beyond the years {_FIRST_YEAR} to "
                f"{_LAST_YEAR}, and no date of a bar"
            )
    return stamps


def _stamps(column: pd.Series, date_format: str | None, where: str) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    texts = column.astype(str).str.strip()
    counted = _digits(texts) if date_format is None else None
    if counted is not None:
        return counted
    aware = bool(texts.str.contains(_OFFSET).all())
    read = [dates for form in _formats(date_format) if (dates := _parsed(texts, form, utc=aware)) is not None]
    if not read:
        raise ConfigError(
            f"{where}: dates such as {texts.iloc[0]!r} are not understood; set `date_format`, as in '%d.%m.%Y %H:%M'"
        )
    if any(not read[0].equals(other) for other in read[1:]):
        raise ConfigError(f"{where}: dates such as {texts.iloc[0]!r} may be month/day or day/month; set `date_format`")
    return read[0]


def _formats(date_format: str | None) -> Iterable[str]:
    return _FORMATS if date_format is None else (date_format,)


def _parsed(texts: pd.Series, form: str, *, utc: bool) -> pd.Series | None:
    try:
        return pd.to_datetime(texts, format=form, utc=utc)
    except ValueError:
        return None


def _digits(texts: pd.Series) -> pd.Series | None:
    """Read stamps that are digits alone: a date and a time run together, or a count from the epoch."""
    for digits, form in _RUN_TOGETHER:
        if len(texts) and texts.str.fullmatch(rf"(?:19|20)\d{{{digits - 2}}}").all():
            return _parsed(texts, form, utc=False)
    for digits, unit in ((_EPOCH_SECONDS, "s"), (_EPOCH_MILLISECONDS, "ms")):
        if len(texts) and texts.str.fullmatch(rf"-?\d{{{digits - 1},{digits}}}").all():
            counts = texts.to_numpy(dtype=np.int64).astype(f"datetime64[{unit}]")
            return pd.Series(pd.DatetimeIndex(counts).tz_localize("UTC"), index=texts.index)
    return None
