"""Passwords in addresses, taken out of what is logged, shown or stored.

What can be read in two ways is taken out whole: a password may hold an ``@``, a ``/`` or a ``?`` that nobody spelled as
an address wants it, and what is told too little is better than what is told too much.
"""

from __future__ import annotations

import re
import traceback

_ADDRESS = re.compile(r"""://((?:\\.|[^\s"<>`\\])+)""")
"""What follows a scheme. A backslash escapes, as in JSON; a quote that is not escaped ends it."""

_WORDS = "password|passwd|pwd|secret|token|api_?key"
_SECRET = re.compile(_WORDS, re.IGNORECASE)
_VALUE = re.compile(
    rf"""((?:(?<=[?&;])[\w.%\[\]-]+|\b\w*(?:{_WORDS}))\s?=\s?)"""
    r"""(?:'[^']*'|"[^"]*"|[^\s&;"'<>]+)""",
    re.IGNORECASE,
)
"""Of a query whose address is not beside it, or of a connection string."""

_HIDDEN = "…"


def without_passwords(text: str) -> str:
    """Return a text in which no address names a user or a password, and no query has a value.

    Examples
    --------
    >>> without_passwords("postgresql://me:secret@db/mlflow and https://host:5000/x?token=abc")
    'postgresql://…@db/mlflow and https://host:5000/x?token=…'
    """
    return _VALUE.sub(rf"\1{_HIDDEN}", _ADDRESS.sub(_told, text))


def redacted(error: BaseException) -> str:
    """Say what an error says, without passwords: libraries put the addresses that they use into it.

    Examples
    --------
    >>> redacted(OSError("http://me:secret@127.0.0.1:9/api does not answer"))
    'http://…@127.0.0.1:9/api does not answer'
    """
    return without_passwords(str(error))


def public(address: str) -> str:
    """Return an address that can still be opened, without its user, password and tokens.

    Examples
    --------
    >>> public("https://me:secret@host:5000/x?sslmode=require&password=secret")
    'https://host:5000/x?sslmode=require'
    """
    scheme, marks, place = address.partition("://")
    if not marks or place.startswith("/"):
        return address
    before, _, place = place.rpartition("@")
    if _reads_in_two_ways(before):
        return f"{scheme}{marks}{_HIDDEN}"
    place, mark, query = place.partition("?")
    kept = "&".join(part for part in query.split("&") if not _SECRET.search(part.partition("=")[0]))
    return f"{scheme}{marks}{place}{mark if kept else ''}{kept}"


def traced(error: BaseException) -> str:
    """Return the traceback of an error for the log, without passwords."""
    return without_passwords("".join(traceback.format_exception(error)))


def _told(match: re.Match[str]) -> str:
    place = match[1]
    before, at, after = place.rpartition("@")
    if not at or (place.startswith("/") and ":" not in before):  # as in file:///home/a@b, where nobody is named
        return f"://{_without_values(place)}"
    if _reads_in_two_ways(before):
        return f"://{_HIDDEN}"
    return f"://{_HIDDEN}@{_without_values(after)}"


def _reads_in_two_ways(before: str) -> bool:
    """Whether what stands before an @ is a password with a mark, or an address and the begin of its query."""
    return "?" in before or "#" in before


def _without_values(place: str) -> str:
    """Take the values out of a query, and those out of a fragment."""
    found = re.search(r"[?#]", place)
    if found is None or found.end() == len(place):
        return place
    head, tail = place[: found.end()], place[found.end() :]
    if found[0] == "?" and "=" not in tail:
        return f"{head}{_HIDDEN}"
    return head + re.sub(r"=[^&;]*", f"={_HIDDEN}", tail)
