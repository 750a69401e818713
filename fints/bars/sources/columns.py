"""Which column of a file is which: by the user's mapping, else by the names that vendors use."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from fints.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: From a role to the names it goes by, lower case, with spaces for punctuation.
NAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "date": ("date", "session", "day", "trade date", "trading day", "ds"),
        "time": ("datetime", "date time", "timestamp", "time", "bar start exchange time", "start", "gmt time"),
        "symbol": ("symbol", "ticker", "instrument", "code", "unique id"),
        "open": ("open", "open price", "first", "o"),
        "high": ("high", "high price", "max", "h"),
        "low": ("low", "low price", "min", "l"),
        "close": ("close", "close price", "close last", "last", "price", "c"),
        "adj_close": ("adj close", "adjusted close", "adjclose", "close adjusted"),
        "volume": ("volume", "vol", "total volume", "share volume", "v"),
        "currency": ("currency", "ccy"),
    }
)
_BOUNDS: Final = ("open", "high", "low")


def find_columns(names: Iterable[str], mapping: Mapping[str, str], where: str) -> dict[str, str]:
    """Assign roles to the columns of a file.

    Parameters
    ----------
    names : iterable of str
        Column names of the file.
    mapping : mapping from role to column name
        What the user says; it goes before any guess.
    where : str
        The file, for messages.

    Returns
    -------
    dict
        From role to column name. ``close`` and one of ``date``, ``time`` are always there; of ``open, high, low``
        all or none (a close-only series).

    Raises
    ------
    ConfigError
        A role or a column of the mapping does not exist, or a column that is needed was not found.
    """
    present = list(names)
    listed = ", ".join(repr(name) for name in present)
    _check_mapping(mapping, present, f"{where} has {listed}")
    found = dict(mapping)
    for role in [role for role in NAMES if role not in found]:
        match = _first_match([name for name in present if name not in found.values()], NAMES[role])
        if match is not None:
            found[role] = match
    lacking = [] if found.keys() & {"date", "time"} else ["date"]
    bounds = [role for role in _BOUNDS if role not in found]
    lacking += ["close"] * ("close" not in found) + bounds * (len(bounds) < len(_BOUNDS))
    if lacking:
        raise ConfigError(
            f"{where}: no column found for {', '.join(lacking)}; it has {listed}. "
            f"Map it in the source's options, as in columns: {{{lacking[0]}: NAME_IN_FILE}}"
        )
    return found


def _check_mapping(mapping: Mapping[str, str], present: list[str], listed: str) -> None:
    for role, name in mapping.items():
        if role not in NAMES:
            raise ConfigError(f"columns: {role!r} is no column of the bars; choose from {', '.join(NAMES)}")
        if name not in present:
            raise ConfigError(f"columns: {name!r}, given for {role!r}, is not there: {listed}")


def _first_match(names: list[str], known: tuple[str, ...]) -> str | None:
    plain = {name: _plain(name) for name in names}
    for alias in known:
        for name, text in plain.items():
            if text == alias:
                return name
    # web pages put a footnote into the header: "Close Close price adjusted for splits."
    for alias in known:
        for name, text in plain.items():
            if len(alias) > 1 and text.startswith(f"{alias} {alias.split()[-1]}"):
                return name
    return None


def _plain(name: str) -> str:
    text = re.sub(r"\(.*?\)", " ", str(name))
    return re.sub(r"[^0-9a-z]+", " ", text.casefold()).strip()
