"""URL templates: where a value may stand, and how it is quoted so that it can never be more than a value."""

from __future__ import annotations

import re
from string import Formatter
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urlsplit

import pandas as pd

from fints.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What a template may name.
FIELDS: Final = ("symbol", "start", "end", "interval", "token")
_DATES: Final = ("start", "end")
#: Names of query parameters by which providers take a key, without their punctuation.
_KEYS: Final = re.compile(
    r"(?:^|api|app|access|auth|client|license|private|secret|subscription|user)key$"
    r"|token$|secret$|^passw|^pwd$|^auth|^credentials?$"
)
_EPOCH: Final = pd.Timestamp(0)
_UNITS: Final = {"epoch": pd.Timedelta(seconds=1), "epoch_ms": pd.Timedelta(milliseconds=1)}


def check_template(template: str) -> str:
    """Return a template that is one.

    Parameters
    ----------
    template : str
        An ``http`` or ``https`` address with ``{symbol}``, ``{start:%Y-%m-%d}``, ``{end:epoch}``, ``{interval}``,
        ``{token}`` in its path or query. A date without a format is written ``2018-12-31``; ``epoch`` and ``epoch_ms``
        count seconds and milliseconds from 1970.

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
    _check_keys(template)
    return template


def names_token(template: str) -> bool:
    """Say whether the token is sent in the address."""
    return any(name == "token" for _, name, _, _ in Formatter().parse(template))


def _check_keys(template: str) -> None:
    """Refuse a key that stands in the query: settings are written into runs, reports and messages."""
    for part in re.split("[&;]", urlsplit(template).query):
        name, _, value = part.partition("=")
        plain = re.sub(r"[^0-9a-z]", "", unquote(name).casefold())
        literal = "".join(text for text, _, _, _ in Formatter().parse(value))
        if _KEYS.search(plain) and literal and not names_token(value):
            raise ValueError(
                f"the query holds the value of `{name}`, which would be written wherever settings are; write "
                f"{name}={{token}} and name the environment variable that holds it as `token_env`"
            )


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
        By the names of ``FIELDS`` that the template has; dates are naive.

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
