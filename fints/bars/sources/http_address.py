"""URL templates: where a value may stand, and how it is quoted so that it can never be more than a value."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

import pandas as pd

from fints.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What a template may name.
FIELDS: Final = ("symbol", "start", "end", "interval")
_DATES: Final = ("start", "end")
_EPOCH: Final = pd.Timestamp(0)
_UNITS: Final = {"epoch": pd.Timedelta(seconds=1), "epoch_ms": pd.Timedelta(milliseconds=1)}


def check_template(template: str) -> str:
    """Return a template that is one.

    Parameters
    ----------
    template : str
        An ``http`` or ``https`` address with ``{symbol}``, ``{start:%Y-%m-%d}``, ``{end:epoch}``, ``{interval}`` in
        its path or query. A date without a format is written ``2018-12-31``; ``epoch`` and ``epoch_ms`` count
        seconds and milliseconds from 1970.

    Raises
    ------
    ValueError
        It is none; the message says why.
    """
    _check_place(template)
    names = set()
    for _, name, form, conversion in Formatter().parse(template):
        if name is None:
            continue
        names.add(name)
        if name not in FIELDS or conversion:
            raise ValueError(f"{{{name}}} is no value; choose from {', '.join(f'{{{n}}}' for n in FIELDS)}")
        if form and name not in _DATES:
            raise ValueError(f"{{{name}:{form}}}: only {{start}} and {{end}} take a format")
    if "symbol" not in names:
        raise ValueError("the address does not name the {symbol}")
    return template


def _check_place(template: str) -> None:
    url = urlsplit(template)
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise ValueError("the address has to begin with https:// or http:// and a host")
    if "@" in url.netloc:
        raise ValueError("the address holds a user or a password; put a token into the environment, see `token_env`")
    if "{" in url.netloc or url.fragment:
        raise ValueError("a value may stand in the path or the query only")
    if not (template.isascii() and template.isprintable()) or " " in template:
        raise ValueError("the address holds characters that have to be percent-encoded")


def fill(template: str, values: Mapping[str, str | pd.Timestamp]) -> str:
    """Put values into a template.

    Parameters
    ----------
    template : str
        One that :func:`check_template` passed.
    values : mapping
        By the names of ``FIELDS``; dates are naive.

    Returns
    -------
    str
        The address. Every value is percent-quoted, slashes, dots of a path and all separators of a query included.

    Raises
    ------
    SourceError
        A value is empty or would be a step in the path (``.``, ``..``), which no quoting can prevent.
    """
    parts = []
    for literal, name, form, _ in Formatter().parse(template):
        parts.append(literal)
        if name is not None:
            text = _spell(values[name], form or "")
            if not text.strip():
                raise SourceError(f"the {name} {text!r} cannot be asked for by an address: it is empty")
            parts.append(quote(text, safe=""))
    address = "".join(parts)
    if {".", ".."} & set(urlsplit(address).path.split("/")):
        raise SourceError(
            f"the symbol {values['symbol']!r} cannot be asked for by an address: it is a step in its path"
        )
    return address


def _spell(value: str | pd.Timestamp, form: str) -> str:
    if isinstance(value, str):
        return value
    if form in _UNITS:
        return str((value - _EPOCH) // _UNITS[form])
    return f"{value:{form or '%Y-%m-%d'}}"
