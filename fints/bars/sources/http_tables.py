"""From the body of an answer to a table: CSV, or JSON as rows of objects, rows of values, or columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pandas as pd

from fints.bars.sources.documents import read_csv
from fints.errors import SourceError, TransientError

if TYPE_CHECKING:
    from fints.bars.sources.config import HttpConfig
    from fints.bars.sources.http_transport import Answer

_LISTED: Final = 10


def parse_table(answer: Answer, config: HttpConfig, asked: str) -> pd.DataFrame:
    """Read the rows of an answer.

    Parameters
    ----------
    answer : Answer
        What came.
    config : HttpConfig
        Format, and where in JSON the rows are.
    asked : str
        What was asked for, for messages.

    Returns
    -------
    pandas.DataFrame
        With the provider's column names; texts stay texts and numbers keep every digit. Empty where it has no bars.

    Raises
    ------
    TransientError
        The answer is cut short, or a page for people: another try may help.
    SourceError
        It has no rows where ``config.rows`` says.
    """
    body = answer.body.strip()
    if not body:
        return pd.DataFrame()
    if body.startswith(b"<"):
        raise TransientError(f"{asked}: a web page came in place of data")
    kind = config.format or ("json" if body.startswith((b"{", b"[")) else "csv")
    if kind == "json":
        return _from_json(answer.body, config, asked)
    if not answer.measured and not answer.body.endswith((b"\n", b"\r")):
        raise TransientError(f"{asked}: the answer was cut short: its last line has no end")
    try:
        return read_csv(answer.body, config.separator)
    except ValueError as error:
        raise SourceError(f"{asked}: the answer is no CSV: {error}") from error


def _from_json(body: bytes, config: HttpConfig, asked: str) -> pd.DataFrame:
    try:
        # NaN and Infinity are no JSON, but some write them for a missing number
        parsed = json.loads(body, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise TransientError(f"{asked}: the answer is no JSON ({type(error).__name__})") from error
    return _table(_follow(parsed, config.rows, asked), config.rows, asked)


def _follow(value: object, path: str, asked: str) -> object:
    """Go down a path of keys and positions, as in ``chart.result.0``."""
    for step in path.split(".") if path else ():
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            raise SourceError(f"{asked}: the answer has no {path!r} (option `rows`); {_described(value)}")
    return value


def _table(rows: object, path: str, asked: str) -> pd.DataFrame:
    if rows is None or (isinstance(rows, list | dict) and not rows):
        return pd.DataFrame()
    if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        return pd.DataFrame(rows, dtype=object)
    if isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        return pd.DataFrame(rows, dtype=object).rename(columns=str)
    if isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values()):
        return pd.DataFrame([{"date": date, **row} for date, row in rows.items()], dtype=object)
    columns = {name: v for name, v in rows.items() if isinstance(v, list)} if isinstance(rows, dict) else {}
    lengths = {name: len(column) for name, column in columns.items()}
    if not columns:
        raise SourceError(f"{asked}: there are no rows at {path or 'the top'!r} (option `rows`); {_described(rows)}")
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise SourceError(f"{asked}: the columns of the answer differ in length ({told})")
    return pd.DataFrame(columns, dtype=object)


def _described(value: object) -> str:
    if isinstance(value, dict):
        names = list(map(str, value))
        return f"there is an object with {', '.join(names[:_LISTED])}{' …' if len(names) > _LISTED else ''}"
    return f"there is {'a list' if isinstance(value, list) else f'a {type(value).__name__}'}"
