"""The structure of a chart answer, looked at before yfinance makes a frame of it.

pandas is generous: a single number in the place of a column is repeated in every row, text that looks like a date
becomes one, and true becomes 1. None of that is a bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curl_cffi.requests import Response
    from yfinance.data import YfData

_NUMBERS: Final = frozenset({int, float})
_VALUES: Final = frozenset({int, float, type(None)})
_COLUMNS: Final = ("open", "high", "low", "close", "volume")


class Watched:
    """yfinance's access to data, with every chart looked at; everything else is handed on.

    Parameters
    ----------
    data : yfinance.data.YfData
        What a ticker asks.
    """

    def __init__(self, data: YfData) -> None:
        self._data = data

    def __getattr__(self, name: str) -> object:
        return getattr(self._data, name)

    def get(self, url: str, params: Mapping[str, object] | None = None, timeout: float = 30) -> _Answer:
        """Ask, and return the answer."""
        return _Answer(self._data.get(url=url, params=params, timeout=timeout))

    def cache_get(self, url: str, params: Mapping[str, object] | None = None, timeout: float = 30) -> _Answer:
        """Ask as well: yfinance would keep the answers of failed requests too, and repeat them without asking."""
        return self.get(url, params, timeout)


class _Answer:
    """A response whose JSON is looked at when it is read."""

    def __init__(self, response: Response) -> None:
        self._response = response

    def __getattr__(self, name: str) -> object:
        return getattr(self._response, name)

    def json(self) -> object:
        answer: object = self._response.json()
        wrong = next(_problems(answer), None)
        if wrong is not None:
            raise ValueError(wrong)
        return answer


def _problems(answer: object) -> Iterator[str]:
    """Yield what is wrong with the columns of a chart; an answer that holds none is left to yfinance to judge."""
    chart = answer.get("chart") if isinstance(answer, dict) else None
    results = chart.get("result") if isinstance(chart, dict) else None
    if not isinstance(results, list) or not results:
        return
    if len(results) > 1 or not isinstance(results[0], dict):
        yield f"{len(results)} results, the first a {type(results[0]).__name__}; one chart was asked for"
        return
    stamps, indicators = results[0].get("timestamp"), results[0].get("indicators")
    if stamps is None:
        return
    if not isinstance(stamps, list) or not set(map(type, stamps)) <= _NUMBERS:
        yield "the stamps are no list of numbers"
        return
    if not isinstance(indicators, dict):
        yield "there are no indicators"
        return
    for kind, names in (("quote", _COLUMNS), ("adjclose", ("adjclose",))):
        for table in indicators.get(kind, ())[:1]:
            yield from _wrong_columns({name: table[name] for name in names if name in table}, len(stamps))


def _wrong_columns(columns: dict[str, object], rows: int) -> Iterator[str]:
    for name, column in columns.items():
        if not isinstance(column, list) or len(column) != rows:
            length = f"of {len(column)}" if isinstance(column, list) else f"but {type(column).__name__}"
            yield f"the column {name!r} is no list of {rows} values {length}"
        elif not set(map(type, column)) <= _VALUES:
            yield f"the column {name!r} holds something that is no number"
