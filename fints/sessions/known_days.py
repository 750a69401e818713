"""Days that we know for sure. A calendar package older than one of them gets it wrong, and then we stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fints.errors import CalendarError

if TYPE_CHECKING:
    from fints.sessions.calendars import ExchangeCalendar


@dataclass(frozen=True, slots=True)
class KnownDay:
    """One sure fact: the local closing time of a session (``"16:00"``), or no session (None)."""

    mic: str
    date: str
    close: str | None
    why: str


KNOWN_DAYS: tuple[KnownDay, ...] = (
    KnownDay("XNYS", "2001-09-12", None, "attacks of 11 September"),
    KnownDay("XNYS", "2012-10-30", None, "hurricane Sandy"),
    KnownDay("XNYS", "2018-11-23", "13:00", "day after Thanksgiving"),
    KnownDay("XNYS", "2018-12-05", None, "mourning for George H. W. Bush"),
    KnownDay("XNYS", "2021-06-18", "16:00", "Juneteenth was no holiday before 2022"),
    KnownDay("XNYS", "2022-06-20", None, "Juneteenth"),
    KnownDay("XNYS", "2025-01-09", None, "mourning for Jimmy Carter"),
    KnownDay("XLON", "2018-12-24", "12:30", "Christmas Eve"),
    KnownDay("XLON", "2022-09-19", None, "funeral of Elizabeth II"),
    KnownDay("XLON", "2023-05-08", None, "coronation of Charles III"),
    KnownDay("XTKS", "2019-05-01", None, "accession of the Emperor"),
    KnownDay("XTKS", "2020-10-01", None, "trading system failure"),
    KnownDay("XTKS", "2024-11-01", "15:00", "the old closing time"),
    KnownDay("XTKS", "2024-11-05", "15:30", "the later closing time since November 2024"),
    KnownDay("XHKG", "2018-02-15", "12:00", "eve of the lunar new year"),
    KnownDay("XHKG", "2021-10-13", None, "typhoon Kompasu"),
    KnownDay("XHKG", "2023-09-08", None, "rainstorm"),
    KnownDay("XHKG", "2024-09-06", None, "typhoon Yagi"),
    KnownDay("XETR", "2022-12-26", None, "second Christmas day"),
    KnownDay("XETR", "2022-12-30", "14:00", "last session of the year"),
    KnownDay("XTSE", "2021-09-06", None, "Labour Day"),
    KnownDay("XASX", "2022-09-22", None, "mourning for Elizabeth II"),
    KnownDay("24/7", "2018-12-25", "00:00", "never closed"),
    KnownDay("FX", "2018-12-21", "17:00", "New York roll"),
    KnownDay("FX", "2018-12-23", None, "no Sunday session"),
)


def check_exchange(calendar: ExchangeCalendar) -> None:
    """Check the known days of one exchange.

    Raises
    ------
    CalendarError
        If the installed packages have one of them wrong.
    """
    for known in KNOWN_DAYS:
        if known.mic != calendar.mic:
            continue
        hours = calendar.schedule(known.date, known.date)
        closes = hours["close"].dt.tz_convert(calendar.timezone).dt.strftime("%H:%M").tolist()
        found = closes[0] if closes else None
        if found != known.close:
            raise CalendarError(
                f"the installed calendars have {known.mic} {known.date} ({known.why}) wrong: "
                f"{_said(found)}, but it was {_said(known.close)}; upgrade them: "
                "pip install -U pandas-market-calendars exchange-calendars"
            )


def _said(close: str | None) -> str:
    return "no session" if close is None else f"a session that closes at {close}"
