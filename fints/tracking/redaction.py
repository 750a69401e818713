"""Passwords in addresses, taken out of what is logged."""

from __future__ import annotations

import re

_USER_AND_PASSWORD = re.compile(r"(?<=://)([^\s/@:\"']*):[^\s/@\"']+@")


def without_passwords(text: str) -> str:
    """Return a text in which no address has a password.

    Examples
    --------
    >>> without_passwords("postgresql://me:secret@db/mlflow and https://host:5000/x")
    'postgresql://me:…@db/mlflow and https://host:5000/x'
    """
    return _USER_AND_PASSWORD.sub(r"\1:…@", text)
