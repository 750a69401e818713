"""What can go wrong when Yahoo is asked, told apart by its cause.

yfinance reports most faults as an empty frame that is logged as "possibly delisted". Its exceptions are switched on
here instead. Only an explicit answer of Yahoo says that a symbol or a range does not exist; whatever is not understood
is transient.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final

from fints.errors import (
    CalendarError,
    ConfigError,
    FintsError,
    NoSuchRangeError,
    RateLimitedError,
    SourceError,
    TransientError,
    UnknownSymbolError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_FOUND: Final = ("no data found", "not found", "delisted")
_OUT_OF_RANGE: Final = ("not available", "must be within", "doesn't exist for", "no data exists", "requested range")
_DATABASES: Final = frozenset({"peewee", "sqlite3", "playhouse"})
_LONGEST: Final = 300  # characters of a foreign message; an answer may echo itself


class CacheUnusableError(TransientError):
    """The folder in which yfinance keeps its cookies cannot be read or written."""


class _Switch:
    """yfinance's switch for exceptions, which the whole process shares: on while anybody asks, then as it was."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._before = True

    @contextmanager
    def on(self) -> Iterator[None]:
        import yfinance

        debug = yfinance.config.debug
        with self._lock:
            if self._users == 0:
                self._before, debug.hide_exceptions = debug.hide_exceptions, False
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    debug.hide_exceptions = self._before


_EXCEPTIONS: Final = _Switch()


@contextmanager
def classified(asked: str) -> Iterator[None]:
    """Turn whatever is raised within into one of our errors; several threads may be within at once.

    Parameters
    ----------
    asked : str
        What was asked of whom, for the message.

    Raises
    ------
    RateLimitedError, UnknownSymbolError, NoSuchRangeError
        As Yahoo said.
    CacheUnusableError
        The cache of yfinance is at fault.
    ConfigError
        The session of yfinance is.
    TransientError
        Everything else.
    """
    with _EXCEPTIONS.on():
        try:
            yield
        except (SourceError, UsageError, CalendarError):
            raise
        except Exception as error:
            raise _classify(asked, error) from error


def _classify(asked: str, error: Exception) -> FintsError:
    from yfinance.exceptions import YFDataException, YFInvalidPeriodError, YFPricesMissingError, YFRateLimitError

    text = f"{error}"[:_LONGEST]
    if isinstance(error, YFRateLimitError):
        return RateLimitedError(f"{asked}: too many requests; try again later")
    if isinstance(error, YFInvalidPeriodError):
        return NoSuchRangeError(f"{asked}: {text}")
    if isinstance(error, YFPricesMissingError):
        return _missing(asked, error.yahoo_reason)
    if isinstance(error, YFDataException) and "session" in text.casefold():
        return ConfigError(f"{asked}: yfinance cannot use the session it was given ({text}); take the setting back")
    if type(error).__module__.partition(".")[0] in _DATABASES:
        return CacheUnusableError(f"{asked}: the cache of yfinance cannot be used ({text})")
    return TransientError(f"{asked}: the request failed, or its answer cannot be read ({type(error).__name__}: {text})")


def _missing(asked: str, reason: object) -> SourceError:
    """Return the error for an answer without prices, by the reason that Yahoo gave."""
    text = str(reason or "")[:_LONGEST]
    plain = text.casefold()
    if any(part in plain for part in _OUT_OF_RANGE):
        return NoSuchRangeError(f"{asked}: {text}")
    if any(part in plain for part in _NOT_FOUND):
        return UnknownSymbolError(f"{asked}: {text}")
    return TransientError(f"{asked}: an answer without prices ({text or 'no reason given'})")
