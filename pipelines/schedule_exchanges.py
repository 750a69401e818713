"""On which exchanges the symbols of some settings trade, as far as that is known without asking anybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.bars.store import BarStore
from fints.errors import ConfigError, FintsError
from fints.sessions import get_calendar

if TYPE_CHECKING:
    from fints.settings import NightlySettings
    from pipelines.home import Home

SUPPOSED = "XNYS"


@dataclass(frozen=True, slots=True)
class Exchanges:
    """Exchanges, and how they are known.

    Parameters
    ----------
    names : tuple of str
        Canonical names, at least one.
    origin : str
        In words.
    """

    names: tuple[str, ...]
    origin: str


def exchanges_of(settings: NightlySettings, home: Home) -> Exchanges:
    """Find the exchanges of the settings' symbols: as stored, as set, or New York where nothing is known.

    Raises
    ------
    UnknownNameError
        If an exchange that is set does not exist.
    ConfigError
        If the store cannot be read.
    """
    stored = _stored(settings, home)
    if stored:
        return Exchanges(stored, "of the bars that are stored")
    return exchanges_named(settings)


def exchanges_named(settings: NightlySettings) -> Exchanges:
    """Return the exchange that is set, or New York where none is: what is known without the store."""
    named = settings.exchange or getattr(settings.source, "exchange", None)
    if isinstance(named, str):
        return Exchanges((get_calendar(named).mic,), "as the settings name it")
    return Exchanges((SUPPOSED,), "supposed, for no bars are stored yet; run `fints ingest` first, or set `exchange`")


def _stored(settings: NightlySettings, home: Home) -> tuple[str, ...]:
    if not home.store.exists():
        return ()
    try:
        status = BarStore(home.store).status()
    except FintsError as error:
        raise ConfigError(f"the store cannot be read, so that exchanges are not known: {error}") from error
    rows = status[(status["interval"] == settings.interval) & (status["rows"] > 0)]
    if settings.symbols is not None:
        rows = rows[rows["symbol"].isin([*settings.symbols, *settings.aliases])]
    return tuple(sorted({get_calendar(str(name)).mic for name in rows["exchange"].dropna()}))
