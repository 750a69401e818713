"""Every error that fints raises on purpose.

The tree::

    FintsError
    ├── UsageError               the request cannot be met as written (exit code 2)
    │   ├── ConfigError          a setting is missing, unknown or out of range
    │   ├── UnknownNameError     a symbol, target, exchange, encoding … that does not exist
    │   ├── DateError            a date outside the data or outside a calendar
    │   ├── PlanError            a cycle or a frequency plan that cannot be
    │   └── EncodingError        an encoding that cannot be built or applied
    ├── CalendarError            the installed calendars are wrong or too old
    ├── DataError                bars or series that cannot be used (exit code 1)
    │   ├── SchemaError          a frame does not follow its schema
    │   ├── SeriesError          one series is too short, constant, empty …
    │   ├── StoreError           the store is foreign, read-only or damaged
    │   │   └── DamagedBookError     decisions about the model in use cannot be read
    │   ├── NoNewBarsError       nothing has come since the last night
    │   └── SourceError          a source did not deliver
    │       ├── RateLimitedError     it asked us to slow down
    │       ├── TransientError       it may work when tried again
    │       ├── UnknownSymbolError   it says the symbol does not exist
    │       └── NoSuchRangeError     it does not hold the dates asked for
    ├── ModelError               a model cannot do what was asked (exit code 1)
    │   ├── NotFittedError       predict or save before fit
    │   ├── TrainingError        the loss or a gradient is not a number
    │   ├── TuningError          a search came to no result
    │   └── BundleError          a saved model is damaged or of another version
    └── LockHeldError            another run holds the lock (exit code 75)

A message says what happened, where, and what to do about it.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_LISTED = 30
BOOK_CURE = (
    "Restore the file from a backup, or mend or delete that line; or move the file away, and the next night begins "
    "with a provisional model"
)
"""What to do about a book of decisions that cannot be read."""


class FintsError(Exception):
    """Base of every error that fints raises on purpose."""


class UsageError(FintsError):
    """The request cannot be met as it is written; the caller has to change it."""


class ConfigError(UsageError):
    """A setting is missing, unknown or out of range."""


class UnknownNameError(UsageError):
    """A name that does not exist, with the names that do.

    Parameters
    ----------
    kind : str
        What the name should be, in the singular: ``"exchange"``, ``"target"`` …
    name : str
        The offender.
    choices : iterable of str
        The names that exist; the closest one is suggested first.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        known = sorted(set(choices))
        close = get_close_matches(str(name), known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        listed = ", ".join(known[:_LISTED]) + (" …" if len(known) > _LISTED else "")
        super().__init__(f"unknown {kind} {name!r}.{hint} Choose from: {listed or '(none)'}")
        self.kind = kind
        self.name = name
        self.choices = tuple(known)

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, tuple[str, ...]]]:
        return type(self), (self.kind, self.name, self.choices)


class DateError(UsageError):
    """A date outside the data or outside a calendar."""


class PlanError(UsageError):
    """A cycle or a frequency plan that cannot be."""


class EncodingError(UsageError):
    """An encoding that cannot be built or applied as asked."""


class CalendarError(FintsError):
    """The installed calendars are wrong, too old or asked beyond their range."""


class DataError(FintsError):
    """Bars or series that cannot be used."""


class SchemaError(DataError):
    """A frame does not follow its schema."""


class SeriesError(DataError):
    """One series is too short, constant, empty or otherwise unusable."""


class StoreError(DataError):
    """The store is foreign, read-only or damaged."""


class DamagedBookError(StoreError):
    """Decisions about the model in use cannot be read.

    Parameters
    ----------
    file : Path
    line : int
        Counted from 1; 0 where the file as a whole cannot be read.
    cause : str
    """

    def __init__(self, file: Path, line: int, cause: str) -> None:
        where = f"line {line} of the book of decisions {file}" if line else f"the book of decisions {file}"
        super().__init__(f"{where} cannot be read ({cause}). {BOOK_CURE}")
        self.file = file
        self.line = line
        self.cause = cause

    def __reduce__(self) -> tuple[type[DamagedBookError], tuple[Path, int, str]]:
        return type(self), (self.file, self.line, self.cause)


class NoNewBarsError(DataError):
    """No bar has come since the last night."""


class SourceError(DataError):
    """A source of bars did not deliver what was asked."""


class RateLimitedError(SourceError):
    """The source asked for fewer requests; try again later."""


class TransientError(SourceError):
    """The source failed in a way that may pass; try again."""


class UnknownSymbolError(SourceError):
    """The source says that the symbol does not exist."""


class NoSuchRangeError(SourceError):
    """The source does not hold bars for the dates asked for."""


class ModelError(FintsError):
    """A model cannot do what it was asked to do."""


class NotFittedError(ModelError):
    """A model was asked to forecast, explain or save before it was fitted."""


class TrainingError(ModelError):
    """Training met a loss or a gradient that is not a number."""


class TuningError(ModelError):
    """A search came to no result, or one of its trials did not finish."""


class BundleError(ModelError):
    """A saved model is damaged, incomplete or of another version."""


class LockHeldError(FintsError):
    """Another run holds the lock on the same home."""
