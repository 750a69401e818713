"""Texts of others on a terminal: names and messages that came from files and servers give it no orders."""

from __future__ import annotations

import logging
import re
from typing import Final

_ORDERS: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # escape sequences begin with one: they move the cursor, set titles, fake links
    r"\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # turn the direction of what follows, or break its line
    r"\ud800-\udfff]"  # halves of characters, which no output can carry
)
_SHOWN: Final = "\ufffd"


def harmless(text: str, mark: str = _SHOWN) -> str:
    """Return a text with a mark in the place of every character that a terminal takes for an order.

    Parameters
    ----------
    text : str
    mark : str
        Empty where room was set aside for the text as it was: such characters take none.
    """
    return _ORDERS.sub(mark, text)


class HarmlessFormatter(logging.Formatter):
    """Writes records of a log so."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, or lines, of a record."""
        return harmless(super().format(record))


def harmless_log() -> None:
    """Let warnings that nobody set up a log for, which go to standard error, be so."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(HarmlessFormatter())
